"""Arithmetic over axis names, as task.yml writes sizes and costs: `B*T/C`.

Parsed with Python's own parser, evaluated by an allow-list: integers, names, + - * / // % ** and parentheses. A
division with `/` must come out exact, because it makes a size.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache

from harness.errors import SpecError


def _exact(left: int, right: int) -> int:
    if right == 0 or left % right:
        raise SpecError(f"{left} is not divisible by {right}")
    return left // right


_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: _exact,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}


@lru_cache(maxsize=1024)
def parse_expression(text: str | int) -> ast.expr:
    """Parse an expression and check that it holds nothing but arithmetic.

    Raises:
        SpecError: it does not parse, or holds something else.
    """
    try:
        tree = ast.parse(str(text), mode="eval").body
    except (SyntaxError, ValueError):
        raise SpecError(f"{text!r} is not an expression over axis names, such as B*T/C") from None
    for node in ast.walk(tree):
        allowed = (
            isinstance(node, (ast.Name, ast.Load, ast.BinOp))
            or type(node) in _BINARY
            or (isinstance(node, ast.Constant) and type(node.value) is int)
        )
        if not allowed:
            raise SpecError(f"{text!r}: only integers, axis names and + - * / // % ( ) may be used")
    return tree


def expression_names(text: str | int) -> set[str]:
    """Return the axis names that an expression uses."""
    return {node.id for node in ast.walk(parse_expression(text)) if isinstance(node, ast.Name)}


def evaluate(text: str | int, values: Mapping[str, int]) -> int:
    """Return the value of an expression.

    Raises:
        SpecError: an unknown name, or a division that leaves a rest.
    """
    try:
        return _evaluate(parse_expression(text), values)
    except ZeroDivisionError:
        raise SpecError(f"{text!r} divides by zero") from None
    except SpecError as error:
        raise SpecError(f"{text!r}: {error}") if str(text) not in str(error) else error from None


def _evaluate(node: ast.expr, values: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int)
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in values:
            raise SpecError(f"unknown axis {node.id}; known: {', '.join(values)}")
        return values[node.id]
    assert isinstance(node, ast.BinOp)
    return _BINARY[type(node.op)](_evaluate(node.left, values), _evaluate(node.right, values))
