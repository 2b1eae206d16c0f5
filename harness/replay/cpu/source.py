"""The second wall around CPU replay: an allow-list over the syntax tree of a kernel's source.

The source comes out of the tracer, where the submission's Python ran, and is hostile. It is parsed, never
imported: of the module only `@triton.jit` functions and numeric `tl.constexpr` globals are taken; decorators,
imports, annotations, docstrings and the host program are dropped. In the functions each node type, name and
attribute must be on a list. What passes can compute and touch memory, and cannot reach a Python module; the
sandbox is the first wall, and bounds.py stops stray addresses.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass

from harness.replay.cpu.faults import Unsupported
from harness.replay.cpu.vocabulary import BUILTINS, FUNCTIONS, METHODS, MODULES, VALUES, WAITING

MAX_SOURCE_BYTES = 4 << 20
_NAME = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]{0,199}")
_LONGEST_STRING = 4000
_NODES = frozenset(
    """
    Add And AnnAssign Assign Attribute AugAssign BinOp BitAnd BitOr BitXor BoolOp Break Call Compare Constant Continue
    Div Eq Expr FloorDiv For FunctionDef Gt GtE If IfExp Invert Is IsNot LShift List Load Lt LtE Mod Mult Name Not
    NotEq Or Pass Pow RShift Return Slice Store Sub Subscript Tuple UAdd USub UnaryOp While arg arguments keyword
    """.split()
)


class Refused(Unsupported):
    """The source holds something that is not on the allow-list."""

    def __init__(self, node: ast.AST | None, what: str) -> None:
        line = getattr(node, "lineno", 0)
        place = f", line {line} of the kernel's source" if line else ""
        super().__init__(f"not on the list of what CPU replay executes: {what}{place}", {"source_line": line})


@dataclass(frozen=True)
class Traits:
    """How the programs of a kernel deal with one another.

    Attributes:
        atomics: some program updates memory atomically.
        waits: some program waits for another, so that all must make progress together.
    """

    atomics: bool
    waits: bool


@dataclass(frozen=True)
class CheckedSource:
    """A source that passed.

    Attributes:
        constants: values of the module's `tl.constexpr` globals.
        functions: syntax trees of its kernels and device functions, checked and stripped, by name.
        constexprs: names of the parameters annotated `tl.constexpr`, by function.
        traits: by function, calls included.
        used: dotted names outside of the module that the functions use.
        lines: the source's text, line by line.
    """

    constants: dict[str, int | float | bool]
    functions: dict[str, ast.FunctionDef]
    constexprs: dict[str, frozenset[str]]
    traits: dict[str, Traits]
    used: frozenset[str]
    lines: tuple[str, ...]


def check_source(text: str) -> CheckedSource:
    """Parse a Triton source and check every kernel in it.

    Raises:
        Refused: with the line and what is not allowed.
    """
    if len(text) > MAX_SOURCE_BYTES:
        raise Refused(None, f"a source of {len(text)} characters")
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused(None, f"a source that Python cannot parse ({type(error).__name__})") from None
    constants: dict[str, int | float | bool] = {}
    functions: dict[str, ast.FunctionDef] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and _is_constexpr_call(statement.value):
            name, value = _read_constant(statement)
            constants[name] = value
        elif isinstance(statement, ast.FunctionDef) and _is_jit(statement):
            functions[statement.name] = statement
    constexprs = {name: _strip(function) for name, function in functions.items()}
    checker = _Checker(frozenset({*constants, *functions}))
    uses: dict[str, set[str]] = {}
    for name, function in functions.items():
        uses[name] = checker.check(function)
    traits = {name: _traits(name, uses, functions) for name in functions}
    used = frozenset(n for names in uses.values() for n in names if "." in n)
    return CheckedSource(constants, functions, constexprs, traits, used, tuple(text.splitlines()))


def dotted(node: ast.AST) -> str:
    """Return "a.b.c" for such an expression, "" for any other."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _is_constexpr_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) in ("tl.constexpr", "triton.language.constexpr")


def _is_jit(function: ast.FunctionDef) -> bool:
    names = [dotted(d.func if isinstance(d, ast.Call) else d) for d in function.decorator_list]
    return "triton.jit" in names


def _read_constant(statement: ast.Assign) -> tuple[str, int | float | bool]:
    call, target = statement.value, statement.targets[0]
    assert isinstance(call, ast.Call)
    try:
        value = ast.literal_eval(call.args[0])
    except (ValueError, IndexError):
        raise Refused(statement, "a tl.constexpr of something that is not a number") from None
    if not isinstance(target, ast.Name) or type(value) not in (int, float, bool) or not _NAME.fullmatch(target.id):
        raise Refused(statement, "a tl.constexpr of something that is not a number")
    if target.id in MODULES | BUILTINS:
        raise Refused(statement, f"the name {target.id} given a new meaning")
    return target.id, value


def _strip(function: ast.FunctionDef) -> frozenset[str]:
    """Drop what is not executed, and return the names of the constexpr parameters."""
    if not _NAME.fullmatch(function.name) or function.name in MODULES | BUILTINS:
        raise Refused(function, f"a function named {function.name[:60]}")
    every = function.args
    if every.vararg or every.kwarg or every.posonlyargs or every.kwonlyargs:
        raise Refused(function, "a function with other than plain parameters")
    for default in every.defaults:
        if not isinstance(default, ast.Constant):
            raise Refused(default, "a default value that is not a constant")
    names = set()
    for parameter in every.args:
        annotation = parameter.annotation
        text = annotation.value if isinstance(annotation, ast.Constant) else dotted(annotation) if annotation else ""
        if text in ("tl.constexpr", "constexpr", "triton.language.constexpr"):
            names.add(parameter.arg)
        parameter.annotation = None
    function.decorator_list, function.returns, function.type_comment = [], None, None
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        function.body = function.body[1:] or [ast.copy_location(ast.Pass(), first)]
    return frozenset(names)


class _Checker:
    """Walks one function at a time; `shared` are the module's own names."""

    def __init__(self, shared: frozenset[str]) -> None:
        self._shared = shared
        self._local: frozenset[str] = frozenset()
        self._used: set[str] = set()

    def check(self, function: ast.FunctionDef) -> set[str]:
        """Check a function and return the names of modules' and the module's own functions that it uses."""
        self._used = set()
        stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self._local = frozenset(stored | {a.arg for a in function.args.args})
        for node in ast.walk(function):
            self._check_form(node, function)
        reserved = self._local & (MODULES | BUILTINS - {"min", "max", "abs"})
        if reserved:
            raise Refused(function, f"the name {min(reserved)} given a new meaning")
        for statement in function.body:
            self._visit(statement, called=False)
        return self._used

    def _check_form(self, node: ast.AST, function: ast.FunctionDef) -> None:
        kind = type(node).__name__
        if kind not in _NODES or (kind == "FunctionDef" and node is not function):
            raise Refused(node, f"the construct {kind}")
        for field in ("id", "attr", "arg", "name"):
            name = getattr(node, field, "_")
            if name is not None and not _NAME.fullmatch(name):
                raise Refused(node, f"the name {name[:60]}")
        if isinstance(node, ast.keyword) and (node.arg is None or node.arg.startswith("_")):
            raise Refused(node.value, f"the keyword {node.arg or '**'}")  # `_semantic` is the interpreter itself
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            raise Refused(node, "an assignment to a part of something")  # `kind = tl.tensor; kind.sum = ...`
        if isinstance(node, ast.Constant):
            _check_constant(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Pow, ast.LShift)):
            _check_growth(node)

    def _visit(self, node: ast.AST, *, called: bool) -> None:
        if isinstance(node, ast.Call):
            self._visit_call(node)
        elif isinstance(node, ast.AnnAssign):
            self._visit(node.target, called=False)
            if node.value is not None:
                self._visit(node.value, called=False)
            node.annotation = ast.copy_location(ast.Constant(value=None), node.annotation)
        elif isinstance(node, ast.Attribute):
            self._visit_attribute(node, called=called)
        elif isinstance(node, ast.Name):
            self._visit_name(node, called=called)
        else:
            for child in ast.iter_child_nodes(node):
                self._visit(child, called=False)

    def _visit_call(self, node: ast.Call) -> None:
        if not isinstance(node.func, (ast.Name, ast.Attribute)):
            raise Refused(node, "a call of something that is not a name")
        self._visit(node.func, called=True)
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            self._visit(part, called=False)

    def _visit_attribute(self, node: ast.Attribute, *, called: bool) -> None:
        name = dotted(node)
        root = name.split(".")[0]
        if name and root not in self._local and root not in self._shared:
            base, _, last = name.rpartition(".")
            in_functions = last in FUNCTIONS.get(base, frozenset())
            if last in VALUES.get(base, frozenset()) or (in_functions and (called or base != "tl")):
                self._used.add(name)
                return
            raise Refused(node, name[:100])
        if node.attr not in METHODS:
            raise Refused(node, f".{node.attr[:60]}")
        self._visit(node.value, called=False)

    def _visit_name(self, node: ast.Name, *, called: bool) -> None:
        if isinstance(node.ctx, ast.Store) or node.id in self._local:
            return
        if node.id in self._shared:
            self._used.add(node.id)
        elif not (called and node.id in BUILTINS):
            raise Refused(node, f"the name {node.id[:60]}")


def _check_constant(node: ast.Constant) -> None:
    value = node.value
    if not isinstance(value, (int, float, str, type(None))):
        raise Refused(node, f"a constant of type {type(value).__name__}")
    if isinstance(value, int) and abs(value) >= 2**64:
        raise Refused(node, "an integer of more than 64 bits")
    if isinstance(value, str) and len(value) > _LONGEST_STRING:
        raise Refused(node, f"a string of {len(value)} characters")


def _check_growth(node: ast.BinOp) -> None:
    """Keep powers and shifts of constants from filling the memory."""
    if any(isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Pow, ast.LShift)) for part in ast.walk(node.right)):
        raise Refused(node, "a power or shift by another one")
    right = node.right.value if isinstance(node.right, ast.Constant) else 0
    if not isinstance(right, (int, float)) or not math.isfinite(right) or abs(right) > 128:
        raise Refused(node, "a power or shift by more than 128")


def _traits(name: str, uses: dict[str, set[str]], functions: dict[str, ast.FunctionDef]) -> Traits:
    """Collect the traits of a function and of those of the module that it names."""
    reached, todo = set(), [name]
    while todo:
        current = todo.pop()
        if current not in reached and current in functions:
            reached.add(current)
            todo.extend(uses[current])
    names = {n for function in reached for n in uses[function]}
    nodes = [node for function in reached for node in ast.walk(functions[function])]
    methods = {f"tl.{node.attr}" for node in nodes if isinstance(node, ast.Attribute)}
    names |= {m for m in methods if m.startswith("tl.atomic_")}
    atomics = any(n.startswith("tl.atomic_") for n in names) or bool(names & WAITING)
    assembly = any(isinstance(n, ast.Constant) and "ld.acquire" in str(n.value) for n in nodes)
    polls = any(isinstance(n, ast.While) for n in nodes) and (atomics or _loads_volatile(nodes))
    return Traits(atomics, bool(names & WAITING) or assembly or polls)


def _loads_volatile(nodes: list[ast.AST]) -> bool:
    return any(isinstance(n, ast.keyword) and n.arg == "volatile" for n in nodes)
