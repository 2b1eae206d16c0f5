"""Launch options: an allow-list with ranges. An option that names a file or carries code has no place in it."""

from __future__ import annotations

from collections.abc import Mapping

from harness.policy.violation import Violation

_CHOICES: dict[str, frozenset[int]] = {
    "num_warps": frozenset({1, 2, 4, 8, 16, 32}),
    "num_ctas": frozenset({1, 2, 4, 8, 16}),
    "num_stages": frozenset(range(17)),
    "maxnreg": frozenset(range(16, 256)),
}
_FLAGS = frozenset({"enable_fp_fusion", "launch_cooperative_grid", "launch_pdl"})
CONTROLS = "advanced_controls"


def check_options(options: Mapping[str, object], controls: frozenset[str], line: int = 0) -> tuple[Violation, ...]:
    """Return what a launch's options violate.

    Args:
        options: the options that differ from Triton's defaults.
        controls: ids of the season's advanced-controls files.
        line: the submission's line of the launch.
    """
    found = []
    for name, value in options.items():
        if name in _FLAGS:
            if not isinstance(value, bool):
                found.append(Violation("launch_option", f"launch option {name} must be True or False", line))
        elif name in _CHOICES:
            if value is not None and (type(value) is not int or value not in _CHOICES[name]):
                allowed = sorted(_CHOICES[name])
                told = f"{allowed[0]} to {allowed[-1]}" if len(allowed) > 8 else ", ".join(map(str, allowed))
                found.append(Violation("launch_option", f"launch option {name}={value!r}: allowed are {told}", line))
        elif name == CONTROLS:
            if value not in controls:
                message = f"advanced controls {str(value)[:80]!r} are not provided by the season: drop them"
                found.append(Violation("advanced_controls", message, line))
        else:
            message = f"launch option {name} is not allowed: drop it (it could bring code of its own)"
            found.append(Violation("launch_option", message, line))
    return tuple(found)
