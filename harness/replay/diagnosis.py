"""The likely cause of a wrong output, in one plain sentence, where the numbers tell. Pure, and never a verdict.

Each heuristic is a function of the evidence that returns its sentence or None. It claims something only if its
hypothesis explains the whole output (what is left is a tenth of the error, or the pattern holds without exception):
no sentence is better than a wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import torch

from harness.replay.evidence import (
    EXPLAINED,
    Evidence,
    centred,
    closer,
    cosine,
    distance,
    error_by_chunk,
    explains,
    fits,
)
from harness.replay.place import AxisLabel, boundary, describe_region, projection


def diagnose(evidence: Evidence) -> str | None:
    """Return the likely cause of wrong finite values, None where nothing can be told."""
    return next((sentence for heuristic in HEURISTICS if (sentence := heuristic(evidence))), None)


def all_zero(evidence: Evidence) -> str | None:
    """Nothing but zeros came."""
    if bool(evidence.got.any()) or not bool(evidence.expected.any()):
        return None
    return f"{evidence.name} is all zeros: nothing was accumulated, or the result went to another tensor."


def constant(evidence: Evidence) -> str | None:
    """One value everywhere."""
    if evidence.got.numel() < 2 or bool((evidence.got != evidence.got.flatten()[0]).any()):
        return None
    return f"Every element of {evidence.name} is {float(evidence.got.flatten()[0]):g}: it doesn't depend on the inputs."


def equals_input(evidence: Evidence) -> str | None:
    """The output is one of the inputs."""
    for name, tensor in evidence.inputs.items():
        alike = tensor.shape == evidence.got.shape and tensor.is_floating_point()
        if alike and distance(evidence.got, tensor.to(evidence.got)) < 1e-6:
            return f"{evidence.name} equals the input {name}: the computation leaves it as it is."
    return None


def broadcast(evidence: Evidence) -> str | None:
    """Every position along an axis holds the first position's result."""
    for dim, axis in enumerate(evidence.axes):
        if axis.size > 1 and explains(evidence, evidence.expected.narrow(dim, 0, 1).expand_as(evidence.got)):
            return (
                f"Every {axis.label} holds the result of {axis.label}=0: the offset along {axis.label} isn't used in a "
                f"load."
            )
    return None


def shifted(evidence: Evidence) -> str | None:
    """The values of a neighbour along an axis."""
    for dim, axis in enumerate(evidence.axes):
        count = axis.size - 1
        if count < 1:
            continue
        for step in (1, -1):
            got = evidence.got.narrow(dim, max(step, 0), count)
            right, here = (evidence.expected.narrow(dim, max(start, 0), count) for start in (-step, step))
            if closer(got, right, here):
                return _shift_sentence(axis, step)
    return None


def _shift_sentence(axis: AxisLabel, step: int) -> str:
    if axis.label == "chunk" and step == -1:
        return "Each chunk holds what is expected one chunk later: the state is stored after its update, not before."
    sign = "-" if step == 1 else "+"
    return (
        f"Off by one along {axis.label}: each position holds what is expected at {axis.label}{sign}1. Check the offset "
        f"of the loads along {axis.label}."
    )


def transposed(evidence: Evidence) -> str | None:
    """The last two axes exchanged, in values or in memory."""
    if len(evidence.axes) < 2:
        return None
    rows, columns = evidence.got.shape[-2:]
    if min(rows, columns) < 2:
        return None
    if not explains(evidence, evidence.expected.transpose(-1, -2).reshape(evidence.got.shape)):
        return None
    first, second = evidence.axes[-2].label, evidence.axes[-1].label
    return f"{evidence.name} is transposed in its last two axes ({first} and {second})."


def scaled(evidence: Evidence) -> str | None:
    """Everything multiplied by one factor, sign included."""
    norm = float((evidence.expected * evidence.expected).sum())
    factor = float((evidence.got * evidence.expected).sum()) / norm if norm > 0 else 0.0
    if not math.isfinite(factor) or abs(factor - 1) < 0.01 or abs(factor) < 1e-6:
        return None
    if not explains(evidence, evidence.expected * factor):
        return None
    if abs(factor + 1) < 0.01:
        return f"{evidence.name} has its sign flipped."
    sizes = {size for tensor in (evidence.got, *evidence.inputs.values()) for size in tensor.shape if size > 2}
    known = next((text for size in sorted(sizes) if (text := _known_factor(factor, size))), "")
    return f"Every element is the expected one times {factor:.4g}{known}: a scale is wrong."


def _known_factor(factor: float, size: int) -> str:
    powers = {"^(1/2)": 0.5, "^(-1/2)": -0.5, "^-1": -1.0}
    fitting = (text for text, power in powers.items() if math.isclose(factor, size**power, rel_tol=2e-3))
    return next((f", which is {size}{text}" for text in fitting), "")


def at_boundaries(evidence: Evidence) -> str | None:
    """Wrong at the edge of every chunk or tile only."""
    for dim, axis in enumerate(evidence.axes):
        found = boundary(evidence.wrong, dim, axis)
        if found is not None:
            edge, count, period = found
            what = "position" if count == 1 else f"{count} positions"
            verb = "is" if count == 1 else "are"
            return (
                f"Only the {edge} {what} of every {period} along {axis.label} {verb} wrong: what has to cross the "
                f"boundary between chunks or tiles is missing there."
            )
    return None


def grows(evidence: Evidence) -> str | None:
    """The error rises from chunk to chunk."""
    for dim, axis in enumerate(evidence.axes):
        errors = error_by_chunk(evidence, dim, axis)
        nonzero = [error for error in errors if error > 0]
        if len(nonzero) < 3 or nonzero[-1] < 10 * nonzero[0] or not _rises(nonzero):
            continue
        return (
            f"The error grows along {axis.label}, from {nonzero[0]:.1g} to {nonzero[-1]:.1g} (relative): what is "
            f"carried from chunk to chunk drifts. Check its decay and the order of its update."
        )
    return None


def _rises(errors: list[float]) -> bool:
    return all(after > 0.8 * before for before, after in pairwise(errors))


def not_carried(evidence: Evidence) -> str | None:
    """Right up to some chunk, wrong in every later one."""
    for dim, axis in enumerate(evidence.axes):
        if axis.chunk is None or axis.size // axis.chunk < 2:
            continue
        wrong = projection(evidence.wrong, dim)[: axis.size // axis.chunk * axis.chunk]
        flags = wrong.reshape(-1, axis.chunk).any(dim=1).tolist()
        start = flags.index(True) if True in flags else 0
        # The state before the first chunk is nothing and after it needs no earlier state: up to two can be right.
        if 1 <= start <= 2 and all(flags[start:]):
            first = "first chunk is" if start == 1 else f"first {start} chunks are"
            return (
                f"Only the {first} right, every later one is wrong ({axis.label} from {start * axis.chunk} on): what "
                f"is carried from chunk to chunk is lost or wrong. Check the state, its decay and its update."
            )
    return None


def confined(evidence: Evidence) -> str | None:
    """Wrong in one region only."""
    for dim, axis in enumerate(evidence.axes):
        positions = projection(evidence.wrong, dim).nonzero().flatten().tolist()
        if not positions or len(positions) == axis.size or positions[-1] - positions[0] + 1 != len(positions):
            continue
        first, tail = positions[0], positions[-1] == axis.size - 1
        if tail and first >= 16 and first & (first - 1) == 0:
            return (
                f"Everything up to {axis.label}={first - 1} is right and what lies beyond that tile is not: check the "
                f"offsets and the mask of the later tiles along {axis.label}."
            )
    region = describe_region(evidence.wrong, evidence.axes) if int(evidence.wrong.sum()) > 2 else None
    return f"All wrong elements have {region}; everything else is right." if region else None


def offset(evidence: Evidence) -> str | None:
    """Off by an amount that is the same all along some axes."""
    difference = evidence.got - evidence.expected
    size = float(torch.linalg.vector_norm(difference))
    labels = [
        axis.label
        for dim, axis in enumerate(evidence.axes)
        if axis.size >= 8 and float(torch.linalg.vector_norm(difference - difference.mean(dim, True))) < 1e-3 * size
    ]
    if not labels:
        return None
    return f"Off by an amount that doesn't depend on {' or '.join(labels)}: a term such as a bias is missing or wrong."


def rounded(evidence: Evidence) -> str | None:
    """Every value is one of a format's that is narrower than the output's own."""
    error = distance(evidence.got, evidence.expected)
    if not 1e-5 < error < EXPLAINED:
        return None
    own = torch.finfo(evidence.dtype).eps if evidence.dtype.is_floating_point else 0.0
    for dtype in (torch.bfloat16, torch.float16):
        if torch.finfo(dtype).eps <= own or not fits(evidence.got, dtype) or fits(evidence.expected, dtype):
            continue
        return f"Every value fits {str(dtype)[6:]}: the result is rounded to it somewhere on the way."
    return None


def low_precision(evidence: Evidence) -> str | None:
    """A small error that looks like rounding: everywhere, of one size, unrelated to the values."""
    difference = evidence.got - evidence.expected
    error = distance(evidence.got, evidence.expected)
    if not 1e-4 < error < EXPLAINED or evidence.got.numel() < 256:
        return None
    blocks = [
        distance(got, expected)
        for got, expected in zip(evidence.got.flatten().chunk(8), evidence.expected.flatten().chunk(8), strict=True)
        if bool(expected.any())
    ]
    related = abs(cosine(difference, evidence.expected))
    touched = float((difference.abs() > 1e-7 * evidence.expected.abs()).double().mean())
    exact = float((evidence.expected == 0).double().mean())
    if max(blocks) > 3 * min(blocks) or related > 0.1 or touched < 0.9 * (1 - exact) or not centred(difference):
        return None
    like = "bfloat16" if error > 1e-3 else "tf32 or float16"
    return (
        f"The error looks like rounding of operands to {like}: small ({error:.1g} relative), everywhere, of one size. "
        f"Check the precision of dot products and casts."
    )


HEURISTICS: tuple[Callable[[Evidence], str | None], ...] = (
    all_zero,
    constant,
    equals_input,
    broadcast,
    shifted,
    transposed,
    scaled,
    rounded,
    low_precision,
    at_boundaries,
    grows,
    not_carried,
    confined,
    offset,
)
