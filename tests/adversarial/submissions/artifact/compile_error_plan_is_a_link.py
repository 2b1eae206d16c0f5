"""The plan is a link to a file of the parent's, another's pipe, or a second name of a file.

How: the tracer's writing is replaced. Seen: links in shared folders, everywhere.
Defence: results are opened without following links or waiting, and only plain files with one name are read.
"""
# expected: COMPILE_ERROR process_died

import os

from forging import custom_kernel  # noqa: F401

from harness.trace import session

real = session._write_json


def write(path, document):
    real(path, document)
    if path.parent.name == "plans":
        path.unlink()
        os.mkfifo(path) if "M4" in path.name else path.symlink_to("/etc/passwd")


session._write_json = write
