"""How values are written, on every surface: terminal, page, table, file."""

from __future__ import annotations

import math
from collections.abc import Sequence


def microseconds(value_us: float | None) -> str:
    """Write a time with four significant digits and no unit: "9.071", "412.3", "1104"."""
    if value_us is None:
        return ""
    if not math.isfinite(value_us) or value_us == 0:
        return str(value_us)
    return f"{value_us:.{max(0, 3 - math.floor(math.log10(abs(value_us))))}f}"


def seconds(value_s: float | None) -> str:
    """Write a duration: "0.42 s", "1.5 s", "13 s", "2 min 5 s"; "-" for what is no number."""
    if value_s is None:
        return ""
    if not math.isfinite(value_s):
        return "-"
    if value_s < 10:
        return f"{value_s:.{2 if value_s < 1 else 1}f} s"
    if value_s < 120:
        return f"{value_s:.0f} s"
    return f"{int(value_s) // 60} min {int(value_s) % 60} s"


def magnitude(value: float | None) -> str:
    """Write an error with two digits: "0.45", "0.60", "3.1e-04", "1,742"; "-" for what is no number."""
    if value is None:
        return ""
    if not math.isfinite(value):
        return "-"
    if 100 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    if value == 0:
        return "0"
    return f"{value:#.2g}".rstrip(".") if 0.01 <= abs(value) < 100 else f"{value:.1e}"


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share of one: 0.384 is "38.4%"; what would round to nothing is "<0.1%", and to all of it, ">99.9%"."""
    if share is None:
        return ""
    least = 10.0**-digits
    if 0 < 100 * share < least / 2:
        return f"<{least:g}%"
    return f">{100 - least:g}%" if 100 - least / 2 <= 100 * share < 100 else f"{100 * share:.{digits}f}%"


def gap(share: float | None) -> str:
    """Write how much slower something is: 0.123 is "+12.3%", 3.5 is "4.5x"."""
    if share is None:
        return ""
    return f"+{100 * share:.1f}%" if share < 1 else f"{1 + share:.1f}x"


def moment(iso: str | None) -> str:
    """Write an ISO time for people: "2027-01-15 12:00" (UTC)."""
    return iso[:16].replace("T", " ") if iso else ""


def size_bytes(value: int | None) -> str:
    """Write a size: "0", "512", "64 KiB"."""
    if value is None:
        return ""
    return f"{value / 1024:.3g} KiB" if value >= 1024 else str(value)


def short_names(names: Sequence[str]) -> list[str]:
    """Name shapes by the parts in which they differ: of "B1_T64_K64" and "B2_T64_K64" that is "B1" and "B2"."""
    parts = [name.split("_") for name in names]
    if len(set(names)) < 2 or len({len(part) for part in parts}) > 1:
        return [" ".join(part) for part in parts]
    telling = [i for i, column in enumerate(zip(*parts, strict=True)) if len(set(column)) > 1]
    return [" ".join(part[i] for i in telling) for part in parts]


def shape_names(shapes: Sequence[dict[str, int]]) -> list[str]:
    """Name shapes by the axes in which they differ: "B1 T64", "B2 T512"."""
    axes = telling_axes(shapes)
    return [" ".join(f"{axis}{shape[axis]}" for axis in axes if axis in shape) for shape in shapes]


def telling_axes(shapes: Sequence[dict[str, int]]) -> list[str]:
    """Return the axes in which some shapes differ; all of them if they differ in none."""
    axes = list(dict.fromkeys(axis for shape in shapes for axis in shape))
    return [axis for axis in axes if len({shape.get(axis) for shape in shapes}) > 1] or axes


def common_axes(shapes: Sequence[dict[str, int]]) -> str:
    """Write the axes that `telling_axes` leaves out, with their one size: "K=64 V=64"."""
    telling = telling_axes(shapes)
    return " ".join(f"{axis}={size}" for axis, size in (shapes[0] if shapes else {}).items() if axis not in telling)


def tell_ruled_out(count: int) -> str:
    """Say how many submissions organisers have ruled out of a board."""
    return f"{count} submission{' is' if count == 1 else 's are'} ruled out by the organisers, and not listed here."
