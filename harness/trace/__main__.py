"""`python -m harness.trace REQUEST OUT_DIR`."""

from __future__ import annotations

import os
import sys

from harness.trace.child import main

code = main(sys.argv[1:])
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)  # exit handlers and threads that are still there are the submission's: nobody waits for them
