"""`python -m harness.trace REQUEST OUT_DIR`."""

from __future__ import annotations

import sys

from harness.trace.child import main

sys.exit(main(sys.argv[1:]))
