"""The results are a folder, a socket and a device.

How: where files should be there is something else, for a reader that waits or follows. Seen: follows from shared
folders. Defence: plain files only, opened without waiting.
"""
# expected: COMPILE_ERROR process_died

import socket

from forging import custom_kernel  # noqa: F401

from harness.trace import session

real = session._write_json


def write(path, document):
    if path.parent.name != "plans":
        real(path, document)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        socket.socket(socket.AF_UNIX).bind(str(path))
    except OSError:
        path.mkdir()


session._write_json = write
