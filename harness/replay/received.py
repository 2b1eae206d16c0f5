"""Reading what a runner hands back: a safetensors file that is hostile until proven otherwise.

Refused before any data is read: anything but a regular file (links, pipes), headers that are too long, unknown or
missing names, tensors of another dtype or shape than declared, a file that is not exactly as long as the header says.
So the largest thing ever read is what the problem declares. What the file says about values is believed only in so far
as it is compared.

Names: "0", "1", ... outputs; "input-0", ... inputs after the call (needed for all but buffers); "stored-0", ... which
elements of an output were written at all (sampled replays only). Metadata: "strides-0", ... a JSON list, optional.
"""

from __future__ import annotations

import math
import os
import re
import stat
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch

from harness.errors import HarnessError
from harness.plan import DTYPE_BYTES
from harness.replay.asked import Problem
from harness.replay.form import Form, check_form
from harness.replay.inputs import Received, Sample
from harness.replay.judgement import Judgement, failed
from harness.strict_json import parse_strict

MAX_HEADER_BYTES = 1 << 18
MAX_DIMENSIONS = 16

_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}
_NAME = re.compile(r"(?:(input|stored)-)?(0|[1-9][0-9]{0,3})")


class OutputError(HarnessError):
    """A runner's file cannot be accepted; `judgement` says why."""

    def __init__(self, judgement: Judgement) -> None:
        super().__init__(judgement.message)
        self.judgement = judgement


def read_received(path: Path, problem: Problem, sample: Sample, *, sampled: bool = False) -> Received:
    """Read a runner's file.

    Args:
        path: the file.
        problem: what the outputs must look like.
        sample: what the inputs looked like when they were sent.
        sampled: whether "stored-" masks are asked for.

    Raises:
        OutputError: it is not a file of the form that was asked for.
    """
    descriptor = _open(path)
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        head, fields = _read_header(file, size)
        forms = _parse_forms(fields)
        _check_names(forms, problem, sampled)
        outputs = [forms[name] for name in sorted((n for n in forms if n.isdigit()), key=int)]
        fault = check_form(problem, sample.request.sizes, outputs)
        if fault is not None:
            raise OutputError(fault)
        _check_others(forms, sample)
        total = sum(math.prod(form.shape) * DTYPE_BYTES[form.dtype] for form in forms.values())
        if size != len(head) + total:
            raise _malformed(f"has {size} bytes where its header makes {len(head) + total}")
        data = file.read(total)
    try:
        tensors = safetensors.torch.load(head + data)
    except (safetensors.SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise _malformed(f"is not valid safetensors: {str(error)[:200]}") from error
    return Received(
        outputs=tuple(tensors[str(number)] for number in range(len(outputs))),
        inputs={int(name[6:]): tensor for name, tensor in tensors.items() if name.startswith("input-")},
        stored={int(name[7:]): tensor for name, tensor in tensors.items() if name.startswith("stored-")},
    )


def _malformed(fault: str) -> OutputError:
    return OutputError(failed("malformed_output", f"the file of outputs that the replay handed back {fault}"))


def _open(path: Path) -> int:
    """Open without following a link and without waiting for a pipe's other end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _malformed(f"cannot be opened: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _malformed("is not a regular file")
    return descriptor


def _read_header(file: Any, size: int) -> tuple[bytes, dict[str, Any]]:
    prefix = file.read(8)
    length = int.from_bytes(prefix, "little")
    if len(prefix) < 8 or length > size - 8:
        raise _malformed(f"is truncated: {size} bytes")
    if length > MAX_HEADER_BYTES:
        raise _malformed(f"claims a header of {length} bytes, {MAX_HEADER_BYTES} at most")
    text = file.read(length)
    try:
        fields = parse_strict(text.decode("utf-8"))
    except ValueError as error:
        raise _malformed("has no valid JSON header") from error
    if not isinstance(fields, dict):
        raise _malformed("has no valid JSON header")
    return prefix + text, fields


def _parse_forms(fields: dict[str, Any]) -> dict[str, Form]:
    metadata = fields.pop("__metadata__", None) or {}
    if not isinstance(metadata, dict):
        raise _malformed("has metadata that is not an object")
    return {name: _parse_form(name, entry, metadata.get(f"strides-{name}")) for name, entry in fields.items()}


def _parse_form(name: str, entry: Any, strides: Any) -> Form:
    fields = entry if isinstance(entry, dict) else {}
    dtype, shape = _DTYPES.get(str(fields.get("dtype"))), _sizes(fields.get("shape"))
    if not _NAME.fullmatch(name):
        raise _malformed(f"holds an unexpected tensor, {name[:40]!r}")
    if dtype is None or shape is None:
        raise _malformed(f"gives tensor {name} no known dtype or no valid shape")
    if strides is None:
        return Form(dtype, shape)
    try:
        parsed = _sizes(parse_strict(strides))
    except (TypeError, ValueError):
        parsed = None
    if parsed is None:
        raise _malformed(f"gives tensor {name} strides that are not a list of integers")
    return Form(dtype, shape, parsed)


def _sizes(item: Any) -> tuple[int, ...] | None:
    if not isinstance(item, list) or len(item) > MAX_DIMENSIONS:
        return None
    if any(type(size) is not int or not 0 <= size < 1 << 48 for size in item):
        return None
    return tuple(item)


def _check_names(forms: dict[str, Form], problem: Problem, sampled: bool) -> None:
    """Outputs without a gap; masks only where asked for; every input but buffers."""
    count = sum(name.isdigit() for name in forms)
    allowed = {str(number) for number in range(count)} | {f"input-{i}" for i in range(len(problem.inputs))}
    if sampled:
        allowed |= {f"stored-{number}" for number in range(len(problem.outputs))}
    unexpected = sorted(set(forms) - allowed)
    if unexpected:
        raise _malformed(f"holds an unexpected tensor, {unexpected[0]!r}")
    for number, spec in enumerate(problem.inputs):
        if not spec.buffer and f"input-{number}" not in forms:
            raise _malformed(f"lacks input {spec.name} as it is after the call (input-{number})")


def _check_others(forms: dict[str, Form], sample: Sample) -> None:
    """Inputs come back as they were sent; a mask is a bool for each element of its output."""
    for name, form in forms.items():
        kind, _, number = name.rpartition("-")
        if not kind:
            continue
        tensor = sample.inputs[int(number)] if kind == "input" else sample.expected[int(number)]
        dtype = str(tensor.dtype)[6:] if kind == "input" else "bool"
        if (form.dtype, form.shape) != (dtype, tuple(tensor.shape)):
            raise _malformed(f"holds {name} as {form.dtype} {form.shape}, not {dtype} {tuple(tensor.shape)}")
