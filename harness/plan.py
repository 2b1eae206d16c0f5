"""The launch plan of one case: the host program and the kernel launches of one call of `custom_kernel`.

This module owns the plan's form and nothing else: frozen dataclasses, the JSON form and its validation.
It trusts nothing in a document: `parse_plan` either returns a `Plan` whose every number, name and size is
within bounds and whose every tensor is defined before it is used, or raises `ArtifactError`. Whether the
steps are allowed is `policy`'s question; what they compute is `replay`'s.

It imports the standard library only, because the GPU runner ships it to machines that have little else.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from dataclasses import dataclass
from typing import Any

from harness.errors import ArtifactError

FORMAT = 1

DTYPE_BYTES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}

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


@dataclass(frozen=True)
class TensorMeta:
    """A tensor of the plan, as the tracer saw it. Strides and offset count elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    offset: int = 0

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        return self.elements * DTYPE_BYTES[self.dtype]

    @property
    def contiguous(self) -> bool:
        return self.elements == 0 or all(
            size == 1 or stride == expected
            for size, stride, expected in zip(self.shape, self.strides, row_major(self.shape), strict=True)
        )


@dataclass(frozen=True)
class Tensor:
    """Stands for tensor number `number` of the plan."""

    number: int


@dataclass(frozen=True)
class Named:
    """A value that JSON lacks: a torch dtype, device, layout or memory format, a Triton dtype, a function.

    `kind` is one of `Named.KINDS`; `name` is its name without a prefix ("float32", "cuda", "strided", "fp32").
    """

    kind: str
    name: str

    KINDS = ("dtype", "device", "layout", "memory_format", "triton_dtype", "function")


@dataclass(frozen=True)
class Descriptor:
    """A host-side tensor descriptor (TMA): a window over a tensor, counted in elements."""

    base: Tensor
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block_shape: tuple[int, ...]
    padding: str = "zero"


Value = None | bool | int | float | str | Tensor | Named | Descriptor | tuple["Value", ...]


@dataclass(frozen=True)
class OpStep:
    """One aten operation, `op` as "namespace.name.overload"; `line` is the submission's, 0 if unknown."""

    op: str
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...]
    outs: tuple[Tensor | None, ...]
    line: int = 0


@dataclass(frozen=True)
class ConstantStep:
    """A tensor whose content the submission wrote out (`torch.tensor([...])`): raw little-endian bytes."""

    out: Tensor
    data: bytes
    line: int = 0


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel: its name, Triton type ("*fp32", "i32", "constexpr", ...) and value."""

    name: str
    type: str
    value: Value


@dataclass(frozen=True)
class LaunchStep:
    """One kernel launch.

    Attributes:
        kernel: key of the compiled kernel (sha256 of its TTIR and options).
        source: sha256 of the Triton source module that CPU replay executes.
        function: name of the kernel function in that module.
        grid: programs in x, y, z.
        args: every argument in the order of the signature, constexprs included.
        origin: "helion" or "triton", as claimed by the tracer.
        line: the submission's line that caused the launch, 0 if unknown.
    """

    kernel: str
    source: str
    function: str
    grid: tuple[int, int, int]
    args: tuple[Argument, ...]
    origin: str
    line: int = 0


Step = OpStep | ConstantStep | LaunchStep


@dataclass(frozen=True)
class Plan:
    """One call of `custom_kernel` for one shape.

    Attributes:
        shape_id: the shape that it was traced for ("B1_T64_H2_K64_V64").
        tensors: every tensor, by number.
        inputs: numbers of the data tuple's tensors, in order.
        outputs: numbers of the returned tensors, in order.
        output_kind: "tensor" for a bare tensor, "tuple" or "list" for a sequence.
        steps: the program, import-time steps first.
        import_steps: how many of `steps` come from the submission's import.
    """

    shape_id: str
    tensors: tuple[TensorMeta, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    output_kind: str
    steps: tuple[Step, ...]
    import_steps: int = 0

    @property
    def launches(self) -> tuple[LaunchStep, ...]:
        return tuple(step for step in self.steps if isinstance(step, LaunchStep))


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor of this shape, in elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def encode_value(value: Value) -> Any:
    """Return the JSON form of an argument value."""
    if isinstance(value, Tensor):
        return {"tensor": value.number}
    if isinstance(value, Named):
        return {value.kind: value.name}
    if isinstance(value, Descriptor):
        fields = {"base": value.base.number, "shape": list(value.shape), "strides": list(value.strides)}
        return {"descriptor": fields | {"block_shape": list(value.block_shape), "padding": value.padding}}
    if isinstance(value, tuple):
        return [encode_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    return value


def encode_plan(plan: Plan) -> dict[str, Any]:
    """Return the JSON document of a plan."""
    return {
        "format": FORMAT,
        "shape_id": plan.shape_id,
        "tensors": [[list(t.shape), list(t.strides), t.dtype, t.offset] for t in plan.tensors],
        "inputs": list(plan.inputs),
        "outputs": list(plan.outputs),
        "output_kind": plan.output_kind,
        "import_steps": plan.import_steps,
        "steps": [_encode_step(step) for step in plan.steps],
    }


def _encode_step(step: Step) -> dict[str, Any]:
    if isinstance(step, OpStep):
        return {
            "op": step.op,
            "args": [encode_value(a) for a in step.args],
            "kwargs": {name: encode_value(v) for name, v in step.kwargs},
            "outs": [None if out is None else out.number for out in step.outs],
            "line": step.line,
        }
    if isinstance(step, ConstantStep):
        data = base64.b64encode(step.data).decode("ascii")
        return {"constant": step.out.number, "data": data, "line": step.line}
    return {
        "launch": step.kernel,
        "source": step.source,
        "function": step.function,
        "grid": list(step.grid),
        "args": [[a.name, a.type, encode_value(a.value)] for a in step.args],
        "origin": step.origin,
        "line": step.line,
    }


def parse_plan(document: Any) -> Plan:
    """Read a plan from its JSON document.

    Raises:
        ArtifactError: the document is not a valid plan; the message names the place.
    """
    fields = _object(document, "plan")
    _only(fields, "plan", "format shape_id tensors inputs outputs output_kind import_steps steps")
    if fields.get("format") != FORMAT:
        raise ArtifactError(f"plan format {fields.get('format')!r} is not {FORMAT}; build the artifact again")
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
                if out.number in plan.inputs:
                    raise ArtifactError(f"plan: steps[{index}] redefines input tensor {out.number}")
                defined.add(out.number)
    missing = [n for n in plan.outputs if n not in defined]
    if missing:
        raise ArtifactError(f"plan: output tensor {missing[0]} is never defined")


def used_tensors(step: Step) -> tuple[int, ...]:
    """Return the numbers of the tensors that a step takes as arguments."""
    if isinstance(step, ConstantStep):
        return ()
    if isinstance(step, LaunchStep):
        return tuple(n for a in step.args for n in _tensors_in(a.value))
    return tuple(n for v in (*step.args, *(v for _, v in step.kwargs)) for n in _tensors_in(v))


def _tensors_in(value: Value) -> tuple[int, ...]:
    if isinstance(value, Tensor):
        return (value.number,)
    if isinstance(value, Descriptor):
        return (value.base.number,)
    if isinstance(value, tuple):
        return tuple(n for item in value for n in _tensors_in(item))
    return ()


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
        raise ArtifactError(f"plan: {where} must be an integer from {low} to {high}, not {str(item)[:40]}")
    return item


def _integers(item: Any, where: str, low: int, high: int) -> tuple[int, ...]:
    return tuple(_integer(v, where, low, high) for v in _list(item, where, MAX_DIMENSIONS))


def _numbers(item: Any, where: str, count: int) -> tuple[int, ...]:
    return tuple(_integer(n, where, 0, count - 1) for n in _list(item, where, MAX_ARGUMENTS))


def _tensor(item: Any, count: int, where: str) -> Tensor:
    return Tensor(_integer(item, f"{where} tensor number", 0, count - 1))


def _match(item: Any, pattern: re.Pattern[str], where: str) -> str:
    if not isinstance(item, str) or not pattern.fullmatch(item):
        raise ArtifactError(f"plan: {where} is not well formed: {str(item)[:60]!r}")
    return item


def _one_of(item: Any, choices: tuple[str, ...], where: str) -> str:
    if item not in choices:
        raise ArtifactError(f"plan: {where} must be one of {', '.join(choices)}, not {str(item)[:40]!r}")
    return str(item)
