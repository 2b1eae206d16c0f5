"""The recorder: every torch operation and kernel launch of one process, in order, as steps of a plan.

Owns tensor numbers, the encoding of arguments and the dispatch mode that sees the operations. It records what
happens, useful or not; `plan_builder` drops what no output depends on. Everything it sees is the submission's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, TypeGuard

import torch
import triton.language as tl
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from triton.tools.tensor_descriptor import TensorDescriptor

from harness.plan import (
    Argument,
    ConstantStep,
    Descriptor,
    LaunchStep,
    OpStep,
    Step,
    Tensor,
    TensorMeta,
    Value,
)
from harness.plan.parse import MAX_CONSTANT_BYTES
from harness.trace.blame import submission_line
from harness.trace.encoding import content_bytes, describe_tensor, encode_named, find_storage, written_tensors
from harness.trace.failures import TraceError

# Operators that return their argument under another name: torch calls them on its own account.
_SAME_TENSOR = (torch.ops.aten.lift_fresh.default, torch.ops.aten.detach.default, torch.ops.aten.alias.default)


@dataclass(frozen=True)
class Recorded:
    """A step, and the numbers of the tensors whose memory it writes, those that it makes apart."""

    step: Step
    writes: tuple[int, ...]


@dataclass(frozen=True)
class Known:
    """A numbered tensor: the object (kept alive, so that its identity stays its own), its form and its storage."""

    tensor: torch.Tensor
    meta: TensorMeta
    storage: int


class Recorder:
    """Collects steps while the submission is imported and called.

    Attributes:
        path: the submission's file, for line numbers.
        mode: the fake tensor mode whose tensors are the submission's.
        steps: what happened so far.
        tensors: every numbered tensor.
        warnings: what the author should know, each text once, in order.
        empty_launches: of which kernels no program was run, where and why, each text once, in order.
        generated: files that Helion generated; a kernel defined in one of them is Helion's.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.steps: list[Recorded] = []
        self.tensors: list[Known] = []
        self.warnings: dict[str, None] = {}
        self.empty_launches: dict[str, None] = {}
        self.generated: set[str] = set()
        self._numbers: dict[int, int] = {}
        self._kept: list[torch.Tensor] = []
        self._pauses = 0

    @property
    def paused(self) -> bool:
        """Whether a compiler is at work, whose own operations are not the program's."""
        return self._pauses > 0

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Record nothing in this block."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Run a block on fake tensors and record it."""
        with self.mode, _DispatchMode(self):
            yield

    def line(self) -> int:
        """Return the submission's line that is running: in a kernel's host code, that line rather than the call's."""
        return submission_line(self.path, self.generated)

    def call_line(self) -> int:
        """Return the submission's line that called the kernel that is running."""
        return submission_line(self.path)

    def warn(self, text: str) -> None:
        """Keep a warning for the author, once."""
        self.warnings[text] = None

    def note_empty_launch(self, name: str, grid: tuple[int, int, int]) -> None:
        """Remember a launch of no program: it is no step of the plan, and may be why an output is nobody's."""
        where = f"kernel {name} is launched at line {self.call_line()}"
        self.empty_launches[f"{where} with a grid of 0 programs, {grid}, which runs nothing"] = None

    def is_own(self, value: object) -> bool:
        """Tell whether a value is a fake tensor of the submission's world (Helion uses others of its own)."""
        return isinstance(value, FakeTensor) and value.fake_mode is self.mode

    def add_input(self, tensor: torch.Tensor) -> int:
        """Number a tensor that the plan is given."""
        return self._number_new(tensor)

    def add_launch(self, step: LaunchStep, written: tuple[Argument, ...]) -> None:
        """Record a kernel launch, which writes the arguments `written` and no others."""
        values = (argument.value for argument in written)
        bases = (value.base if isinstance(value, Descriptor) else value for value in values)
        self.steps.append(Recorded(step, tuple(base.number for base in bases if isinstance(base, Tensor))))

    def add_operation(self, function: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        """Record an operator call, if its results are the submission's."""
        results = result if isinstance(result, (list, tuple)) else (result,)
        tensors = [value for value in results if isinstance(value, torch.Tensor)]
        if not tensors or not all(self.is_own(value) for value in tensors):
            return
        if function in _SAME_TENSOR:
            self._alias(args[0], tensors[0])
            return
        if self._copy_constant(function, args, tensors[0]):
            return
        encoded = tuple(self.encode(value) for value in args)
        named = tuple((name, self.encode(value)) for name, value in kwargs.items() if _matters(name, value))
        writes = tuple(self.number(value) for value in written_tensors(function, args, kwargs))
        outs = tuple(self._define(value) for value in results)
        step = OpStep(str(function), encoded, named, outs, self.line())
        self.steps.append(Recorded(step, writes))

    def number(self, tensor: torch.Tensor) -> int:
        """Return a tensor's number; a tensor with real content becomes a constant of the plan.

        Raises:
            TraceError: the tensor comes from nowhere that was recorded, or is too large a constant.
        """
        known = self._numbers.get(id(tensor))
        if known is not None:
            return known
        if isinstance(tensor, FakeTensor):
            raise TraceError(
                "unsupported_operation",
                f"a tensor of shape {list(tensor.shape)} comes from an operation that could not be recorded",
            )
        return self._add_constant(tensor)

    def encode(self, value: Any) -> Value:
        """Return the plan's form of an argument.

        Raises:
            TraceError: the plan has no form for such a value.
        """
        if isinstance(value, torch.Tensor):
            return Tensor(self.number(value))
        if isinstance(value, torch.SymInt):
            return int(value)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, Integral):
            return int(value)  # numpy's, for instance
        if isinstance(value, Real):
            return float(value)
        if isinstance(value, (list, tuple)):
            return tuple(self.encode(item) for item in value)
        if isinstance(value, tl.constexpr):
            return self.encode(value.value)
        if isinstance(value, TensorDescriptor):
            return self._encode_descriptor(value)
        return encode_named(value)

    def _encode_descriptor(self, value: Any) -> Descriptor:
        if value.round_f32_to_tf32:
            raise TraceError("unsupported_argument", "a tensor descriptor with round_f32_to_tf32=True")
        shape, strides, block = (tuple(map(int, sizes)) for sizes in (value.shape, value.strides, value.block_shape))
        return Descriptor(Tensor(self.number(value.base)), shape, strides, block, value.padding)

    def _add_constant(self, tensor: torch.Tensor) -> int:
        size = tensor.numel() * tensor.element_size()
        if size > MAX_CONSTANT_BYTES:
            message = f"a constant tensor of {size:,} bytes; {MAX_CONSTANT_BYTES:,} bytes at most can be written out"
            raise TraceError("constant_too_large", message)
        with _disable_current_modes():
            content = tensor.detach().cpu().contiguous()
            data = content_bytes(content)
        number = self._number_new(tensor, describe_tensor(content))
        self.steps.append(Recorded(ConstantStep(Tensor(number), data, self.line()), ()))
        return number

    def _copy_constant(self, function: Any, args: Any, result: torch.Tensor) -> bool:
        """Record a constant's move to the GPU as that constant itself: a plan has no host to move it from."""
        if function is not torch.ops.aten._to_copy.default or args[0].device.type != "cpu":
            return False
        source = self._numbers.get(id(args[0]))
        steps = [recorded.step for recorded in self.steps if _defines_constant(recorded.step, source)]
        if not steps or self.tensors[steps[0].out.number].meta != describe_tensor(result):
            return False
        memory = find_storage(args[0])
        if any(self.tensors[number].storage == memory for recorded in self.steps for number in recorded.writes):
            return False  # it is not what it was
        step = replace(steps[0], out=Tensor(self._number_new(result)), line=self.line())
        self.steps.append(Recorded(step, ()))
        return True

    def _alias(self, source: torch.Tensor, alias: torch.Tensor) -> None:
        """Give a tensor the number of another that it merely wraps."""
        number = self.number(source)
        self._numbers[id(alias)] = number
        self.tensors[number] = Known(alias, self.tensors[number].meta, find_storage(alias))
        self._kept.append(source)

    def _define(self, value: Any) -> Tensor | None:
        """Return the number of a result, or None where it is an argument come back unchanged in form."""
        if not isinstance(value, torch.Tensor):
            return None
        known = self._numbers.get(id(value))
        if known is not None and self.tensors[known].meta == describe_tensor(value):
            return None
        return Tensor(self._number_new(value))

    def _number_new(self, tensor: torch.Tensor, meta: TensorMeta | None = None) -> int:
        number = len(self.tensors)
        self._numbers[id(tensor)] = number
        self.tensors.append(Known(tensor, meta or describe_tensor(tensor), find_storage(tensor)))
        return number


class _DispatchMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Passes every operator on, and tells the recorder of those that are the submission's."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._recorder = recorder

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not self._recorder.paused:
            self._recorder.add_operation(func, args, kwargs or {}, result)
        return result


def _defines_constant(step: Step, number: int | None) -> TypeGuard[ConstantStep]:
    return isinstance(step, ConstantStep) and step.out.number == number


def _matters(name: str, value: Any) -> bool:
    """Leave out keywords that say nothing: None is every operator's default, and no memory is pinned on a GPU."""
    return value is not None and name != "pin_memory"
