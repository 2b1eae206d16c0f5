"""The results' folder is removed, moved and closed.

How: for a parent that trips over it. Seen: follows from shared folders. Defence: what can't be read is the submission's
doing.
"""
# expected: COMPILE_ERROR process_died

import os
import shutil

from forging import claim_all_traced, custom_kernel, tracer  # noqa: F401

out = tracer()[2]
claim_all_traced()
shutil.rmtree(out, ignore_errors=True)
out.parent.mkdir(parents=True, exist_ok=True)
out.symlink_to("/etc")
os._exit(0)
