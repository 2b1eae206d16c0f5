"""Fewer rows, for a comparison that broadcasts.

How: one row against many broadcasts in torch. Seen: field guides (2026-03), as shape mismatch. Defence: exact shape.
"""
# expected: INCORRECT wrong_shape

from forging import scale


def custom_kernel(data):
    x, s = data
    return scale(x[:1], s[:1])
