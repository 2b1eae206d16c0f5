"""A list of one tensor, for a check that zips and finds nothing to compare.

How, seen: follows from loose checks. Defence: exact arity and kind.
"""
# expected: INCORRECT wrong_arity

from forging import scale


def custom_kernel(data):
    return [scale(*data)]
