"""The process environment: what the submission may not steer through variables, and what it tried.

Owns the pinning of Triton's settings and the warnings about variables that a submission sets at import. Helion
and Triton are imported before the submission, so that variables read at their import come too late.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from triton import knobs

# Read at import, pinned below, or about tuning and caches. All other variables of Helion act when a kernel is made.
_WITHOUT_EFFECT = (
    "TRITON_",
    "TORCHINDUCTOR_",
    "ENABLE_TILE",
    "HELION_AUTOTUN",
    "HELION_FORCE_AUTOTUNE",
    "HELION_CACHE",
)
_READ_LATE = ("TRITON_F32_DEFAULT",)


def pin_triton() -> None:
    """Fix the settings of Triton that a variable could change under our feet."""
    knobs.runtime.interpret = False
    knobs.runtime.debug = False
    knobs.runtime.override_arch = None
    knobs.compilation.instrumentation_mode = ""
    knobs.language.default_fp_fusion = True


def environment_warnings(before: Mapping[str, str]) -> list[str]:
    """Return what to tell the author about the compiler variables that were set since `before`."""
    changed = sorted(name for name, value in os.environ.items() if before.get(name) != value)
    return [
        f"environment variable {name} has no effect here: nothing is tuned, and Helion and Triton were imported before"
        for name in changed
        if name.startswith(_WITHOUT_EFFECT) and name not in _READ_LATE
    ]
