"""The input is the output.

How: for formulas that are near the identity. Seen: field guides (2026-03), as identity kernels. Defence: an input is
nobody's work.
"""
# expected: POLICY_VIOLATION no_helion_launch

from forging import scale


def custom_kernel(data):
    scale(*data)
    return data[0]
