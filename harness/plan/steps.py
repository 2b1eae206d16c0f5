"""The launch plan of one case: the host program and the kernel launches of one call of `custom_kernel`.

Frozen dataclasses and the questions that they answer by themselves; no validation. The package imports the standard
library only, because the GPU runner ships it to machines that have little else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.dtypes import DTYPE_BYTES


@dataclass(frozen=True)
class TensorMeta:
    """A tensor of the plan, as the tracer saw it. Strides and offset count elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    offset: int = 0

    @property
    def elements(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """The size of the elements in bytes, gaps not counted."""
        return self.elements * DTYPE_BYTES[self.dtype]

    @property
    def span_bytes(self) -> int:
        """The memory from the first element to the last in bytes, gaps counted."""
        if not self.elements:
            return 0
        last = sum((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))
        return (last + 1) * DTYPE_BYTES[self.dtype]

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
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
        """The kernel launches, in order."""
        return tuple(step for step in self.steps if isinstance(step, LaunchStep))


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor of this shape, in elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


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
