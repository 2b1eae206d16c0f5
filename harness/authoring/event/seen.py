"""Running what was carried over in the sandbox, and reading what it says: hostile data, taken field by field.

The process is untrusted: it holds somebody else's code. It reads one file, has no network, and what it answers may be
anything; here it becomes tensors' forms of known dtypes and small integers, or an error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.authoring.event.layout import Layout, parse_layout, slots
from harness.dtypes import DTYPE_BYTES
from harness.errors import UsageError
from harness.sandbox import Exit, Level, Limits, best_level, python_mounts, run, visible_scratch
from harness.strict_json import parse_strict
from harness.text import clean

REQUEST = "request.json"
LIMITS = Limits(wall_s=300, cpu_s=240, memory_bytes=8 << 30, processes=256, file_bytes=1 << 20, scratch_bytes=8 << 20)
MAX_TENSORS, MAX_AXES = 64, 16
STEP_LIMIT_S = 60  # of what was written, when it is tried


@dataclass(frozen=True)
class Form:
    """A tensor's sizes and dtype, and whether it lies in memory in order."""

    sizes: tuple[int, ...]
    dtype: str
    contiguous: bool = True

    def fits(self, other: Form) -> bool:
        """Whether one of these can hold what the other does."""
        return (self.sizes, self.dtype) == (other.sizes, other.dtype)


@dataclass(frozen=True)
class Seen:
    """What one call showed.

    Attributes:
        layout: how generate_input packs its tensors.
        inputs, outputs: forms of the tensors that generate_input and ref_kernel returned.
        same: for each output the input whose memory it is, -1 for none.
        modified: the inputs that ref_kernel changed.
        unfilled: the inputs that generate_input makes and leaves as they are.
        zero: the inputs that it fills with zeros.
        in_place: whether ref_kernel returns nothing, so that what it changed is its result.
        float64_fault: why it cannot be computed in float64 as it is; empty if it can.
    """

    layout: Layout
    inputs: tuple[Form, ...]
    outputs: tuple[Form, ...]
    same: tuple[int, ...] = ()
    modified: tuple[int, ...] = ()
    unfilled: tuple[int, ...] = ()
    zero: tuple[int, ...] = ()
    in_place: bool = False
    float64_fault: str = ""


def probe(source: str, calls: Sequence[Mapping[str, Any]], *, takes_seed: bool, scratch: Path) -> tuple[Seen, ...]:
    """Call what was carried over, once for each set of arguments, in the sandbox.

    Raises:
        UsageError: this machine has no sandbox, or the code failed.
    """
    (scratch / REQUEST).write_text(json.dumps({"source": source, "takes_seed": takes_seed, "calls": list(calls)}))
    output = run_sandboxed("harness.qualify.probe", REQUEST, scratch)
    try:
        answer = parse_strict(output)
        if "error" in answer:
            raise UsageError(f"running it in the sandbox failed: {clean(str(answer['error'])[:1000], lines=True)}")
        seen = tuple(_parse(call) for call in answer["calls"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError("what it said in the sandbox is not of the form that was asked for") from None
    if len(seen) != len(calls):
        raise UsageError("it answered fewer calls than were made")
    return seen


def run_sandboxed(module: str, argument: str, scratch: Path) -> str:
    """Run `python -m module SCRATCH/ARGUMENT` in the sandbox; return what it wrote to standard output.

    Raises:
        UsageError: this machine has no sandbox that such code may run in, or it did not end well.
    """
    level = best_level().level
    if level is Level.NONE:
        raise UsageError("this machine has no sandbox, and somebody else's Python is run nowhere else: see make doctor")
    command = [sys.executable, "-I", "-m", module, f"{visible_scratch(level, scratch)}/{argument}"]
    if module.endswith(".examine"):
        command += [str(STEP_LIMIT_S), "reference.py"]
    output, end = run(command, level=level, mounts=python_mounts(), scratch=scratch, limits=LIMITS)
    if end.code != 0:
        raise UsageError(f"running it in the sandbox ended {_how(end)}")
    return output


def _how(end: Exit) -> str:
    if end.limit is not None:
        return f"at the limit of {end.limit}"
    return f"with code {end.code}: {clean(end.stderr[-500:], lines=True)}"


def _parse(call: Any) -> Seen:
    inputs, outputs = (tuple(map(_form, _list(call, key))) for key in ("inputs", "outputs"))
    layout = parse_layout(call["layout"])
    if [slot.number for slot, _, _ in slots(layout)] != list(range(len(inputs))) or not outputs:
        raise ValueError
    numbers = {
        key: tuple(_number(item, len(inputs)) for item in _list(call, key))
        for key in ("same", "modified", "unfilled", "zero")
    }
    if len(numbers["same"]) != len(outputs):
        raise ValueError
    fault = clean(str(call["float64_fault"])[:500])
    return Seen(layout, inputs, outputs, in_place=bool(call["in_place"]), float64_fault=fault, **numbers)


def _list(call: Any, key: str) -> list[Any]:
    found = call[key]
    if not isinstance(found, list) or len(found) > MAX_TENSORS:
        raise ValueError
    return found


def _form(item: Any) -> Form:
    sizes, dtype, contiguous = item
    if dtype not in DTYPE_BYTES or len(sizes) > MAX_AXES:
        raise ValueError
    return Form(tuple(_number(size, 1 << 40) for size in sizes), str(dtype), bool(contiguous))


def _number(value: Any, below: int) -> int:
    if type(value) is not int or not -1 <= value < below:
        raise ValueError
    return value
