"""The kernel's text makes a string of a hundred gigabytes.

How: formatting with a width, which is an operator on a constant. Seen: as attribute chases. Defence: the sandbox's
memory limit makes it a MemoryError at once.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(lambda text: text.replace("    pid_0 = ", "    big = '%99999999999d' % 1\n    pid_0 = ", 1))
