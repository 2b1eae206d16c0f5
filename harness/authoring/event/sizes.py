"""Sizes of tensors as arithmetic over axes, found from what was seen at several shapes. Pure.

The simplest expression that fits every shape is taken: an axis, a number, a quotient, a count of blocks, a product.
Where two axes had the same size at every shape they cannot be told apart, which is said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations

from harness.errors import SpecError
from harness.spec.expression import evaluate

UNKNOWN = "FIXME"  # no axis is called so: check-problem asks for it
BLOCKS = (16, 32, 64, 128, 256)  # of which a tensor may hold one value each, for the last part of one too

Shape = Mapping[str, int]


@dataclass(frozen=True)
class Size:
    """A size as an expression, None where none was found, and the axes that would have fitted as well."""

    expression: str | int | None
    others: tuple[str, ...] = ()


def fit_size(seen: Sequence[int], shapes: Sequence[Shape]) -> Size:
    """Return the simplest expression that has the seen values at the shapes.

    Args:
        seen: a tensor's size along one dimension, at each shape.
        shapes: the shapes.
    """
    axes = list(shapes[0])
    fitting = [axis for axis in axes if all(shape[axis] == size for shape, size in zip(shapes, seen, strict=True))]
    if fitting:
        return Size(fitting[0], tuple(fitting[1:]))
    if len(set(seen)) == 1:
        return Size(seen[0])
    return Size(next((text for text in _candidates(axes, seen, shapes) if _fits(text, seen, shapes)), None))


def _fits(text: str, seen: Sequence[int], shapes: Sequence[Shape]) -> bool:
    try:
        return all(evaluate(text, shape) == size for shape, size in zip(shapes, seen, strict=True))
    except SpecError:
        return False


def _candidates(axes: Sequence[str], seen: Sequence[int], shapes: Sequence[Shape]) -> Iterator[str]:
    for one, other in permutations(axes, 2):
        yield f"{one}/{other}"
    for axis in (axis for axis in axes if shapes[0][axis] > 0):
        size, first = shapes[0][axis], seen[0]
        yield f"{axis}/{size // first}" if first and size >= first else f"{first // size}*{axis}"
        yield f"{axis}+{first - size}" if first >= size else f"{axis}-{size - first}"
    for axis in axes:
        yield from (f"({axis}+{block - 1})//{block}" for block in BLOCKS)
    for one, other in combinations_with_replacement(axes, 2):
        yield f"{one}*{other}"
        yield f"{one}+{other}"
        yield f"{one}+{other}-1"
        yield f"{one}-{other}+1"
        for third in axes:
            yield f"{one}*{other}/{third}"
    for trio in combinations_with_replacement(axes, 3):
        yield "*".join(trio)


def in_python(size: str | int) -> str:
    """Return a size as Python that looks axes up in `shape`."""
    return ast.unparse(_Lookup().visit(ast.parse(str(size), mode="eval").body))


class _Lookup(ast.NodeTransformer):
    """Axes become lookups in `shape`, exact divisions whole ones."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return node if node.id == UNKNOWN else ast.Subscript(ast.Name("shape"), ast.Constant(node.id))

    def visit_Div(self, node: ast.Div) -> ast.AST:
        return ast.FloorDiv()
