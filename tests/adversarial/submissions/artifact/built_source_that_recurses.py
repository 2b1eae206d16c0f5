"""The kernel's text calls itself for ever.

How: a function of the module is a name that may be called. Seen: follows from this design. Defence: Python's limit ends
it, and the worker goes on.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(lambda text: text.replace("    pid_0 = ", "    _helion_scale(x, s, y)\n    pid_0 = ", 1))
