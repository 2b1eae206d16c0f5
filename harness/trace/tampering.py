"""Was the code generator changed under the trace? What is compared, and what that is worth.

Owns a list of the functions that turn a Helion kernel into IR (Helion's compiler and language, Triton's front end) as
they are before the submission runs, and the comparison afterwards. A submission that replaces one of them writes other
kernels than Helion would: that breaks the closed division's rule, and is refused. It is no proof of the opposite: the
comparison runs in the submission's own process and trusts nothing there to stay as it is. Who hides the traces is not
found here; `harness audit` gives organisers what else there is to see.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

GENERATORS = ("helion._compiler.", "helion.language.", "triton.compiler.code_generator", "triton.language.")
"""Modules, by the beginning of their names, whose functions decide what IR a kernel becomes."""

Table = tuple[str, object]  # of an attribute that is a dictionary: its name and the key


@dataclass(frozen=True)
class _Function:
    """Where a function was defined (it may be seen from many modules), its code and that of those in its tables."""

    home: str
    codes: dict[Table, CodeType]

    def is_in(self, other: _Function | None) -> bool:
        return other is not None and self.codes.items() <= other.codes.items()


class Generator:
    """The functions of the code generator, as they were when this was made."""

    def __init__(self) -> None:
        self._before = dict(_functions())

    def find_changes(self) -> tuple[str, ...]:
        """Return the names of the functions that are not what they were, each where it was defined, sorted.

        Code is compared by value, as Helion loads some of its modules anew; what was added since counts for nothing.
        """
        now = dict(_functions())
        changed = (name for name, found in self._before.items() if not found.is_in(now.get(name)))
        return tuple(sorted({self._before[name].home for name in changed}))


def _functions() -> Iterator[tuple[str, _Function]]:
    """Yield every function by the name under which it is seen."""
    for name, module in list(sys.modules.items()):
        if isinstance(module, ModuleType) and name.startswith(GENERATORS):
            yield from _members(name, vars(module), name)


def _members(owner: str, members: Any, module: str) -> Iterator[tuple[str, _Function]]:
    for name, value in list(members.items()):
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        elif isinstance(value, property):
            value = value.fget
        if isinstance(value, FunctionType):
            home = f"{value.__module__}.{value.__qualname__}"
            yield f"{owner}.{name}", _Function(home, {("", ""): value.__code__, **_tables(value)})
        elif isinstance(value, type) and value.__module__ == module:
            yield from _members(f"{owner}.{name}", vars(value), "")


def _tables(function: FunctionType) -> dict[Table, CodeType]:
    """Return the functions in a function's tables: Helion keeps there how each backend writes an operation."""
    return {
        (name, key): entry.__code__
        for name, table in vars(function).items()
        if isinstance(table, dict)
        for key, entry in list(table.items())
        if isinstance(entry, FunctionType)
    }
