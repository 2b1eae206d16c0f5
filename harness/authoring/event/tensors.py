"""Our tensors from what was seen of an event's: names, sizes over axes, which of them are buffers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.authoring.event.seen import Form, Seen
from harness.authoring.event.sizes import fit_size

UNKNOWN = "FIXME"  # no axis is called so: check-problem asks for it


@dataclass(frozen=True)
class Tensor:
    """A tensor of the interface.

    Attributes:
        name: its name.
        shape: its sizes as expressions.
        dtype: its dtype.
        buffer: whether the kernel writes it and the harness makes it.
        doubts: what a person should look at, in sentences.
    """

    name: str
    shape: tuple[str | int, ...]
    dtype: str
    buffer: bool = False
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Interface:
    """The tensors of a problem, and whether the data of its event is one tensor instead of a tuple."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    single: bool
    doubts: tuple[str, ...]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors: inputs, then those outputs that are no buffers among them."""
        names = {tensor.name for tensor in self.inputs}
        return (*self.inputs, *(tensor for tensor in self.outputs if tensor.name not in names))


def find_interface(
    seen: Sequence[Seen], shapes: Sequence[Mapping[str, int]], inputs: Sequence[str], outputs: Sequence[str]
) -> Interface:
    """Return the interface that all calls showed.

    Args:
        seen: a call for each shape.
        shapes: axes and their sizes.
        inputs: names from the code; made up where they do not fit.
        outputs: likewise.
    """
    first = seen[0]
    names = list(inputs) if len(inputs) == len(first.inputs) else _numbered("input", len(first.inputs))
    buffers = {index for index in first.same if index >= 0} & set(_always_overwritten(seen))
    given = tuple(
        _tensor(name, [call.inputs[i] for call in seen], shapes, buffer=i in buffers) for i, name in enumerate(names)
    )
    fresh = list(outputs) if len(outputs) == len(first.outputs) else _numbered("output", len(first.outputs))
    made = tuple(
        _tensor(names[same] if same in buffers else fresh[i], [call.outputs[i] for call in seen], shapes)
        for i, same in enumerate(first.same)
    )
    return Interface(given, made, first.single, tuple(_doubts(first, buffers, names)))


def _always_overwritten(seen: Sequence[Seen]) -> set[int]:
    return set.intersection(*({*call.same} | {*call.modified} for call in seen))


def _numbered(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}_{number}" for number in range(count)]


def _tensor(name: str, forms: Sequence[Form], shapes: Sequence[Mapping[str, int]], *, buffer: bool = False) -> Tensor:
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
    return Tensor(name, tuple(sizes), forms[0].dtype, buffer, tuple(doubts))


def _doubts(first: Seen, buffers: set[int], names: Sequence[str]) -> Iterator[str]:
    for index in first.modified:
        if index not in buffers:
            yield f"ref_kernel changes its input {names[index]}: ours may not, and works on a copy"
    for output, index in enumerate(first.same):
        if index >= 0 and index not in buffers:
            yield f"ref_kernel returns its input {names[index]} as output {output}"
