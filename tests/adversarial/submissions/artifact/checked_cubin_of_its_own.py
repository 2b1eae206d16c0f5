"""Prepared machine code is handed over with the plan.

How: files that look like an artifact's lie in the output folder, and the kernel's document names them. Seen: follows
from formats that carry binaries. Defence: nothing but plans, IR, options and sources is read; machine code is the
assembler's.
"""
# expected: CHECKED checked

from forging import custom_kernel  # noqa: F401

from harness.trace import session

real = session._write_json


def write(path, document):
    if path.parent.name == "kernels":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".cubin").write_bytes(b"\x7fELF" + b"mine" * 100)
        document = {**document, "cubin": "7f454c46", "facts": {"registers": 1, "threads": 1}}
    real(path, document)


session._write_json = write
