"""Torch computes, and a Helion kernel touches the result last.

How: for rules that ask who wrote the output. Seen: as decoys beside. Defence: in the closed division the host computes
on nothing that depends on an input.
"""
# expected: POLICY_VIOLATION host_operation

from forging import decoy


def custom_kernel(data):
    x, s = data
    return decoy(x * s[:, None])
