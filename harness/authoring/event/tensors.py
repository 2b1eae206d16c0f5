"""Our tensors from what was seen of an event's: names, sizes over axes, which of them are buffers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.authoring.event.layout import Layout, Slot, clean_name, distinct, flat, name_tensors
from harness.authoring.event.seen import Form, Seen
from harness.authoring.event.sizes import UNKNOWN, fit_size
from harness.errors import UsageError


@dataclass(frozen=True)
class Tensor:
    """A tensor of the interface.

    Attributes:
        name: its name.
        shape: its sizes as expressions.
        dtype: its dtype.
        buffer: whether the kernel writes it and the harness makes it.
        left_out: whether the event makes it and nothing comes of it, so that ours have no such tensor.
        doubts: what a person should look at, in sentences.
    """

    name: str
    shape: tuple[str | int, ...]
    dtype: str
    buffer: bool = False
    left_out: bool = False
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Interface:
    """The tensors of a problem, in the order of the event's data.

    Attributes:
        made: every tensor of the data, those that are left out too.
        outputs: what is returned.
        layouts: how the data packs them, as each call showed.
        in_place: which tensors of the data are the result, where the event's reference returns nothing.
        doubts: what a person should look at, in sentences.
    """

    made: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    layouts: tuple[Layout, ...]
    in_place: tuple[int, ...]
    doubts: tuple[str, ...]

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The inputs that ours have."""
        return tuple(tensor for tensor in self.made if not tensor.left_out)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors: inputs, then those outputs that are no buffers among them."""
        names = {tensor.name for tensor in self.inputs}
        return (*self.inputs, *(tensor for tensor in self.outputs if tensor.name not in names))


@dataclass(frozen=True)
class _Roles:
    """What becomes of tensors: buffers by the output that they are, inputs that nothing comes of."""

    buffers: Mapping[int, int]
    idle: frozenset[int]


def find_interface(
    seen: Sequence[Seen], shapes: Sequence[Mapping[str, int]], inputs: Sequence[str], outputs: Sequence[str]
) -> Interface:
    """Return the interface that all calls showed.

    Args:
        seen: a call for each shape.
        shapes: axes and their sizes.
        inputs: what the code calls the items of the data, empty where it does not.
        outputs: likewise of the result.

    Raises:
        UsageError: the calls showed tensors of other counts, dtypes or numbers of axes.
    """
    first = seen[0]
    if len({_kinds(call) for call in seen}) > 1:
        raise UsageError("the tests do not agree on how many tensors there are, of which dtypes and how many axes")
    names = name_tensors(first.layout, inputs, "input")
    roles = _find_roles(seen)
    written = set(roles.buffers.values())
    made = tuple(
        _tensor(name, [call.inputs[i] for call in seen], shapes, buffer=i in written, left_out=i in roles.idle)
        for i, name in enumerate(names)
    )
    fresh = _name_outputs(outputs, first, {tensor.name for tensor in made if not tensor.left_out})
    results = tuple(
        _tensor(names[roles.buffers[i]] if i in roles.buffers else fresh[i], [c.outputs[i] for c in seen], shapes)
        for i in range(len(first.outputs))
    )
    doubts = tuple(_doubts(first, roles, made))
    in_place = first.same if first.in_place else ()
    return Interface(made, results, tuple(call.layout for call in seen), in_place, doubts)


def _kinds(call: Seen) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(tuple((form.dtype, len(form.sizes)) for form in forms) for forms in (call.inputs, call.outputs))


def _find_roles(seen: Sequence[Seen]) -> _Roles:
    """Tell buffers from inputs: what comes without content and is written in every call.

    A tensor that nobody fills and nobody writes is meant for a result, too: for one of its form, if there is one.
    """
    blank = set.intersection(*({*call.unfilled, *call.zero} for call in seen))
    written = set.intersection(*({*call.same, *call.modified} for call in seen))
    first = seen[0]
    buffers = {output: index for output, index in enumerate(first.same) if index in blank & written}
    idle = set.intersection(*({*call.unfilled} for call in seen)) - written
    for output in range(len(first.outputs)):
        if output not in buffers and first.same[output] < 0:
            alike = (i for i in sorted(idle) if all(call.inputs[i].fits(call.outputs[output]) for call in seen))
            found = next(alike, None)
            if found is not None:
                buffers[output] = found
                idle.discard(found)
    return _Roles(buffers, frozenset(idle))


def _name_outputs(names: Sequence[str], first: Seen, taken: set[str]) -> list[str]:
    """A name for each output that no input has."""
    count = len(first.outputs)
    given = [clean_name(name) for name in names] if len(names) == count else [""] * count
    alone = "output" if "output" not in taken else "result"
    return distinct([name if name not in taken else "" for name in given], alone)


def _tensor(
    name: str,
    forms: Sequence[Form],
    shapes: Sequence[Mapping[str, int]],
    *,
    buffer: bool = False,
    left_out: bool = False,
) -> Tensor:
    doubts: list[str] = []
    sizes: list[str | int] = []
    for dimension in range(len(forms[0].sizes)):
        size = fit_size([form.sizes[dimension] for form in forms], shapes)
        sizes.append(UNKNOWN if size.expression is None else size.expression)
        if size.expression is None:
            doubts.append(f"size {dimension} of {name} follows from the axes in no simple way: write it for {UNKNOWN}")
        elif size.others:
            others = " or ".join(size.others)
            doubts.append(f"size {dimension} of {name} is taken to be {size.expression}; {others} fits all tests too")
    return Tensor(name, tuple(sizes), forms[0].dtype, buffer, left_out, () if left_out else tuple(doubts))


def _doubts(first: Seen, roles: _Roles, made: Sequence[Tensor]) -> Iterator[str]:
    written = set(roles.buffers.values())
    for tensor, form in zip(made, first.inputs, strict=True):
        if not form.contiguous:
            yield f"{tensor.name} does not lie in memory in order of its axes; ours does: transpose it if that matters"
    for index in first.modified:
        if index not in written:
            yield f"ref_kernel changes its input {made[index].name}: ours may not, and works on a copy"
    for output, index in enumerate(first.same):
        if index >= 0 and index not in written:
            yield f"ref_kernel returns its input {made[index].name} as output {output}"
    for index in sorted(written & {*first.zero}):
        yield f"{made[index].name} comes filled with zeros; ours is a buffer full of poison: a kernel writes all of it"
    for index in sorted(roles.idle):
        yield f"{made[index].name} is never filled, read or returned: it was left out"
    if isinstance(first.layout, Slot):
        yield "the data is one tensor; ours is a tuple of it: submissions have to unpack it"
    elif first.layout != flat(len(made)) or roles.idle:
        names = ", ".join(tensor.name for tensor in made if not tensor.left_out)
        yield f"the data is not a tuple of these tensors; ours is ({names}): submissions have to unpack that"
