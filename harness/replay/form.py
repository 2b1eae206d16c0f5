"""The form of what a submission returns: how many tensors, of which dtype, shape and strides. Pure, no torch.

The same check serves twice: on a plan's output tensors before anything is replayed, and on the file that a runner
hands back. It says nothing about values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.plan import row_major
from harness.replay.asked import Problem
from harness.replay.judgement import Judgement, Reason, failed


@dataclass(frozen=True)
class Form:
    """Dtype and shape of a tensor, and its strides in elements where they are known."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None


def check_form(
    problem: Problem, sizes: dict[str, int], got: Sequence[Form], kind: str | None = None
) -> Judgement | None:
    """Compare the returned tensors' form with the one that the problem declares for a shape.

    Args:
        problem: the problem.
        sizes: the axis sizes of the case.
        got: the returned tensors, in order.
        kind: how they were returned ("tensor", "tuple" or "list"), if known.

    Returns:
        None if all is as declared, else the judgement, worded for the submission's author.
    """
    fault = _check_arity(problem, len(got), kind)
    if fault is not None:
        return failed("wrong_arity", fault)
    checks: tuple[Reason, ...] = ("wrong_dtype", "wrong_shape", "wrong_strides")
    faults = {reason: _first_fault(problem, sizes, got, reason) for reason in checks}
    return next((failed(reason, text) for reason, text in faults.items() if text), None)


def _check_arity(problem: Problem, count: int, kind: str | None) -> str | None:
    names = [tensor.name for tensor in problem.outputs]
    if count != len(names):
        wanted = f"one tensor, {names[0]}" if len(names) == 1 else f"a tuple of {len(names)}: {', '.join(names)}"
        return f"custom_kernel returned {count} tensor{'' if count == 1 else 's'}; {problem.name} asks for {wanted}"
    if count == 1 and kind in ("tuple", "list"):
        return f"custom_kernel returned a {kind} of one tensor; return the tensor {names[0]} itself"
    return None


def _first_fault(problem: Problem, sizes: dict[str, int], got: Sequence[Form], reason: Reason) -> str | None:
    for spec, shape, form in zip(problem.outputs, problem.output_sizes(sizes), got, strict=True):
        if reason == "wrong_dtype" and form.dtype != spec.dtype:
            return f"output {spec.name} is {form.dtype}; {spec.dtype} is expected"
        if reason == "wrong_shape" and form.shape != shape:
            axes = ", ".join(str(size) for size in spec.shape)
            return f"output {spec.name} has shape {form.shape}; {shape} is expected, that is [{axes}]"
        if reason == "wrong_strides" and form.strides is not None and not _row_major(form):
            return (
                f"output {spec.name} has strides {form.strides}; it must be contiguous, with strides "
                f"{row_major(shape)}: allocate it so, or return .contiguous()"
            )
    return None


def _row_major(form: Form) -> bool:
    """Whether the tensor is contiguous; the stride of an axis of size 1 means nothing."""
    assert form.strides is not None
    if len(form.strides) != len(form.shape):
        return False
    pairs = zip(form.shape, form.strides, row_major(form.shape), strict=True)
    return 0 in form.shape or all(size == 1 or stride == wanted for size, stride, wanted in pairs)
