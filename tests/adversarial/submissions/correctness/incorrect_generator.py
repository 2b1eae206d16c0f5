"""An object that makes tensors when it is iterated.

How: work after the clock has stopped. Seen: as lazy outputs. Defence: outputs are tensors, in a tuple or a list.
"""
# expected: INCORRECT wrong_output

from forging import scale


def custom_kernel(data):
    return (scale(*data) for _ in range(1))
