"""The part of an event's Python that draws inputs and computes the reference, taken by its syntax tree; nothing runs.

`generate_input` and `ref_kernel` are followed by name through reference.py and the local modules that it imports from;
comparing, timing and everything else stays behind. Devices become the CPU: the harness decides where tensors are.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness.authoring.event.folder import LOST, EventFolder, place
from harness.authoring.event.names import name_data, name_results
from harness.authoring.finding import TO_WRITE, Finding
from harness.errors import UsageError

ROOTS = ("generate_input", "ref_kernel")
CHECK = "check_implementation"
OURS = ("generate", "reference")
TYPES = ("input_t", "output_t", "TestSpec")
_NARROW = ("float32", "float16", "bfloat16", "float", "half")
_CUDA = re.compile(r"cuda(:\d+)?")


@dataclass(frozen=True)
class Tolerance:
    """What check_implementation allows, as far as it is written as numbers."""

    rtol: float | None
    atol: float | None

    @property
    def numbers(self) -> tuple[float, float]:
        """Both, 1e-3 for what is not written."""
        return (1e-3 if self.rtol is None else self.rtol, 1e-3 if self.atol is None else self.atol)


@dataclass(frozen=True)
class Carried:
    """What was taken.

    Attributes:
        imports: the import statements that it needs.
        source: its definitions, in an order in which they can stand.
        parameters: those of generate_input, without the seed.
        takes_seed: whether it has one.
        inputs, outputs: what the code calls the items of the data and of the result; empty where it does not.
        tolerance: check_implementation's.
        names_device: whether the reference itself names a device.
        findings: what was left behind, or has to be looked at.
    """

    imports: tuple[str, ...]
    source: str
    parameters: tuple[str, ...]
    takes_seed: bool
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tolerance: Tolerance
    names_device: bool
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class _Definition:
    module: str
    node: ast.stmt


@dataclass
class _Reading:
    """What is known while names are followed."""

    folder: EventFolder
    trees: Mapping[str, ast.Module]
    wanted: list[tuple[str, str]]  # (module, name), not followed yet
    taken: dict[tuple[str, int], _Definition] = field(default_factory=dict)
    imports: dict[str, None] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def tell(self, module: str, line: int, message: str, level: str = LOST) -> None:
        """Add a finding, once."""
        found = place(self.folder, module, message, line, level)
        if found not in self.findings:
            self.findings.append(found)


def carry_python(folder: EventFolder) -> Carried:
    """Take what a problem needs from an event's Python.

    Raises:
        UsageError: it cannot be parsed, or has no generate_input or ref_kernel.
    """
    trees = {name: _parse(folder, name, text) for name, text in folder.modules.items()}
    functions = {n.name: n for n in trees["reference"].body if isinstance(n, ast.FunctionDef)}
    for name in ROOTS:
        if name not in functions:
            raise UsageError(f"{folder.sources['reference']}: defines no function {name}()")
    reading = _Reading(folder, trees, [("reference", name) for name in ROOTS])
    seen: set[tuple[str, str]] = set()
    while reading.wanted:
        module, name = reading.wanted.pop(0)
        if (module, name) not in seen:
            seen.add((module, name))
            _take(reading, module, name)
    definitions = sorted(reading.taken.values(), key=lambda d: (d.module == "reference", d.module, d.node.lineno))
    source = "\n\n\n".join(_text(reading, definition) for definition in definitions)
    arguments = functions["generate_input"].args
    parameters = [argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)]
    return Carried(
        tuple(reading.imports),
        source,
        tuple(name for name in parameters if name != "seed"),
        "seed" in parameters,
        name_data(functions["generate_input"], functions["ref_kernel"]),
        name_results(functions["ref_kernel"]),
        _tolerance(trees["reference"]),
        any(_is_device(node) for node in ast.walk(functions["ref_kernel"])),
        tuple(sorted(reading.findings, key=lambda found: (found.file, found.line or 0))),
    )


def _parse(folder: EventFolder, name: str, text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = f" at line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise UsageError(f"{folder.sources[name]}: not valid Python{line}: {error}") from None


def _take(reading: _Reading, module: str, name: str) -> None:
    """Take the statement that binds a name in a module, and want what it uses."""
    node = next((n for n in reading.trees[module].body if name in _binds(n)), None)
    if name in TYPES:
        return  # a name of types alone
    if node is None:  # a builtin or a local, unless it comes with all names of a module
        stars = (n for n in reading.trees[module].body if isinstance(n, ast.ImportFrom) and n.names[0].name == "*")
        reading.wanted += [(str(n.module), name) for n in stars if n.module in reading.trees]
    elif isinstance(node, ast.ImportFrom) and node.module in reading.trees:
        original = next(alias.name for alias in node.names if name == (alias.asname or alias.name))
        if original != name:
            reading.tell(module, node.lineno, f"imports {original} as {name}: write {original} where it is used")
        reading.wanted.append((str(node.module), original))
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        _take_import(reading, module, node, name)
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)):
        if name in OURS:
            raise UsageError(f"{reading.folder.sources[module]}: defines {name} at line {node.lineno}, a name that "
                             "reference.py gives to a function of ours: rename it there first")  # fmt: skip
        reading.taken[module, node.lineno] = _Definition(module, node)
        _look_at(reading, module, node)
        reading.wanted += [(module, n.id) for n in ast.walk(node) if isinstance(n, ast.Name)]
        reading.wanted += [found for n in ast.walk(node) if (found := _of_module(reading, module, n)) is not None]
    else:
        reading.tell(module, node.lineno, f"{name} is bound by a statement that is no definition: write it anew")


def _binds(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _take_import(reading: _Reading, module: str, node: ast.Import | ast.ImportFrom, name: str) -> None:
    """Keep an import of torch, NumPy or the standard library; others cannot come along."""
    alias = next(a for a in node.names if name == (a.asname or a.name).split(".")[0])
    origin = alias.name if isinstance(node, ast.Import) else str(node.module)
    package = origin.split(".")[0]
    if origin in reading.trees:
        return  # its names are written without it
    if package == "numpy":
        told = "imports numpy, which a GPU machine that only replays may lack: write it with torch"
        reading.tell(module, node.lineno, told, TO_WRITE)
    elif package != "torch" and package not in sys.stdlib_module_names:
        told = f"imports {origin}, which is neither torch, the standard library nor one of its files: write it anew"
        reading.tell(module, node.lineno, told)
        return
    renamed = f" as {alias.asname}" if alias.asname else ""
    text = f"import {alias.name}{renamed}"
    reading.imports[text if isinstance(node, ast.Import) else f"from {origin} {text}"] = None


def _of_module(reading: _Reading, module: str, node: ast.AST) -> tuple[str, str] | None:
    """The module and the name that `utils.name` stands for, where one of the folder's files is imported as a whole."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    imports = (alias for n in reading.trees[module].body if isinstance(n, ast.Import) for alias in n.names)
    found = next((a.name for a in imports if (a.asname or a.name) == node.value.id and a.name in reading.trees), None)
    return (found, node.attr) if found else None


def _look_at(reading: _Reading, module: str, definition: ast.stmt) -> None:
    """Tell what in a definition has to be looked at by a person."""
    dropped = {id(part) for node in ast.walk(definition) if _is_order(node) for part in ast.walk(node)}
    for node in (node for node in ast.walk(definition) if isinstance(node, (ast.expr, ast.Expr))):
        if _is_order(node):
            reading.tell(module, node.lineno, f"{ast.unparse(node)} was left out: the harness drives the GPU itself")
        elif id(node) not in dropped and isinstance(node, ast.Attribute) and _of_cuda(node):
            reading.tell(module, node.lineno, f"{ast.unparse(node)} needs a GPU: write it anew")
        elif _is_device(node):
            reading.tell(module, node.lineno, "names a device: it became the CPU; the harness moves tensors itself")
        elif _is_narrow(node) and isinstance(definition, ast.FunctionDef) and definition.name == "ref_kernel":
            told = f"{ast.unparse(node)}: a reference computes in float64: take it out where it narrows"
            reading.tell(module, node.lineno, told, TO_WRITE)


def _is_narrow(node: ast.AST) -> bool:
    """Whether a node names a precision below float64."""
    return isinstance(node, ast.Attribute) and node.attr in _NARROW


def _of_cuda(node: ast.AST) -> bool:
    return ast.unparse(node).startswith("torch.cuda.")


def _is_order(node: ast.AST) -> bool:
    """Whether a node is a statement that only tells the GPU something, such as torch.cuda.synchronize()."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _of_cuda(node.value.func)


def _is_device(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _CUDA.fullmatch(node.value) is not None
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"


def _text(reading: _Reading, definition: _Definition) -> str:
    """A definition as it is written, with devices replaced."""
    node = definition.node
    lines = reading.folder.modules[definition.module].splitlines()
    decorators = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    changed = [
        n
        for n in ast.walk(node)
        if isinstance(n, (ast.expr, ast.Expr))
        and (_is_device(n) or _is_order(n) or _of_module(reading, definition.module, n))
    ]
    for found in sorted(changed, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        _replace(lines, found)
    return "\n".join(lines[first - 1 : node.end_lineno])


def _replace(lines: list[str], node: ast.expr | ast.Expr) -> None:
    """Put the CPU in the place of a device, a name for a module's, and nothing in the place of an order to the GPU."""
    number = (node.end_lineno or node.lineno) - 1
    line = lines[number].encode()
    if isinstance(node, ast.Expr):
        lines[node.lineno - 1 : number + 1] = [" " * node.col_offset + "pass", *[""] * (number + 1 - node.lineno)]
        return
    if isinstance(node, ast.Attribute):
        line = line[: node.col_offset] + node.attr.encode() + line[node.end_col_offset :]
    elif isinstance(node, ast.Constant):
        line = line[: node.col_offset] + b'"cpu"' + line[node.end_col_offset :]
    else:
        head = line[: node.end_col_offset]
        line = re.sub(rb"\.cuda\(([^()]*)\)$", b".cpu()", head) + line[node.end_col_offset or 0 :]
    lines[number] = line.decode()


def _tolerance(tree: ast.Module) -> Tolerance:
    """The numbers that check_implementation, a function or an assignment, passes as rtol and atol."""
    statement = next((node for node in tree.body if CHECK in _binds(node)), None)
    found: dict[str, float] = {}
    for key, value in _numbers(statement) if statement is not None else ():
        found[key] = max(value, found.get(key, 0.0))
    return Tolerance(found.get("rtol"), found.get("atol"))


def _numbers(statement: ast.stmt) -> Iterator[tuple[str, float]]:
    for node in ast.walk(statement):
        given = node.value if isinstance(node, ast.keyword) and node.arg in ("rtol", "atol") else None
        if isinstance(given, ast.Constant) and isinstance(given.value, (int, float)):
            yield str(node.arg), float(given.value)  # type: ignore[attr-defined]
