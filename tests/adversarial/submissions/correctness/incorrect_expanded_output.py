"""One row, shown as many.

How: a stride of zero makes a small result large. Seen: field guides (2026-03), as aliased outputs. Defence: outputs are
contiguous.
"""
# expected: INCORRECT wrong_strides

from forging import scale


def custom_kernel(data):
    x, s = data
    return scale(x[:1], s[:1]).expand(x.shape)
