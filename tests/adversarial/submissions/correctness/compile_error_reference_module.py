"""The problem's reference is imported and called.

How: the harness has it somewhere, in `sys.modules` or on the path. Seen: field guides (2026-03): submissions that call
the reference. Defence: the problem's folder is not in the sandbox, and the judge is another process.
"""
# expected: COMPILE_ERROR missing_package

import sys

from forging import custom_kernel  # noqa: F401

assert not any("reference" in name and hasattr(m, "generate") for name, m in sys.modules.items())
import reference  # noqa: E402, F401
