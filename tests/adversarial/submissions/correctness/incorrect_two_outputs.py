"""More outputs than asked for, one of them right.

How: for a check that looks for a match. Seen: follows from loose checks. Defence: exact arity.
"""
# expected: INCORRECT wrong_arity

from forging import scale


def custom_kernel(data):
    return data[0], scale(*data)
