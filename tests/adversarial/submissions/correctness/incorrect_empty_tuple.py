"""No output at all, all of which are right.

How: `all()` of nothing is true. Seen: follows from loose checks. Defence: exact arity.
"""
# expected: INCORRECT wrong_arity

from forging import scale


def custom_kernel(data):
    scale(*data)
    return ()
