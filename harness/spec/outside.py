"""What a problem's reference.py takes from outside of itself, by reading it: a version covers task.yml and that file.

Another file that it imported or read could change what is right under one version, and a board would mix two problems.
So a reference has torch and the standard library alone, and no name by which Python commonly reaches a file. Organisers
are trusted not to hide such a thing (behind `os`, `torch.load` or `exec`, say), not trusted never to overlook it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import lru_cache

TORCH = "torch"
# Of the standard library, what is there to read or run other files.
READING_MODULES = frozenset({"importlib", "pathlib", "pkgutil", "runpy"})
READING_NAMES = frozenset({"__file__", "__import__", "__loader__", "__spec__", "open"})

_ALONE = "torch and the standard library are all that it may import, for the problem's version covers no other file"
_HERE = "write what it needs into it, for the problem's version covers no other file"


@lru_cache(maxsize=64)
def find_outside_faults(source: bytes) -> tuple[str, ...]:
    """Return what a reference.py takes from outside of itself, in the order of its lines; each says where.

    Args:
        source: the file's content; where that is no Python, importing it tells so, and there is nothing to say here.
    """
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found = [(line, fault) for node in nodes for line, fault in _faults(node)]
    return tuple(dict.fromkeys(fault for _, fault in sorted(found, key=lambda pair: pair[0])))


def _faults(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _import_faults(alias.name, node.lineno)
    elif isinstance(node, ast.ImportFrom):
        yield from _import_faults("." * node.level + (node.module or ""), node.lineno)
    elif isinstance(node, ast.Name) and node.id in READING_NAMES:
        yield node.lineno, f"uses {node.id} at line {node.lineno}, by which other files are reached: {_HERE}"


def _import_faults(module: str, line: int) -> Iterator[tuple[int, str]]:
    package = module.split(".")[0]
    if package in READING_MODULES:
        yield line, f"imports {module} at line {line}, by which other files are reached: {_HERE}"
    elif package != TORCH and package not in sys.stdlib_module_names:
        yield line, f"imports {module} at line {line}: {_ALONE}"
