"""Does a Triton source have the form in which Helion writes its kernels? Evidence for organisers, never a verdict.

Pure text work on a hostile source: nothing is run. A departure means that Helion 1.5 does not write such a thing, so
that somebody else did; no departure means little, as the form can be copied. What Helion writes: a fixed header,
constants by `tl.constexpr`, device functions under `@triton.jit`, the kernel among them; a host function
that launches it through `_launcher`; and before each statement a comment with the author's line that it is for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_MODULES = frozenset(
    """
    __future__ torch helion triton triton.language math helion.runtime helion.runtime.triton helion.language
    torch._inductor.runtime torch._inductor.runtime.triton_compat torch._inductor.runtime.triton_helpers
    triton.tools.tensor_descriptor torch.distributed torch._C._dynamo.guards torch._inductor.runtime.hints
    """.split()
)
_SOURCE_MODULE = "_source_module"
_PREFIX = "_helion_"
_COMMENT = re.compile(r"^\s*# src\[([^\]:]{1,200}):(\d{1,7})\]: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class SourceLine:
    """What a comment of a generated source says: the file, the line and the text that a statement is for."""

    file: str
    line: int
    text: str


def find_source_lines(source: str) -> tuple[SourceLine, ...]:
    """Return the lines of the author's source that a generated source names, in order, each once."""
    found = (SourceLine(file, int(line), text.strip()) for file, line, text in _COMMENT.findall(source))
    return tuple(dict.fromkeys(found))


def find_departures(source: str, function: str) -> tuple[str, ...]:
    """Return how a source differs from what Helion writes; nothing, where it does not.

    Args:
        source: the module's text.
        function: the kernel that is launched.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ("it is not Python",)
    departures = [text for statement in tree.body for text in _check_statement(statement)]
    if not function.startswith(_PREFIX):
        departures.append(f"the kernel is named {function[:60]}, without {_PREFIX}")
    if not any(isinstance(s, ast.FunctionDef) and _launches(s, function) for s in tree.body):
        departures.append(f"no host function launches {function[:60]} through _launcher")
    if not find_source_lines(source):
        departures.append("no comment names a line of the author's source")
    return tuple(dict.fromkeys(departures))


def _check_statement(statement: ast.stmt) -> Iterator[str]:
    line = f"line {statement.lineno}"
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.asname != _SOURCE_MODULE and alias.name not in _MODULES:
                yield f"{line}: imports {alias.name[:60]}"
    elif isinstance(statement, ast.ImportFrom):
        if statement.module not in _MODULES:
            yield f"{line}: imports from {str(statement.module)[:60]}"
    elif isinstance(statement, ast.Expr):
        if ast.unparse(statement.value) != "helion.runtime.set_triton_allocator()":
            yield f"{line}: a statement that does something at import"
    elif isinstance(statement, ast.FunctionDef):
        if [ast.unparse(decorator) for decorator in statement.decorator_list] not in ([], ["triton.jit"]):
            yield f"{line}: a decorator other than triton.jit"
    elif not (isinstance(statement, ast.Assign) and _is_constant(statement.value)):
        yield f"{line}: {type(statement).__name__} beside functions and constants"


def _is_constant(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "tl.constexpr"


def _launches(function: ast.FunctionDef, kernel: str) -> bool:
    """Tell whether a host function takes `_launcher` and calls it with the kernel first."""
    if not any(argument.arg == "_launcher" for argument in function.args.kwonlyargs):
        return False
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call) and node.args)
    return any(ast.unparse(call.func) == "_launcher" and ast.unparse(call.args[0]) == kernel for call in calls)
