"""The kernel's text is nested as deep as no parser goes.

How: thousands of brackets, to crash the reader. Seen: as deep documents. Defence: what Python cannot parse is refused.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(lambda text: text.replace("    pid_0 = ", "    evil = " + "(" * 5000 + ")" * 5000 + "\n    pid_0 = ", 1))
