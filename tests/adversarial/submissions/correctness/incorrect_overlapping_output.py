"""Rows that share memory.

How: `as_strided` with a row stride of one. Seen, defence: as expanded outputs.
"""
# expected: INCORRECT wrong_strides

from forging import scale


def custom_kernel(data):
    x, s = data
    return scale(x, s).as_strided(x.shape, (1, 1))
