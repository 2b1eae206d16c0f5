"""Half the bytes to write.

How: the output is float16; a comparison that casts does not mind. Seen: field guides (2026-03). Defence: dtype and
shape must be the declared ones.
"""
# expected: INCORRECT wrong_dtype

from forging import scale


def custom_kernel(data):
    return scale(*data).half()
