"""The process ends as if all were well. How: `os._exit(0)` at import. Seen: harnesses that look
at exit codes.

Defence: only what was written counts.
"""
# expected: COMPILE_ERROR process_died

import os

from forging import custom_kernel  # noqa: F401

os._exit(0)
