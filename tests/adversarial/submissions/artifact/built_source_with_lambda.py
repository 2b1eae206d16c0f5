"""The kernel's text brings functions of its own kinds.

How: lambdas, comprehensions, classes, walrus, star arguments: whatever a list may have forgotten. Seen: as attribute
chases. Defence: node types are an allow-list.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(lambda text: text.replace("    pid_0 = ", "    evil = (lambda: [c for c in ()])()\n    pid_0 = ", 1))
