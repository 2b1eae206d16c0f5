"""What an event's code calls its tensors: what `generate_input` returns and `ref_kernel` unpacks. Pure: syntax trees.

A name is empty where the code has none, or the same one twice.
"""

from __future__ import annotations

import ast

NOTHING = "_"  # what nobody reads is called so
ITSELF = ("T", "mT", "t", "contiguous", "to", "cuda", "cpu", "clone", "detach")  # leave a tensor what it is


def name_data(generate: ast.FunctionDef, refer: ast.FunctionDef) -> tuple[str, ...]:
    """Return what the items of the data are called: by the generator, and by the reference where that says nothing."""
    returned, unpacked = name_results(generate), _unpacked(refer)
    if len(returned) != len(unpacked):
        return returned if any(returned) and len(returned) > 1 else unpacked or returned
    return _once([one or other for one, other in zip(returned, unpacked, strict=True)])


def name_results(function: ast.FunctionDef) -> tuple[str, ...]:
    """Return what a function calls the items that it returns, by its last return."""
    returns = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    return _names(returns[-1]) if returns else ()


def _unpacked(function: ast.FunctionDef) -> tuple[str, ...]:
    """The names that `a, b = data` gives to a function's only argument."""
    data = function.args.args[0].arg if function.args.args else ""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == data:
            return _names(node.targets[0])
    return ()


def _names(node: ast.expr) -> tuple[str, ...]:
    return _once([_name(part) for part in (node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node])])


def _name(node: ast.expr) -> str:
    """The variable in an expression such as `x`, `x.T` or `x.contiguous()`."""
    while isinstance(node, ast.Call) or (isinstance(node, ast.Attribute) and node.attr in ITSELF):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) and node.id != NOTHING else ""


def _once(names: list[str]) -> tuple[str, ...]:
    return tuple(name if names.count(name) == 1 else "" for name in names)
