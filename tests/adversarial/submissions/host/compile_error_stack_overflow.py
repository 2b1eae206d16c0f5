"""The interpreter's own stack overflows.

How: the recursion limit is raised first, so that the process dies by a signal. Seen: as above. Defence: a process per
shape, whose death is that shape's result.
"""
# expected: COMPILE_ERROR process_died

import sys

sys.setrecursionlimit(1 << 30)


def deeper(n):
    return sorted([n], key=deeper)


def custom_kernel(data):
    return deeper(0)
