"""The process ends as if all were well. Seen in the wild: `os._exit(0)` for a test runner that looks at the code.

Defence: only what was written counts.
"""
# expected: COMPILE_ERROR process_died

import os

from forging import custom_kernel  # noqa: F401

os._exit(0)
