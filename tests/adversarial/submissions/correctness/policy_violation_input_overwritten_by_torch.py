"""As above, by torch.

How, seen: as above. Defence: a fill of an input makes nobody's work of it.
"""
# expected: POLICY_VIOLATION no_helion_launch

from forging import scale


def custom_kernel(data):
    x, s = data
    scale(x, s)
    x.zero_()
    return x
