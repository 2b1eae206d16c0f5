"""The process is asked to end, as if all were well.

How: `SystemExit(0)` at import. Seen: harnesses that look at exit codes. Defence: only what was written counts.
"""
# expected: COMPILE_ERROR import_error

from forging import custom_kernel  # noqa: F401

raise SystemExit(0)
