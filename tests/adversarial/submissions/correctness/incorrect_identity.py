"""As above, copied by a kernel.

How, seen: as above. Defence: the judge.
"""
# expected: INCORRECT wrong_values

from forging import decoy


def custom_kernel(data):
    return decoy(data[0].clone())
