"""The kernel's text passes an interpreter of its own.

How: Triton's functions take the one that executes them as `_semantic`, a keyword like any other. Seen: here, 2026-11,
as an attempt that passed the list. Defence: keywords that begin with an underscore are refused.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(lambda text: text.replace(", None)", ", None, _semantic=x)", 1))
