"""As by identity, but by address, which survives a new tensor object.

How: `data_ptr()` is the key. Seen: gpu-mode/kernelbot's pull request 501 (2026-06); a field guide (2026-03) has it in
C++. Defence: a fake tensor has no address; the GPU's runner moves them from call to call.
"""
# expected: UNTRACEABLE data_pointer

from forging import scale

results = {}


def custom_kernel(data):
    key = data[0].data_ptr()
    if key not in results:
        results[key] = scale(*data)
    return results[key]
