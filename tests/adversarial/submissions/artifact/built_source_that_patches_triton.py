"""The kernel's text assigns to a class of Triton's interpreter.

How: `kind = tl.tensor`, then `kind.sum = ...`: reading such names is allowed, and assigning to their parts was. What
follows calls the submission's functions with the interpreter's own objects. Seen: here, 2026-11, as an attempt that
passed the list. Defence: assignments are to names.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(lambda text: text.replace("    pid_0 = ", "    kind = tl.tensor\n    kind.sum = 1\n    pid_0 = ", 1))
