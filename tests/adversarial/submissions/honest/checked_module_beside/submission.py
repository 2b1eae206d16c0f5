"""Two files: kernels in a module of their own, beside the submission."""
# expected: CHECKED checked

from kernels import scale


def custom_kernel(data):
    return scale(*data)
