"""The result of an earlier call is returned for the same tensors.

How: a dictionary by `id` of the inputs. Seen: gpu-mode/kernelbot's pull request 501 (2026-06) and
gpu-mode/reference-kernels' 104. Defence: one call per shape is traced, and its plan is what every timed call does.
"""
# expected: CHECKED checked

from forging import scale

results = {}


def custom_kernel(data):
    key = tuple(map(id, data))
    if key not in results:
        results[key] = scale(*data)
    return results[key]
