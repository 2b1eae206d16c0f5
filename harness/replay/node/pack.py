"""Building the node's one file: `python -m harness.replay.node.pack OUT.pyz`.

Packs the modules that a node needs, and no others: what they import is checked against `ALLOWED` here, so that a new
import in one of them is found when the file is built and not on a machine that lacks the package.
"""

from __future__ import annotations

import ast
import os
import sys
import tempfile
import zipapp
from collections.abc import Iterator
from pathlib import Path

import harness
from harness.errors import HarnessError

ALLOWED = frozenset({"torch", "cuda", "cupti"})
"""Packages outside of the standard library that a node's modules may import."""

ALLOWED_ON_CPU = frozenset({"torch", "numpy", "triton", "safetensors"})
"""The same for a node that has no GPU and checks on its CPUs."""

ROOT, CPU_ROOT = "replay.node.__main__", "replay.node.cpu_node"
_STARTED_BY_NAME = ("sandbox.fork_server", "sandbox.launcher")  # nobody imports them: they run by themselves
_MAIN = """import sys
if sys.version_info < (3, 10):
    sys.exit("Python 3.10 or newer is needed")
from harness.{root} import main
sys.exit(main(sys.argv[1:]))
"""


def find_modules(root: str = ROOT) -> dict[str, Path]:
    """Return the package's modules that one of them needs, packages' `__init__` included, by dotted name."""
    found: dict[str, Path] = {}
    waiting = [root, *_STARTED_BY_NAME]
    while waiting:
        name = waiting.pop()
        path = _locate(name)
        if path is None or name in found:
            continue
        found[name] = path
        waiting += [".".join(name.split(".")[:depth]) for depth in range(1, name.count(".") + 1)]
        for imported in imported_names(path):
            if imported.startswith("harness."):
                waiting += [imported.removeprefix("harness."), imported.removeprefix("harness.").rpartition(".")[0]]
    return found


def imported_names(path: Path) -> Iterator[str]:
    """Yield what a module imports when it runs, wherever in it; imports for type checkers only are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {id(n) for block in ast.walk(tree) if _is_for_types(block) for n in ast.walk(block)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def foreign_packages(modules: dict[str, Path]) -> set[str]:
    """Return the packages outside of the standard library and ours that some modules import."""
    roots = {name.split(".")[0] for path in modules.values() for name in imported_names(path)}
    return roots - set(sys.stdlib_module_names) - {"harness", "__future__"}


def build_node(out: Path, *, on_cpu: bool = False) -> None:
    """Write the node's file.

    Args:
        out: where to.
        on_cpu: the program for a machine without a GPU.

    Raises:
        HarnessError: a module imports a package that a node need not have.
    """
    root = CPU_ROOT if on_cpu else ROOT
    modules = find_modules(root)
    foreign = foreign_packages(modules) - (ALLOWED_ON_CPU if on_cpu else ALLOWED)
    if foreign:
        raise HarnessError(f"the node's modules import {', '.join(sorted(foreign))}, which a node need not have")
    package = Path(harness.__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for path in [package / "__init__.py", *modules.values()]:
            copy = tree / "harness" / path.relative_to(package)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
        (tree / "__main__.py").write_text(_MAIN.format(root=root), encoding="utf-8")
        out.parent.mkdir(parents=True, exist_ok=True)
        made = out.with_name(f".{out.name}.{os.getpid()}")  # another process may be reading the old one
        zipapp.create_archive(tree, made, compressed=True)
        made.replace(out)


def _locate(name: str) -> Path | None:
    package = Path(harness.__file__).parent
    base = package.joinpath(*name.split("."))
    if name and base.with_suffix(".py").is_file():
        return base.with_suffix(".py")
    initial = base / "__init__.py"
    return initial if name and initial.is_file() else None


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


if __name__ == "__main__":
    build_node(Path(sys.argv[1]))
