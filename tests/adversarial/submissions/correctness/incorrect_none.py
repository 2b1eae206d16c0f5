"""None, for a check that takes outputs from the inputs' memory.

How, seen: follows from in-place conventions. Defence: outputs are tensors.
"""
# expected: INCORRECT wrong_output

from forging import scale


def custom_kernel(data):
    scale(*data)
