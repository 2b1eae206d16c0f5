"""The results change while they are read.

How: a process that outlives the tracer rewrites plans under the parent's hands. Seen: follows from shared folders.
Defence: the parent reads when every process of the sandbox is gone; here they are swapped before that, and hash to
nothing.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel  # noqa: F401

from harness.trace import session

real = session._write


def write(path, text):
    real(path, text)
    if path.parent.name == "sources":
        path.write_text(text + "\n# changed\n")


session._write = write
