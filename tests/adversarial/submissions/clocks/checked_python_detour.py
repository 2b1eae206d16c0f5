"""A C function of the interpreter is overwritten in memory.

How: with `ctypes`, the number that Python keeps for 0.001 or such is changed, or a method table; here a float's value.
Seen: follows from running in one process. Defence: the process holds nothing that a score is made of.
"""
# expected: CHECKED checked

import ctypes

from forging import custom_kernel  # noqa: F401

measured = 123.456
ctypes.c_double.from_address(id(measured) + 16).value = 0.0
assert measured == 0.0
