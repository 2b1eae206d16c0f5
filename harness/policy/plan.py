"""A plan against its division: caps, host operators, and who wrote the outputs.

Memory is followed by storage: a view shares its base's, a copy remembers whose elements it holds. The last writer of
every output's storage must be a Helion launch, or a plain copy of what one wrote. A launch counts as a writer of every
tensor that it is given, inputs excepted (they must come back unchanged). That can only be too kind: a decoy that writes
nothing leaves the output wrong, and the judge sees it. All of it rests on knowing every alias, so an operator that
works on its first argument's memory must name that first, and no tensor where torch expects a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from harness.plan import ConstantStep, LaunchStep, OpStep, Plan, Tensor, Value, used_tensors
from harness.policy.operators import IN_PLACE, Role, find_role
from harness.policy.violation import Violation


@dataclass(frozen=True)
class Limits:
    """How large a plan may be; memory as a multiple of inputs and outputs, with a base for small shapes."""

    steps: int = 512
    launches: int = 128
    tensors: int = 2048
    memory_multiple: int = 16
    memory_base_bytes: int = 64 << 20
    constant_bytes: int = 64 << 10
    grid_programs: int = 1 << 28


@dataclass
class _Memory:
    """What is known of one storage: who wrote it last, and whether its content may depend on an input."""

    writer: str
    tainted: bool
    line: int = 0
    fixed: bool = False  # an input: whatever is launched on it, its elements stay nobody's work


@dataclass
class _State:
    division: str
    memory: dict[int, _Memory] = field(default_factory=dict)  # by tensor number; views share the object
    violations: list[Violation] = field(default_factory=list)


def check_plan(
    plan: Plan, division: str, buffers: tuple[int, ...] = (), limits: Limits | None = None
) -> tuple[Violation, ...]:
    """Return what a plan violates, in order of the program.

    Args:
        plan: the plan.
        division: "closed" or "open".
        buffers: positions of the inputs that are output buffers, which a launch may write.
        limits: the caps, the usual ones by default.
    """
    state = _State(division)
    for position, number in enumerate(plan.inputs):
        state.memory[number] = _Memory("input", tainted=True, fixed=position not in buffers)
    state.violations += _check_caps(plan, limits or Limits())
    for step in plan.steps:
        if isinstance(step, LaunchStep):
            _follow_launch(step, state)
        elif isinstance(step, ConstantStep):
            state.memory[step.out.number] = _Memory("constant", tainted=False)
        else:
            _follow_op(step, state)
    if not state.violations:
        state.violations += _check_outputs(plan, state)
    return tuple(state.violations)


def _check_caps(plan: Plan, limits: Limits) -> list[Violation]:
    interface = sum(plan.tensors[n].size_bytes for n in {*plan.inputs, *plan.outputs})
    allowed = limits.memory_multiple * interface + limits.memory_base_bytes
    constants = sum(len(s.data) for s in plan.steps if isinstance(s, ConstantStep))
    grid = max((s.grid[0] * s.grid[1] * s.grid[2] for s in plan.launches), default=0)
    sizes = {
        "steps": (len(plan.steps), limits.steps, "host operations and launches"),
        "launches": (len(plan.launches), limits.launches, "kernel launches"),
        "tensors": (len(plan.tensors), limits.tensors, "tensors"),
        "memory": (_allocated_bytes(plan), allowed, "bytes of memory allocated"),
        "constants": (constants, limits.constant_bytes, "bytes of constants"),
        "grid": (grid, limits.grid_programs, "programs in one grid"),
    }
    return [
        Violation(f"too_many_{name}", f"the call has {size:,} {what}; {most:,} are allowed: reduce them")
        for name, (size, most, what) in sizes.items()
        if size > most
    ]


def _allocated_bytes(plan: Plan) -> int:
    fresh = (Role.ALLOCATE, Role.COPY, Role.CONSTANT, Role.COMPUTE)
    steps = (s for s in plan.steps if isinstance(s, OpStep) and find_role(s.op, "open") in fresh)
    made = (plan.tensors[out.number] for s in steps for out in s.outs if out is not None)
    return sum(max(tensor.size_bytes, tensor.span_bytes) for tensor in made)


def _follow_launch(step: LaunchStep, state: _State) -> None:
    if step.origin == "triton" and state.division == "closed":
        message = f"{step.function} is launched as raw Triton: the closed division takes Helion kernels only"
        state.violations.append(Violation("raw_triton", message, step.line))
    passed = replace(step, args=tuple(a for a in step.args if a.type != "constexpr"))  # the kernel gets no others
    for number in used_tensors(passed):
        memory = state.memory[number]
        if not memory.fixed:
            memory.writer, memory.tainted, memory.line = step.origin, True, step.line


def _follow_op(step: OpStep, state: _State) -> None:
    role = find_role(step.op, state.division)
    arguments = [state.memory[n] for n in used_tensors(step)]
    tainted = any(memory.tainted for memory in arguments)
    if not _is_plain(step, role):
        message = f"{step.op} is not called as torch records it: the tensor that it works on comes first, by position"
        state.violations.append(Violation("host_operation", message, step.line))
    if role is None or (role is Role.COMPUTE and tainted and state.division == "closed"):
        state.violations.append(Violation("host_operation", _explain(step.op, state.division), step.line))
        role = Role.COMPUTE
    first = _first_tensor(step.args)
    target = state.memory.get(first) if first is not None else None
    if role is Role.VIEW and target is not None:
        result = target
    elif role in (Role.FILL, Role.COPY_INTO) and target is not None:
        sources = arguments[1:]
        target.writer, target.line = _writer_of(sources) if sources else "fill", step.line
        target.tainted = target.tainted or tainted
        result = target
    elif step.op in IN_PLACE and target is not None:
        target.writer, target.tainted, target.line = "torch", tainted or target.tainted, step.line
        result = target
    else:
        writer = {Role.COPY: _writer_of(arguments), Role.COMPUTE: "torch", Role.CONSTANT: "constant"}.get(role, "fill")
        result = _Memory(writer, tainted and not _takes_form_only(step), step.line)
    for out in step.outs:
        if out is not None:
            state.memory[out.number] = result


def _takes_form_only(step: OpStep) -> bool:
    """Tell whether an operator allocates in its only tensor's form (`zeros_like`, `new_empty`), reading nothing."""
    name = step.op.split(".")[1]
    return len(used_tensors(step)) == 1 and (name.startswith("new_") or name.endswith("_like"))


def _is_plain(step: OpStep, role: Role | None) -> bool:
    """Tell whether an operator that works on its first argument's memory has just the tensors that it should have."""
    sources = {Role.VIEW: 0, Role.FILL: 1 if step.op == "aten.fill_.Tensor" else 0, Role.COPY_INTO: 1}
    if role not in sources and step.op not in IN_PLACE:
        return True
    count = len(used_tensors(step))
    return _first_tensor(step.args) is not None and (role not in sources or count == 1 + sources[role])


def _writer_of(sources: list[_Memory]) -> str:
    """Return who wrote the elements that a copy takes: Helion only if it wrote all of them that come from data."""
    writers = {memory.writer for memory in sources if memory.tainted} or {memory.writer for memory in sources}
    return writers.pop() if len(writers) == 1 else "mixed"


def _first_tensor(args: tuple[Value, ...]) -> int | None:
    return args[0].number if args and isinstance(args[0], Tensor) else None


def _explain(op: str, division: str) -> str:
    name = op.split(".")[1]
    if division == "closed":
        return (
            f"torch's {name} ({op}) computes on the host program's data: in the closed division the kernel must do it. "
            "Allowed beside launches are allocation, views, fill, copy, cast, pad, cat, and constants of no input"
        )
    return f"{op} is not among the operators that the open division lists"


def _check_outputs(plan: Plan, state: _State) -> list[Violation]:
    allowed = {"helion"} if state.division == "closed" else {"helion", "triton", "torch", "mixed"}
    if not any(step.origin in allowed for step in plan.launches) and state.division == "closed":
        return [Violation("no_helion_launch", "custom_kernel launches no Helion kernel")]
    found = []
    for position, number in enumerate(plan.outputs):
        memory = state.memory[number]
        if memory.writer not in allowed:
            message = (
                f"output {position} was last written by {_WRITERS[memory.writer]}, not by a Helion kernel or a copy of "
                "what one wrote"
            )
            found.append(Violation("output_not_from_kernel", message, memory.line))
    return found


_WRITERS = {
    "input": "nobody (it is an input)",
    "fill": "an allocation or fill",
    "constant": "a constant",
    "torch": "torch",
    "triton": "a raw Triton kernel",
    "mixed": "a copy of several sources",
    "helion": "Helion",
}
