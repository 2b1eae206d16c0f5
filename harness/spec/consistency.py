"""What the fields of a task.yml must be to one another: names known, tolerances complete, shapes its own. Pure.

Every fault is told, not just the first, each as "PLACE: MESSAGE". Where some fields could not be read at all, the
others are still held against one another, and nothing is said that would only follow from those.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from harness.errors import SpecError
from harness.spec.expression import evaluate, expression_names
from harness.spec.wording import NAMES_INPUTS, SHOWN_CHARACTERS, hint_of_names, hint_of_number

if TYPE_CHECKING:
    from harness.spec.problem import Axis, Problem, TensorSpec

Reader = Callable[..., bool]  # field names -> whether all of them could be read


def find_inconsistencies(problem: Problem, readable: Collection[str] | None = None) -> Iterator[str]:
    """Find everything in a problem's fields that does not fit together.

    Args:
        problem: as read, field by field.
        readable: the fields that could be read; all where None.

    Yields:
        Faults, in the order of the fields.
    """

    def read(*fields: str) -> bool:
        return readable is None or all(field in readable for field in fields)

    unknown = list(_unknown_names(problem, read)) if read("axes", "constants") else []
    yield from _clashes(problem, read)
    yield from unknown
    if read("outputs", "tolerance"):
        yield from _tolerance_faults(problem)
    if read("distributions"):
        yield from _default_faults(problem)
    if read("axes", "distributions"):
        countable = not unknown and read("constants", "inputs", "outputs", "cost")
        for where, entries in _shape_lists(problem, read):
            for index, entry in enumerate(entries):
                yield from entry_faults(problem, entry, f"{where}.{index}", countable=countable)
        for name, suite in problem.suites.items() if read("suites") else ():
            if suite.distribution is not None:
                yield from _distribution_faults(problem, suite.distribution, f"suites.{name}.distribution")


def entry_faults(
    problem: Problem, entry: Mapping[str, int | str], where: str, *, countable: bool = True
) -> Iterator[str]:
    """Find what is wrong with an entry of a list of shapes: a size for each axis, and perhaps a distribution.

    Args:
        problem: whose shape it is.
        entry: the entry.
        where: its place in the document.
        countable: whether sizes and costs can be computed, the formulas being sound.
    """
    faults = list(_axis_faults(problem, entry, where))
    if (distribution := entry.get(NAMES_INPUTS)) is not None:
        faults += _distribution_faults(problem, distribution, f"{where}.distribution")
    yield from faults
    if countable and not faults:
        yield from _size_faults(problem, {axis: int(entry[axis]) for axis in problem.axes}, where)


def _default_faults(problem: Problem) -> Iterator[str]:
    named = problem.distributions.get("default")
    if not problem.distribution_names:
        yield "distributions.default: must name one of them, and there is none: write `NAME: what it draws` for each"
    elif named is None:
        yield f"distributions.default: is missing; one of {', '.join(problem.distribution_names)} is expected"
    else:
        yield from _distribution_faults(problem, named, "distributions.default")


def _distribution_faults(problem: Problem, named: int | str, where: str) -> Iterator[str]:
    names = problem.distribution_names
    if names and named not in names:  # where there is none, that is the fault to tell
        yield f"{where}: {named} is not one of {', '.join(names)}{hint_of_names(str(named), names)}"


def _axis_faults(problem: Problem, entry: Mapping[str, int | str], where: str) -> Iterator[str]:
    for name, axis in problem.axes.items():
        size = entry.get(name)
        if size is None:
            yield f"{where}.{name}: is missing; a whole number is expected, the axis's size"
        elif not isinstance(size, int):
            found = f"(found {size[:SHOWN_CHARACTERS]!r})"
            yield f"{where}.{name}: a whole number is expected {found}{hint_of_number(size)}"
        elif size < axis.minimum or size % axis.multiple_of:
            yield f"{where}.{name}: must be {_demands(axis, size)} (found {size})"
    for name in sorted(set(entry) - set(problem.axes) - {NAMES_INPUTS}):
        axes = list(problem.axes)
        yield f"{where}.{name}: {name} is not an axis; axes are {', '.join(axes)}{hint_of_names(name, axes)}"


def _demands(axis: Axis, size: int) -> str:
    least = [f"at least {axis.minimum}"] if axis.minimum > 1 or size < 1 else []
    return " and ".join([*least, *([f"a multiple of {axis.multiple_of}"] if axis.multiple_of > 1 else [])])


def _size_faults(problem: Problem, shape: Mapping[str, int], where: str) -> Iterator[str]:
    values = problem.values(shape)
    for group, tensors in (("inputs", problem.inputs), ("outputs", problem.outputs)):
        for tensor in tensors:
            try:
                sizes = tensor.sizes(values)
            except SpecError as error:
                yield f"{where}: {group}.{tensor.name}.shape: {error}"
                continue
            if min(sizes, default=1) < 1:
                yield f"{where}: {group}.{tensor.name}.shape: {sizes} holds no element"
    for field, text in problem.cost.model_dump().items():
        try:
            if evaluate(text, values) < 0:
                yield f"{where}: cost.{field}: {text!r} is negative"
        except SpecError as error:
            yield f"{where}: cost.{field}: {error}"


def _unknown_names(problem: Problem, read: Reader) -> Iterator[str]:
    known = set(problem.axes) | set(problem.constants)
    for group in ("inputs", "outputs"):
        tensors: tuple[TensorSpec, ...] = getattr(problem, group)
        for tensor in tensors if read(group) else ():
            for size in tensor.shape:
                yield from _name_faults(f"{group}.{tensor.name}.shape", size, known)
    for field, text in problem.cost.model_dump().items() if read("cost") else ():
        yield from _name_faults(f"cost.{field}", text, known)


def _name_faults(where: str, text: str | int, known: set[str]) -> Iterator[str]:
    try:
        unknown = expression_names(text) - known
    except SpecError as error:
        yield f"{where}: {error}"
        return
    for name in sorted(unknown):
        hint = hint_of_names(name, sorted(known))
        yield f"{where}: {text!r} uses {name}, which is neither an axis nor a constant{hint}"


def _clashes(problem: Problem, read: Reader) -> Iterator[str]:
    if read("axes") and NAMES_INPUTS in problem.axes:
        yield f"axes.{NAMES_INPUTS}: an axis cannot be called so: in a shape the word names the inputs' distribution"
    for name in sorted(set(problem.axes) & set(problem.constants)) if read("axes", "constants") else ():
        yield f"constants.{name}: there is an axis {name} already"
    for group in ("inputs", "outputs"):
        names = [tensor.name for tensor in getattr(problem, group)] if read(group) else []
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"{group}: two tensors are called {name}"
    yield from _double_faults(problem) if read("inputs", "outputs") else ()


def _double_faults(problem: Problem) -> Iterator[str]:
    """An output that is a buffer stands under inputs too, and is the same tensor there."""
    given = {tensor.name: tensor for tensor in problem.inputs}
    for output in problem.outputs:
        double = given.get(output.name)
        if double is None or (double.shape, double.dtype) == (output.shape, output.dtype):
            continue
        if double.buffer:
            told = "is a buffer of another shape or dtype under inputs: declare the same tensor"
        else:
            told = "is an input too, of another shape or dtype: rename it, or mark the input `buffer: true`"
        yield f"outputs.{output.name}: {output.name} {told}"


def _tolerance_faults(problem: Problem) -> Iterator[str]:
    names = {tensor.name for tensor in problem.outputs}
    for name in sorted(names - set(problem.tolerance)) if "all" not in problem.tolerance else ():
        yield f"tolerance: output {name} has none; give {name} or all"
    for name in sorted(set(problem.tolerance) - names - {"all"}):
        known = sorted(names)
        yield f"tolerance.{name}: {name} is not an output; outputs are {', '.join(known)}{hint_of_names(name, known)}"


def _shape_lists(problem: Problem, read: Reader) -> Iterator[tuple[str, tuple[Mapping[str, int | str], ...]]]:
    for role in ("tests", "benchmarks"):
        if read(role):
            yield role, getattr(problem, role)
    for name, suite in problem.suites.items() if read("suites") else ():
        yield f"suites.{name}.tests", suite.tests or ()
        yield f"suites.{name}.benchmarks", suite.benchmarks or ()
