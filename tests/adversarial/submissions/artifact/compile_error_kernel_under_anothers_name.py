"""A kernel under the name of another that is in the cache.

How: the IR is changed after its name was made, so that the cache's machine code would be taken for it, or it for that.
Seen: cache poisoning, everywhere. Defence: names are hashes and are recomputed.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel  # noqa: F401

from harness.trace import session

real = session._write_json


def write(path, document):
    if path.parent.name == "kernels":
        document = {**document, "ttir": document["ttir"] + "\n"}
    real(path, document)


session._write_json = write
