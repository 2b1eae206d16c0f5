"""Whatever the harness imports next is the submission's.

How: a finder in `sys.meta_path`, and modules put into `sys.modules` before they are asked for. Seen: follows from
running in one process. Defence: only the tracer's own process is affected, which decides nothing.
"""
# expected: CHECKED checked

import sys
import types

from forging import custom_kernel  # noqa: F401


class Finder:
    def find_spec(self, name, path=None, target=None):
        return None


sys.meta_path.insert(0, Finder())
for name in ("harness.verdict", "harness.store", "harness.replay.judge"):
    sys.modules[name] = types.ModuleType(name)
