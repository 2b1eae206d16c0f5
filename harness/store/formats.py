"""Records of older formats, in today's names. What is not of the form stays as it is: whoever decodes it has the blame.

Format 1 called a case's time its median.
"""

from __future__ import annotations

from typing import Any

FORMAT = 2
"""What records are written in now."""


def update(document: dict[str, Any]) -> dict[str, Any]:
    """Return a record's document of any format up to today's as one of today's."""
    cases = document.get("cases")
    if document["format"] == FORMAT or not isinstance(cases, list):
        return document
    return {**document, "cases": [_with_time(case) for case in cases]}


def _with_time(case: Any) -> Any:
    timing = case.get("timing") if isinstance(case, dict) else None
    if not isinstance(timing, dict) or "median_us" not in timing:
        return case
    renamed = {"time_us" if name == "median_us" else name: value for name, value in timing.items()}
    return {**case, "timing": renamed}
