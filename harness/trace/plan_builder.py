"""From what was recorded to a plan: drop the steps that no output depends on, number the tensors anew.

Owns liveness and numbering. A step counts by the memory that it writes, not by the tensor object: a kernel may
write an output through a view of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.plan import (
    DTYPE_BYTES,
    Argument,
    ConstantStep,
    Descriptor,
    LaunchStep,
    OpStep,
    Plan,
    Step,
    Tensor,
    Value,
    used_tensors,
)
from harness.trace.failures import TraceError
from harness.trace.recorder import Known, Recorded


def build_plan(
    shape_id: str,
    tensors: Sequence[Known],
    recorded: Sequence[Recorded],
    imported: int,
    inputs: Sequence[int],
    outputs: Sequence[int],
    output_kind: str,
) -> Plan:
    """Return the plan of one call.

    Args:
        shape_id: the shape that was traced.
        tensors: every numbered tensor of the process.
        recorded: every step, those of the import first.
        imported: how many of `recorded` come from the import.
        inputs: numbers of the data tuple's tensors.
        outputs: numbers of the returned tensors.
        output_kind: "tensor", "tuple" or "list".

    Raises:
        TraceError: a tensor of the plan has a dtype that the format lacks.
    """
    live = live_steps(tensors, recorded, inputs, outputs)
    steps = [recorded[index].step for index in live]
    numbers: dict[int, int] = {}
    for number in (*inputs, *(n for step in steps for n in _all_tensors(step)), *outputs):
        numbers.setdefault(number, len(numbers))
    metas = tuple(tensors[number].meta for number in numbers)
    _check_dtypes(tensors, steps)
    return Plan(
        shape_id=shape_id,
        tensors=metas,
        inputs=tuple(numbers[n] for n in inputs),
        outputs=tuple(numbers[n] for n in outputs),
        output_kind=output_kind,
        steps=tuple(_renumber(step, numbers) for step in steps),
        import_steps=sum(index < imported for index in live),
    )


def _check_dtypes(tensors: Sequence[Known], steps: Sequence[Step]) -> None:
    for step in steps:
        for number in _made(step):
            dtype = tensors[number].meta.dtype
            if dtype not in DTYPE_BYTES:
                known = ", ".join(DTYPE_BYTES)
                raise TraceError("unsupported_dtype", f"line {step.line} makes a tensor of {dtype}; known are {known}")


def live_steps(
    tensors: Sequence[Known], recorded: Sequence[Recorded], inputs: Sequence[int], outputs: Sequence[int]
) -> list[int]:
    """Return the indices of the steps that matter, in order.

    A step matters if a later one that matters, or the result, uses a tensor that it makes, or reads memory that it
    writes. The inputs' memory always matters: a call that spoils its inputs must show.
    """
    needed = set(outputs)
    memory = {tensors[number].storage for number in (*inputs, *outputs)}
    live = []
    for index in range(len(recorded) - 1, -1, -1):
        step, writes = recorded[index].step, recorded[index].writes
        made = _made(step)
        overwrites = any(tensors[n].storage in memory for n in writes if n not in made)
        if overwrites or needed.intersection(made):
            live.append(index)
            used = used_tensors(step)
            needed.update(used)
            memory.update(tensors[number].storage for number in (*used, *made))
    return live[::-1]


def _made(step: Step) -> tuple[int, ...]:
    if isinstance(step, OpStep):
        return tuple(out.number for out in step.outs if out is not None)
    return (step.out.number,) if isinstance(step, ConstantStep) else ()


def _all_tensors(step: Step) -> tuple[int, ...]:
    return (*used_tensors(step), *_made(step))


def _renumber(step: Step, numbers: dict[int, int]) -> Step:
    if isinstance(step, ConstantStep):
        return replace(step, out=Tensor(numbers[step.out.number]))
    if isinstance(step, LaunchStep):
        return replace(step, args=tuple(Argument(a.name, a.type, _renumbered(a.value, numbers)) for a in step.args))
    return replace(
        step,
        args=tuple(_renumbered(value, numbers) for value in step.args),
        kwargs=tuple((name, _renumbered(value, numbers)) for name, value in step.kwargs),
        outs=tuple(None if out is None else Tensor(numbers[out.number]) for out in step.outs),
    )


def _renumbered(value: Value, numbers: dict[int, int]) -> Value:
    if isinstance(value, Tensor):
        return Tensor(numbers[value.number])
    if isinstance(value, Descriptor):
        return replace(value, base=Tensor(numbers[value.base.number]))
    if isinstance(value, tuple):
        return tuple(_renumbered(item, numbers) for item in value)
    return value
