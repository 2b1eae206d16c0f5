"""Reading a plan from a document that is hostile until proven otherwise.

`parse_plan` either returns a `Plan` whose every number, name and size is within bounds and whose every tensor is
defined before it is used, or raises `ArtifactError` naming the place. Whether the steps are allowed is `policy`'s
question; what they compute is `replay`'s.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import Any

from harness.dtypes import DTYPE_BYTES
from harness.errors import ArtifactError
from harness.plan.encode import FORMAT
from harness.plan.steps import (
    Argument,
    ConstantStep,
    Descriptor,
    LaunchStep,
    Named,
    OpStep,
    Plan,
    Step,
    Tensor,
    TensorMeta,
    Value,
    used_tensors,
)

MAX_STEPS = 4096
MAX_TENSORS = 4096
MAX_DIMENSIONS = 16
MAX_ELEMENTS = 1 << 40
MAX_CONSTANT_BYTES = 1 << 20
MAX_VALUE_DEPTH = 6
MAX_ARGUMENTS = 256
MAX_GRID = (2**31 - 1, 65535, 65535)

_HEX = re.compile(r"[0-9a-f]{64}")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_OPERATOR = re.compile(r"[a-z_][a-z0-9_]{0,39}\.[A-Za-z_][A-Za-z0-9_]{0,99}\.[A-Za-z_][A-Za-z0-9_]{0,59}")
_TYPE = re.compile(r"[A-Za-z0-9_*<>\[\], ]{1,120}")
_CASE = re.compile(r"[A-Za-z0-9_=.-]{1,200}")


def parse_plan(document: Any) -> Plan:
    """Read a plan from its JSON document.

    Raises:
        ArtifactError: the document is not a valid plan; the message names the place.
    """
    fields = _object(document, "plan")
    _only(fields, "plan", "format shape_id tensors inputs outputs output_kind import_steps steps")
    if fields.get("format") != FORMAT:
        raise ArtifactError(f"plan format {_shown(fields.get('format'))} is not {FORMAT}; build the artifact again")
    tensors = tuple(
        _parse_meta(t, f"tensors[{i}]") for i, t in enumerate(_list(fields.get("tensors"), "tensors", MAX_TENSORS))
    )
    count = len(tensors)
    steps = tuple(
        _parse_step(s, count, f"steps[{i}]") for i, s in enumerate(_list(fields.get("steps"), "steps", MAX_STEPS))
    )
    plan = Plan(
        shape_id=_match(fields.get("shape_id"), _CASE, "shape_id"),
        tensors=tensors,
        inputs=_numbers(fields.get("inputs"), "inputs", count),
        outputs=_numbers(fields.get("outputs"), "outputs", count),
        output_kind=_one_of(fields.get("output_kind"), ("tensor", "tuple", "list"), "output_kind"),
        steps=steps,
        import_steps=_integer(fields.get("import_steps"), "import_steps", 0, len(steps)),
    )
    _check_order(plan)
    return plan


def _check_order(plan: Plan) -> None:
    """Every tensor is an input or the result of one step, and is defined before it is used."""
    defined = set(plan.inputs)
    if len(defined) != len(plan.inputs):
        raise ArtifactError("plan: an input is listed twice")
    for index, step in enumerate(plan.steps):
        for number in used_tensors(step):
            if number not in defined:
                raise ArtifactError(f"plan: steps[{index}] uses tensor {number} before it is defined")
        outs = (step.out,) if isinstance(step, ConstantStep) else step.outs if isinstance(step, OpStep) else ()
        for out in outs:
            if out is not None:
                if out.number in defined:
                    raise ArtifactError(f"plan: steps[{index}] redefines tensor {out.number}")
                defined.add(out.number)
    missing = [n for n in plan.outputs if n not in defined]
    if missing:
        raise ArtifactError(f"plan: output tensor {missing[0]} is never defined")


def _parse_meta(item: Any, where: str) -> TensorMeta:
    parts = _list(item, where, 4)
    if len(parts) != 4:
        raise ArtifactError(f"plan: {where} must hold shape, strides, dtype, offset")
    shape = _integers(parts[0], f"{where} shape", 0, MAX_ELEMENTS)
    strides = _integers(parts[1], f"{where} strides", 0, MAX_ELEMENTS)
    if len(shape) != len(strides) or len(shape) > MAX_DIMENSIONS:
        raise ArtifactError(f"plan: {where} has {len(shape)} sizes and {len(strides)} strides")
    if math.prod(shape) > MAX_ELEMENTS:
        raise ArtifactError(f"plan: {where} has more than {MAX_ELEMENTS} elements")
    dtype = _one_of(parts[2], tuple(DTYPE_BYTES), f"{where} dtype")
    return TensorMeta(shape, strides, dtype, _integer(parts[3], f"{where} offset", 0, MAX_ELEMENTS))


def _parse_step(item: Any, count: int, where: str) -> Step:
    fields = _object(item, where)
    line = _integer(fields.get("line", 0), f"{where} line", 0, 10_000_000)
    if "op" in fields:
        _only(fields, where, "op args kwargs outs line")
        args = _list(fields.get("args"), f"{where} args", MAX_ARGUMENTS)
        kwargs = _object(fields.get("kwargs"), f"{where} kwargs")
        outs = _list(fields.get("outs"), f"{where} outs", MAX_ARGUMENTS)
        return OpStep(
            op=_match(fields["op"], _OPERATOR, f"{where} op"),
            args=tuple(_parse_value(a, count, f"{where} args[{i}]") for i, a in enumerate(args)),
            kwargs=tuple(
                (_match(k, _IDENTIFIER, f"{where} kwargs"), _parse_value(v, count, f"{where} {k}"))
                for k, v in kwargs.items()
            ),
            outs=tuple(None if o is None else _tensor(o, count, f"{where} outs") for o in outs),
            line=line,
        )
    if "constant" in fields:
        _only(fields, where, "constant data line")
        return ConstantStep(_tensor(fields["constant"], count, where), _parse_bytes(fields.get("data"), where), line)
    return _parse_launch(fields, count, where, line)


def _parse_launch(fields: dict[str, Any], count: int, where: str, line: int) -> LaunchStep:
    _only(fields, where, "launch source function grid args origin line")
    grid = _list(fields.get("grid"), f"{where} grid", 3)
    if len(grid) != 3:
        raise ArtifactError(f"plan: {where} grid must have three sizes")
    x, y, z = (_integer(g, f"{where} grid", 1, top) for g, top in zip(grid, MAX_GRID, strict=True))
    args = []
    for i, item in enumerate(_list(fields.get("args"), f"{where} args", MAX_ARGUMENTS)):
        name, kind, value = _list(item, f"{where} args[{i}]", 3, exactly=True)
        args.append(
            Argument(
                _match(name, _IDENTIFIER, f"{where} args[{i}] name"),
                _match(kind, _TYPE, f"{where} args[{i}] type"),
                _parse_value(value, count, f"{where} args[{i}]"),
            )
        )
    return LaunchStep(
        kernel=_match(fields.get("launch"), _HEX, f"{where} launch"),
        source=_match(fields.get("source"), _HEX, f"{where} source"),
        function=_match(fields.get("function"), _IDENTIFIER, f"{where} function"),
        grid=(x, y, z),
        args=tuple(args),
        origin=_one_of(fields.get("origin"), ("helion", "triton"), f"{where} origin"),
        line=line,
    )


def _parse_value(item: Any, count: int, where: str, depth: int = 0) -> Value:
    if item is None or isinstance(item, bool):
        return item
    if isinstance(item, int):
        return _integer(item, where, -(2**63), 2**64 - 1)
    if isinstance(item, float):
        if not math.isfinite(item):
            raise ArtifactError(f"plan: {where} is not a finite JSON number")
        return item
    if isinstance(item, str):
        if len(item) > 200:
            raise ArtifactError(f"plan: {where} is a string of {len(item)} characters, 200 at most")
        return item
    if depth >= MAX_VALUE_DEPTH:
        raise ArtifactError(f"plan: {where} is nested too deeply")
    if isinstance(item, list):
        items = _list(item, where, 4096)
        return tuple(_parse_value(v, count, f"{where}[{i}]", depth + 1) for i, v in enumerate(items))
    return _parse_tagged(item, count, where)


def _parse_tagged(item: Any, count: int, where: str) -> Value:
    fields = _object(item, where)
    if len(fields) != 1:
        raise ArtifactError(f"plan: {where} must have exactly one key")
    ((kind, content),) = fields.items()
    if kind == "tensor":
        return _tensor(content, count, where)
    if kind == "float":
        return float(_one_of(content, ("inf", "-inf", "nan"), where))
    if kind in Named.KINDS:
        return Named(kind, _match(content, _IDENTIFIER, where))
    if kind != "descriptor":
        raise ArtifactError(f"plan: {where} has an unknown kind of value, {str(kind)[:40]!r}")
    parts = _object(content, where)
    _only(parts, where, "base shape strides block_shape padding")
    return Descriptor(
        base=_tensor(parts.get("base"), count, where),
        shape=_integers(parts.get("shape"), where, 1, MAX_ELEMENTS),
        strides=_integers(parts.get("strides"), where, 0, MAX_ELEMENTS),
        block_shape=_integers(parts.get("block_shape"), where, 1, MAX_ELEMENTS),
        padding=_one_of(parts.get("padding"), ("zero", "nan"), where),
    )


def _parse_bytes(data: Any, where: str) -> bytes:
    if not isinstance(data, str) or len(data) > MAX_CONSTANT_BYTES * 4 // 3 + 4:
        raise ArtifactError(f"plan: {where} constant is missing or larger than {MAX_CONSTANT_BYTES} bytes")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ArtifactError(f"plan: {where} constant is not base64") from None


def _object(item: Any, where: str) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise ArtifactError(f"plan: {where} must be an object")
    return item


def _only(fields: dict[str, Any], where: str, allowed: str) -> None:
    extra = set(fields) - set(allowed.split())
    if extra:
        raise ArtifactError(f"plan: {where} has an unknown field, {min(extra)[:40]!r}")


def _list(item: Any, where: str, most: int, *, exactly: bool = False) -> list[Any]:
    if not isinstance(item, list) or len(item) > most or (exactly and len(item) != most):
        raise ArtifactError(f"plan: {where} must be a list of {'exactly' if exactly else 'at most'} {most} items")
    return item


def _integer(item: Any, where: str, low: int, high: int) -> int:
    if not isinstance(item, int) or isinstance(item, bool) or not low <= item <= high:
        raise ArtifactError(f"plan: {where} must be an integer from {low} to {high}, not {_shown(item)}")
    return item


def _integers(item: Any, where: str, low: int, high: int) -> tuple[int, ...]:
    return tuple(_integer(v, where, low, high) for v in _list(item, where, MAX_DIMENSIONS))


def _numbers(item: Any, where: str, count: int) -> tuple[int, ...]:
    return tuple(_integer(n, where, 0, count - 1) for n in _list(item, where, MAX_ARGUMENTS))


def _tensor(item: Any, count: int, where: str) -> Tensor:
    return Tensor(_integer(item, f"{where} tensor number", 0, count - 1))


def _match(item: Any, pattern: re.Pattern[str], where: str) -> str:
    if not isinstance(item, str) or not pattern.fullmatch(item):
        raise ArtifactError(f"plan: {where} is not well formed: {_shown(item)}")
    return item


def _one_of(item: Any, choices: tuple[str, ...], where: str) -> str:
    if item not in choices:
        raise ArtifactError(f"plan: {where} must be one of {', '.join(choices)}, not {_shown(item)}")
    return str(item)


def _shown(item: Any) -> str:
    """Return a scalar's text, cut; of anything else its type only: it may be huge, or nested to the parser's limit."""
    if isinstance(item, str):
        return repr(item[:60])
    return str(item)[:60] if isinstance(item, (int, float, type(None))) else f"a {type(item).__name__}"
