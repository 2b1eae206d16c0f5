"""The kernel's text computes a number that fills the memory.

How: powers of powers, in Python's integers. Seen: as attribute chases. Defence: powers and shifts are small, and the
sandbox has limits.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(lambda text: text.replace("    pid_0 = ", "    evil = 9 ** 9 ** 9 ** 9\n    pid_0 = ", 1))
