"""Kernels made from checked sources.

The checked syntax tree itself is compiled, with its original line numbers, into a name space that holds the
language and nothing of Python but a few names; no text from the artifact is executed.
"""

from __future__ import annotations

import ast
import copy
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
import triton.language as tl
from triton.language.extra.cuda import libdevice as device_library
from triton.runtime.interpreter import InterpretedFunction

from harness.replay.cpu import reductions
from harness.replay.cpu.interpreter import INTRINSICS, Rewriter, device_range
from harness.replay.cpu.source import CheckedSource, Traits, check_source

_INDUCTOR = "inductor_runtime"


class SourceFunction(InterpretedFunction):  # type: ignore[misc]
    """A function whose body has been rewritten already."""

    def rewrite(self) -> Callable[..., Any]:
        """Return the function as it is."""
        return self.fn  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Kernel:
    """One kernel function of a source.

    Attributes:
        name: the function's name.
        file: name of the source, as tracebacks show it.
        function: the callable that runs one program.
        parameters: names of the parameters, in order.
        constexprs: which of them are compile-time constants.
        traits: how its programs deal with one another.
        lines: the source's text, line by line.
    """

    name: str
    file: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    constexprs: frozenset[str]
    traits: Traits
    lines: tuple[str, ...]


def make_kernels(text: str, file: str) -> dict[str, Kernel]:
    """Check a Triton source and return its kernels by name.

    Args:
        text: the source.
        file: what tracebacks call it.

    Raises:
        Unsupported: the source holds something that is not on the allow-list.
    """
    checked = check_source(text)
    space = _name_space(checked)
    kernels = {}
    for name, tree in checked.functions.items():
        function = SourceFunction(_compile(tree, file, space))
        space[name] = function
        kernels[name] = Kernel(
            name=name,
            file=file,
            function=function.fn,
            parameters=tuple(function.arg_names),
            constexprs=checked.constexprs[name],
            traits=checked.traits[name],
            lines=checked.lines,
        )
    _rewrite_library(checked.used, space)
    return kernels


def _name_space(checked: CheckedSource) -> dict[str, Any]:
    space: dict[str, Any] = {
        "__builtins__": {},
        **INTRINSICS,
        **{"abs": abs, "bool": bool, "float": float, "int": int, "len": len, "range": device_range},
        **{"max": _extreme(max, tl.maximum), "min": _extreme(min, tl.minimum)},
        "tl": tl,
        "tl_math": tl.math,
        "libdevice": device_library,
        "helion_triton_helpers": SimpleNamespace(
            max_propagate_nan=reductions.max_propagate_nan, min_propagate_nan=reductions.min_propagate_nan
        ),
    }
    if any(name.startswith("triton_helpers.") for name in checked.used):
        space["triton_helpers"] = _inductor_helpers()
    space.update({name: tl.constexpr(value) for name, value in checked.constants.items()})
    return space


def _extreme(of_numbers: Callable[..., Any], of_tensors: Callable[..., Any]) -> Callable[..., Any]:
    """Return `max` or `min` as compiled Triton has it: for constants and for tensors."""

    def call(first: Any, second: Any) -> Any:
        if isinstance(first, tl.tensor) or isinstance(second, tl.tensor):
            return of_tensors(first, second)
        return of_numbers(first, second)

    return call


def _inductor_helpers() -> Any:
    """Load Inductor's helpers by their folder: importing `torch._inductor` would take seconds for nothing."""
    if _INDUCTOR not in sys.modules:
        package = ModuleType(_INDUCTOR)
        package.__path__ = [str(Path(torch.__file__).parent / "_inductor" / "runtime")]
        sys.modules[_INDUCTOR] = package
    helpers = importlib.import_module(f"{_INDUCTOR}.triton_helpers")
    # Inductor names a module of stubs, which the compiler replaces by CUDA's.
    vars(helpers)["libdevice"] = device_library
    return helpers


def _compile(tree: ast.FunctionDef, file: str, space: dict[str, Any]) -> Callable[..., Any]:
    rewritten = Rewriter().visit(copy.deepcopy(tree))
    module = ast.fix_missing_locations(ast.Module(body=[rewritten], type_ignores=[]))
    # The tree holds only what source.check_source let pass, and the name space no way out.
    exec(compile(module, file, "exec", dont_inherit=True), space)  # noqa: S102
    return space[tree.name]  # type: ignore[no-any-return]


def _rewrite_library(names: frozenset[str], space: dict[str, Any]) -> None:
    """Rewrite Triton's own functions that the kernels call, here and not again in each forked worker."""
    todo, seen = [], set()
    for name in names:
        root, *path = name.split(".")
        found = space.get(root)
        for part in path:
            found = getattr(found, part, None)
        todo.append(found)
    while todo:
        function = todo.pop()
        if not isinstance(function, InterpretedFunction) or function in seen:
            continue
        seen.add(function)
        rewritten = function.rewrite()
        todo += [rewritten.__globals__.get(name) for name in rewritten.__code__.co_names]
