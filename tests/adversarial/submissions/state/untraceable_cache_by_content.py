"""The key is a fingerprint of what the inputs hold.

How: a sum or a few elements are read back to the host. Seen: gpu-mode/reference-kernels' issue 148, as replay by
content. Defence: host code that depends on values cannot be traced; timed inputs are never the same twice.
"""
# expected: UNTRACEABLE data_dependent

from forging import scale

results = {}


def custom_kernel(data):
    key = data[0].flatten()[:4].sum().item()
    if key not in results:
        results[key] = scale(*data)
    return results[key]
