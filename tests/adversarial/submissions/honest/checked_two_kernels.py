"""Two Helion kernels in one call, with a buffer between them."""
# expected: CHECKED checked

from forging import decoy, scale


def custom_kernel(data):
    return decoy(scale(*data))
