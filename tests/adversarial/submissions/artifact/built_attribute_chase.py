"""The kernel's text climbs from a number to the interpreter's modules.

How: attributes such as `__class__`, `__globals__`, `builtins` in a Triton source that CPU replay executes. Seen:
escapes from Python sandboxes, everywhere. Defence: an allow-list over the syntax tree; what is not on it is not
executed, and the submission is BUILT, unchecked.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(lambda text: text.replace("    pid_0 = ", "    evil = tl.core.builtins.open\n    pid_0 = ", 1))
