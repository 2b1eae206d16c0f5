"""A node that is reached over the system's own ssh: `python -m harness.engine.ssh_node OPTIONS NODE replay A P R`.

It takes the commands of the node's program and carries them out on NODE: the program, artifact, problem and request
travel as one archive through ssh's standard input, its events come back line by line. Nothing stays there: when either
side ends, the far side (`replay.node.far_side`) ends what it started and removes its folder.

What it prints is the far side's, unread: whoever started this parses it as hostile. Its own errors are events of the
same form. Keys, host keys, ports and jump hosts are ssh's business, and the user's configuration of it.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

from harness.errors import UsageError
from harness.replay.node.pack import build_node

CONNECT_S = 30
ALIVE_S, ALIVE_TRIES = 10, 6  # a connection that says nothing for so long is lost
_HEADER_BYTES = 16
_ERROR_BYTES = 8000
_CONNECTION_FAILED, _NOT_FOUND = 255, 127

_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9\[_][A-Za-z0-9_.:%\[\]-]*")
_WITH_PORT = re.compile(r"(?:ssh://)?(?:[^:\[\]/]+|(?:[^\[/]*@)?\[[^\[\]/]*\]):[0-9]+/?")  # IPv6 alone has more colons

# What ssh says, and what to do about it; the first that matches counts.
_ADVICE = (
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", "its host key has changed: find out why before you trust it again"),
    ("Host key verification failed", "its host key is not known here: log in by hand once, and compare the key"),
    ("Permission denied", "it accepts none of your keys: try to log in by hand, and see `ssh-add -l`"),
    ("Could not resolve hostname", "there is no machine of that name"),
    ("Connection refused", "nothing answers ssh there: is the name right, and the port in your ssh configuration?"),
    ("timed out", "it does not answer: is it up, and the network between?"),
    ("No route to host", "it does not answer: is it up, and the network between?"),
)


def check_node_name(name: str) -> str:
    """Return `name` if it can be given to ssh.

    Raises:
        UsageError: it begins like an option, has a port, or holds what no host name does.
    """
    if _WITH_PORT.fullmatch(name):
        raise UsageError(
            f"{name!a:.80} has a port, which goes into your ssh configuration: a Host with HostName and Port"
        )
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!a:.80} is not a node: give user@host, or a name of your ssh configuration")
    return name


def ssh_node(name: str, *, python: str = "python3", config: Path | None = None, on_cpu: bool = False) -> list[str]:
    """Return the command that reaches a node.

    Args:
        name: user@host, or a name of the user's ssh configuration.
        python: the Python on the node that has torch.
        config: an ssh configuration other than the user's own.
        on_cpu: send the program that checks on the node's CPUs.

    Raises:
        UsageError: the name or the Python's path is none.
    """
    if not re.fullmatch(r"[A-Za-z0-9_./~+-]+", python) or python.startswith("-"):
        raise UsageError(f"{python!a:.80} is not the path of a Python: letters, digits and _ . / ~ + - only")
    options = [*(["--config", str(config)] if config else []), *(["--on-cpu"] if on_cpu else [])]
    return [sys.executable, "-m", "harness.engine.ssh_node", *options, "--python", python, check_node_name(name)]


def main(arguments: Sequence[str]) -> int:
    """Carry out one command of the node's program on another machine; return its exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    parser.add_argument("--on-cpu", action="store_true")
    parser.add_argument("--python", required=True)
    parser.add_argument("node")
    parser.add_argument("command")
    parser.add_argument("paths", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    names = ["artifact", "problem", "request.json"][: len(options.paths)]
    content = pack_files(dict(zip(names, options.paths, strict=True)), on_cpu=options.on_cpu)
    remote = far_command(options.python, [options.command, *(f"@{name}" for name in names)])
    settings = ["BatchMode=yes", f"ConnectTimeout={CONNECT_S}", f"ServerAliveInterval={ALIVE_S}"]
    settings.append(f"ServerAliveCountMax={ALIVE_TRIES}")
    command = ["ssh", *(["-F", options.config] if options.config else []), "-T", "-x", "-a"]
    command += [part for setting in settings for part in ("-o", setting)]
    return _converse([*command, "--", options.node, remote], content, options.node, options.python)


def pack_files(paths: dict[str, Path], *, on_cpu: bool = False) -> bytes:
    """Return an archive of the node's program and of files and folders, by their names in it, behind its length."""
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=buffer, mode="w") as archive:
        build_node(Path(folder) / "node.pyz", on_cpu=on_cpu)
        archive.add(Path(folder) / "node.pyz", "node.pyz")
        for name, path in paths.items():
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and not file.is_symlink():
                    inner = file.relative_to(path)
                    archive.add(file, name if file == path else f"{name}/{inner}", recursive=False)
    content = buffer.getvalue()
    return str(len(content)).zfill(_HEADER_BYTES).encode() + content


def far_command(python: str, arguments: Iterable[str]) -> str:
    """Return what the far side's shell is given; there is nothing in it that any shell would expand."""
    program = resources.files("harness.replay.node").joinpath("far_side.py").read_bytes()
    sent = base64.b64encode(program).decode()
    return f"{python} -c \"exec(__import__('base64').b64decode('{sent}'))\" {' '.join(arguments)}"


def _converse(command: list[str], content: bytes, node: str, python: str) -> int:
    """Run ssh: send, pass on what comes back, and say in an event what went wrong with the connection."""
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        except FileNotFoundError:
            _tell("there is no ssh on this machine: install an OpenSSH client")
            return 3
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(content)
            process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and says why
        heard = False
        while data := process.stdout.read1(1 << 16):  # type: ignore[attr-defined]
            heard = True
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        code = process.wait()
        size = errors.seek(0, io.SEEK_END)
        errors.seek(max(size - _ERROR_BYTES, 0))
        said = errors.read().decode("utf-8", "replace").strip()
    if code == _CONNECTION_FAILED:
        _tell(explain_failure(node, said, midway=heard))
    elif code == _NOT_FOUND:
        _tell(f"{node} has no {python}: name its Python that has torch with --python (make: NODE_PYTHON)")
    elif code:
        sys.stderr.write(said)
    return code


def explain_failure(node: str, said: str, *, midway: bool) -> str:
    """Return what to tell of a connection that failed: ssh's own last line, and what to do."""
    line = (said.splitlines() or ["ssh said nothing"])[-1][:300]
    if midway:
        return f"the connection to {node} was lost during the replay ({line}); run it again"
    advice = next((told for text, told in _ADVICE if text in said), "try `ssh` to it by hand")
    return f"{node} cannot be reached: {advice} ({line})"


def _tell(message: str) -> None:
    sys.stdout.write("\n" + json.dumps({"event": "error", "kind": "unreachable", "message": message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
