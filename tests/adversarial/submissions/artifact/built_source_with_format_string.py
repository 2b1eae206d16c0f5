"""The kernel's text formats a string, with calls inside.

How: f-strings evaluate. Seen: as attribute chases. Defence: f-strings are on no list.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(lambda text: text.replace("    pid_0 = ", "    evil = f'{tl.load.__globals__}'\n    pid_0 = ", 1))
