"""Which arguments a kernel writes, read off its TTIR.

Owns one question: could this kernel store through this pointer? The answer errs towards yes: a launch that is kept
for nothing costs a little time, one that is dropped wrongly gives a wrong result. It serves to drop an import's
warm-up launches from a plan, not to protect anything.
"""

from __future__ import annotations

from typing import Any

_READS = {"tt.load", "tt.descriptor_load", "tt.descriptor_gather"}
# Pointers that cannot be followed: through memory, control flow, assembly, calls.
_OPAQUE = {"tt.int_to_ptr", "scf.yield", "scf.condition", "cf.br", "cf.cond_br", "tt.elementwise_inline_asm", "tt.call"}


def written_arguments(module: Any, types: tuple[str, ...]) -> tuple[bool, ...]:
    """Tell for each parameter of a kernel whether the kernel may write through it.

    Args:
        module: the kernel's TTIR module.
        types: the Triton types of its parameters, constants left out.
    """
    function = module.get_function(module.get_entry_func_name())
    positions = _argument_positions(types)
    if positions[-1] != function.get_num_args():
        return (True,) * len(types)
    pointers = _Pointers()
    module.walk(pointers.visit)
    if pointers.lost:
        return (True,) * len(types)
    classes = [pointers.find(function.args(position).id()) for position in positions[:-1]]
    written = {pointers.find(value) for value in pointers.written}
    if not written <= set(classes):
        return (True,) * len(types)
    return tuple(_is_pointer(kind) and group in written for kind, group in zip(types, classes, strict=True))


def _argument_positions(types: tuple[str, ...]) -> list[int]:
    """Return where each parameter starts among the function's arguments, and how many there are in all.

    A tensor descriptor is followed by its shape and its strides.
    """
    positions = [0]
    for kind in types:
        dimensions = kind[kind.index("[") :].count(",") + 1 if kind.startswith("tensordesc") else 0
        positions.append(positions[-1] + 1 + 2 * dimensions)
    return positions


def _is_pointer(kind: str) -> bool:
    return "*" in kind or "tt.ptr" in kind or "tensordesc" in kind


class _Pointers:
    """Values of pointer type in classes: two are in one class if one may be computed from the other."""

    def __init__(self) -> None:
        self.written: set[int] = set()
        self.lost = False
        self._parents: dict[int, int] = {}

    def find(self, value: int) -> int:
        """Return the representative of a value's class."""
        while value in self._parents:
            value = self._parents[value]
        return value

    def visit(self, operation: Any) -> None:
        """Note what an operation does to pointers."""
        name = operation.get_name()
        used = _pointer_ids(operation.get_operand(i) for i in range(operation.get_num_operands()))
        made = _pointer_ids(operation.get_result(i) for i in range(operation.get_num_results()))
        self.lost |= name in _OPAQUE and bool(used or made)
        for value in (*used, *made):
            self._join(value, (*used, *made)[0])
        if used and not made and name not in _READS and not name.startswith("scf."):
            self.written.update(used)

    def _join(self, one: int, other: int) -> None:
        one, other = self.find(one), self.find(other)
        if one != other:
            self._parents[one] = other


def _pointer_ids(values: Any) -> tuple[int, ...]:
    return tuple(value.id() for value in values if _is_pointer(str(value.get_type())))
