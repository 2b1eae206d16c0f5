"""What runs first on a node that is reached over ssh: takes files from standard input, runs the node's program on them.

It is sent as the text of a command, so it is one file, works on a bare Python 3.7, and imports nothing of ours. On
standard input comes one archive, and then nothing: when it ends, the other side is gone, and everything that was
started here is ended and removed. It believes the archive, which comes from whoever may run commands here anyway.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
from pathlib import Path

PROGRAM = "node.pyz"
HEADER_BYTES = 16
PLACE = "@"  # begins an argument that names a file of the archive


def tell(message: str) -> int:
    """Say why there will be no replay, in the node's own form; return the exit code."""
    sys.stdout.write(json.dumps({"event": "error", "kind": "lacks", "message": message}) + "\n")
    sys.stdout.flush()
    return 3


def unpack(folder: Path) -> None:
    """Write the archive's files to a folder."""
    size = int(sys.stdin.buffer.read(HEADER_BYTES) or b"0")
    content = sys.stdin.buffer.read(size)
    if not size or len(content) < size:
        raise EOFError("the connection ended before all files were here")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            packed = archive.extractfile(member)
            path.write_bytes(packed.read() if packed else b"")


def run(folder: Path, arguments: list[str]) -> int:
    """Run the node's program until it, or the other side, ends; return its exit code."""
    placed = [str(folder / word[1:]) if word.startswith(PLACE) else word for word in arguments]
    command = [sys.executable, str(folder / PROGRAM), *placed]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def watch() -> None:
        while os.read(0, 1 << 16):
            pass
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    return process.wait()


def main(arguments: list[str]) -> int:
    """Serve one request; return the exit code."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="harness-node-"))
    except OSError as error:
        return tell(f"it has no folder for temporary files: {error}")
    try:
        unpack(folder)
        return run(folder, arguments)
    except OSError as error:
        free = shutil.disk_usage(str(folder)).free >> 20
        return tell(f"its disk does not take the artifact: {error.strerror} ({free} MB free at {folder.parent})")
    except EOFError as error:
        return tell(str(error))
    finally:
        shutil.rmtree(str(folder), ignore_errors=True)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # not held up by the thread that watches standard input
