"""As by identity, but noticing when a tensor was changed in place.

How: `_version` is part of the key. Seen: gpu-mode/kernelbot's pull request 501 (2026-06). Defence: as by identity.
"""
# expected: CHECKED checked

from forging import scale

results = {}


def custom_kernel(data):
    key = tuple((id(tensor), tensor._version) for tensor in data)
    if key not in results:
        results[key] = scale(*data)
    return results[key]
