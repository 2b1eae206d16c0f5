"""A problem's Python, read but not run: whether each file is there, parses, and has the functions it must have.

What reference.py takes from outside of itself is `spec.outside`'s to find, as wherever a problem is loaded. What
running it shows is for `qualify.examine`; a file that is at fault here need not be run to know that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.authoring.finding import Fault
from harness.spec.outside import find_outside_faults


@dataclass(frozen=True)
class _Module:
    """What a file of the folder must define.

    Attributes:
        purpose: what is there, for whoever lacks the file.
        functions: name -> its parameters, as they are called.
    """

    purpose: str
    functions: Mapping[str, tuple[str, ...]]


MODULES = {
    "reference.py": _Module(
        "a problem needs generate() and reference() there",
        {"generate": ("shape", "distribution", "generator"), "reference": ("inputs", "shape")},
    ),
    "mutants.py": _Module(
        "a problem needs compute() and MUTANTS there to be qualified",
        {"compute": ("inputs", "shape", "arithmetic")},
    ),
}


_STARTER = _Module("teams begin with a copy of the starter", {"custom_kernel": ("data",)})


def find_source_faults(folder: Path) -> dict[str, tuple[Fault, ...]]:
    """Return what is wrong with each Python file of a folder, as far as reading it shows; nothing for a sound one."""
    return {name: tuple(_module_faults(folder / name, module)) for name, module in MODULES.items()}


def find_starter_faults(path: Path) -> tuple[Fault, ...]:
    """Return what is wrong with a starter, as far as reading it shows; that it compiles is for `harness submit`."""
    return tuple(_module_faults(path, _STARTER))


def mutant_lines(folder: Path) -> dict[str, int]:
    """Return the lines of the functions of a folder's mutants.py, by name; none where it cannot be parsed."""
    try:
        tree = ast.parse((folder / "mutants.py").read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return {}
    return {node.name: node.lineno for node in tree.body if isinstance(node, ast.FunctionDef)}


def _module_faults(path: Path, module: _Module) -> Iterator[Fault]:
    if not path.is_file():
        yield Fault(f"{path}: no such file; {module.purpose}")
        return
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        yield Fault(f"{path}: not valid Python: {error.msg}", error.lineno)
        return
    except ValueError:
        yield Fault(f"{path}: not UTF-8 text")
        return
    if path.name == "reference.py":
        yield from (Fault(f"{path}: {fault}") for fault in find_outside_faults(path.read_bytes()))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    bound = {name for node in tree.body for name in _bound_names(node)}
    for name, parameters in module.functions.items():
        if not bound & {name, "*"}:
            yield Fault(f"{path}: defines no function {name}({', '.join(parameters)})")
        elif name in functions:
            yield from _signature_faults(path, functions[name], parameters)
    if path.name == "mutants.py" and "MUTANTS" not in bound:
        yield Fault(f"{path}: defines no MUTANTS, a dict of name -> function of (inputs, shape)")


def _bound_names(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of the module binds."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name for alias in node.names)
    else:
        yield from (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _signature_faults(path: Path, function: ast.FunctionDef, wanted: tuple[str, ...]) -> Iterator[Fault]:
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    needed = len(names) - len(arguments.defaults)
    keywords = [a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None]
    fits = (needed <= len(wanted) <= len(names) or arguments.vararg) and not keywords
    if wanted[-1] == "arithmetic":  # which is passed by its name
        given = names + [argument.arg for argument in arguments.kwonlyargs]
        fits = needed <= len(wanted) and ("arithmetic" in given or arguments.kwarg is not None)
    if not fits:
        found = ", ".join(names + keywords)
        told = f"{function.name}({found}) is called as {function.name}({', '.join(wanted)})"
        yield Fault(f"{path}: {told}: give it these parameters", function.lineno)
