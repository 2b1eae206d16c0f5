"""Triton's interpreter, corrected: one builder, and the language patched once for the life of the process.

Importing this module needs TRITON_INTERPRET=1 in the environment and changes Triton for the whole process,
which therefore does nothing else. It knows the internals of one Triton version and refuses any other.
Stock Triton patches its language again at each device function call; here it is patched at `install`.
"""

# ruff: noqa: D102 -- the methods are those of Triton's builder, under its names

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import getmembers
from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice as device_library
from triton.runtime import interpreter as stock
from triton.runtime.interpreter import InterpretedFunction, InterpreterBuilder, TensorHandle

from harness.replay.cpu import front_end, inline_assembly, libdevice, reductions
from harness.replay.cpu.arithmetic import Arithmetic
from harness.replay.cpu.faults import Fault, Unsupported
from harness.replay.cpu.front_end import Semantic, spread
from harness.replay.cpu.memory import Memory
from harness.replay.cpu.numerics import numpy_type
from harness.replay.cpu.scaled_dot import multiply_scaled

TRITON_VERSION = "3.7.1"


class Builder(Memory, Arithmetic, InterpreterBuilder):  # type: ignore[misc]
    """Executes what Triton's front end asks for, at once and on numpy arrays."""

    def __init__(self) -> None:
        super().__init__()
        precisions = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
        self.options: Any = replace(self.options, sanitize_overflow=False, allowed_dot_input_precisions=precisions)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("create_", "get_")):
            raise Unsupported(f"Triton's interpreter has no {name.removeprefix('create_')}")
        raise AttributeError(name)

    def create_extern_elementwise(
        self, library: str, path: str, symbol: str, arguments: list[TensorHandle], result: Any, pure: bool
    ) -> TensorHandle:
        if library or path:
            raise Unsupported(f"the external library {library or path} is not interpreted")
        return libdevice.call(symbol, arguments, result)

    def create_dot_scaled(
        self,
        a: Any,
        a_scale: Any,
        a_kind: Any,
        b: Any,
        b_scale: Any,
        b_kind: Any,
        fast: bool,
        a_k: Any,
        b_k: Any,
        acc: Any,
    ) -> TensorHandle:
        return multiply_scaled((a, a_scale, a_kind, bool(a_k)), (b, b_scale, b_kind, bool(b_k)), acc)

    def create_inline_asm(
        self, text: str, constraints: str, values: list[TensorHandle], types: list[Any], pure: bool, pack: int
    ) -> inline_assembly.Outputs:
        return inline_assembly.run(text, values, types, self._acquiring_load)

    def _acquiring_load(self, pointers: TensorHandle) -> TensorHandle:
        return self.create_masked_load(pointers, None, None, None, None, True)

    def create_splat(self, result: Any, arg: TensorHandle) -> TensorHandle:
        return TensorHandle(spread(arg.data.reshape(-1)[:1], result.shape.values), arg.dtype.scalar)

    def create_broadcast(self, arg: TensorHandle, shape: Any) -> TensorHandle:
        return TensorHandle(spread(arg.data, list(shape)), arg.dtype.scalar)

    def create_print(self, prefix: str, hexadecimal: bool, values: Any, signed: Any) -> None:
        """Print nothing: the author's debug output has no place in a replay."""

    def create_assume(self, condition: TensorHandle) -> None:
        if not condition.data.all():
            raise Fault("tl.assume was given a condition that does not hold")

    def create_barrier(self) -> None:
        """Do nothing: a program's instructions already run one after the other."""


def _constant(dtype: Any) -> Callable[..., TensorHandle]:
    """Return the builder's `get_<integer type>`; values wrap around as in C."""

    def get(self: Builder, value: int) -> TensorHandle:
        return TensorHandle(np.array([value]).astype(numpy_type(dtype)), dtype)

    return get


for _dtype in (tl.int8, tl.int16, tl.int32, tl.int64, tl.uint8, tl.uint16, tl.uint32, tl.uint64):
    setattr(Builder, f"get_{_dtype.name}", _constant(_dtype))

_BUILTIN_CODE = tl.core.builtin(len).__code__
builder = Builder()
semantic = Semantic(builder)


def device_range(first: Any, second: Any = None, step: Any = 1, **_: Any) -> Iterator[Any]:
    """Stand in for `range` and `tl.range`: the induction variable is a tensor, with its type's width."""
    start, stop = (0, first) if second is None else (first, second)
    types = [bound.dtype for bound in (start, stop, step) if isinstance(bound, tl.tensor)]
    low, high, stride = operator.index(start), operator.index(stop), operator.index(1 if step is None else step)
    fits = min(low, high) >= -(2**31) and max(low, high) < 2**31
    default = tl.int32 if fits else tl.int64
    dtype = max(types or [default], key=lambda kind: kind.primitive_bitwidth)
    carrier = numpy_type(dtype)
    for value in range(low, high, stride):
        yield tl.tensor(TensorHandle(np.array([value], carrier), dtype), dtype)


def static_range(first: Any, second: Any = None, step: Any = 1, **_: Any) -> range:
    """Stand in for `tl.static_range`: the induction variable is a constant."""
    start, stop = (0, first) if second is None else (first, second)
    return range(operator.index(start), operator.index(stop), operator.index(1 if step is None else step))


def both(left: Any, rest: Callable[[], Any]) -> Any:
    """Compute `left and rest()`: element by element for tensors, as compiled Triton does."""
    if not isinstance(left, tl.tensor):
        return left and rest()
    right = rest()
    return left.logical_and(right) if isinstance(right, tl.tensor) or not right else left


def either(left: Any, rest: Callable[[], Any]) -> Any:
    """Compute `left or rest()`: element by element for tensors."""
    if not isinstance(left, tl.tensor):
        return left or rest()
    right = rest()
    return left.logical_or(right) if isinstance(right, tl.tensor) or right else left


def negation(value: Any) -> Any:
    """Compute `not value`: element by element for tensors."""
    return value.__not__() if isinstance(value, tl.tensor) else not value


def to_tensor(value: Any) -> Any:
    """Make a number that is assigned to a variable a tensor, as compiled Triton does."""
    return value if value.__class__ is tl.tensor else semantic.to_tensor(value, False)


INTRINSICS: dict[str, Any] = {
    "__to_tensor__": to_tensor,
    "__both__": both,
    "__either__": either,
    "__negation__": negation,
}


class Rewriter(ast.NodeTransformer):
    """Give Python's statements the meaning that compiled Triton gives them."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        node.value = _call("__to_tensor__", node.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        name = "__both__" if isinstance(node.op, ast.And) else "__either__"
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        result = node.values[-1]
        for value in reversed(node.values[:-1]):
            result = _call(name, value, ast.Lambda(args=nothing, body=result))
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _call("__negation__", node.operand) if isinstance(node.op, ast.Not) else node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(arguments), keywords=[])


def install() -> str:
    """Patch Triton's language and interpreter. Call once, before any kernel is made.

    Returns:
        Why this cannot be done here; "" if it was.
    """
    if triton.__version__ != TRITON_VERSION:
        return f"CPU replay knows the interpreter of Triton {TRITON_VERSION}; this is {triton.__version__}"
    if not isinstance(tl.sum, InterpretedFunction):
        return "TRITON_INTERPRET=1 was not set before Triton was imported"
    np.seterr(all="ignore")
    stock.interpreter_builder, stock.interpreter_semantic = builder, semantic
    vars(stock).update(INTRINSICS)
    stock.FunctionRewriter.ast_transformer = Rewriter()
    InterpretedFunction.__call__ = _call_device_function
    for holder in (tl, tl.core, tl.math, tl.tensor, tl.core.tensor_descriptor_base, device_library):
        _bind_builtins(holder)
    scope = stock._LangPatchScope()
    stock._patch_lang_tensor(tl.tensor, scope)
    for language in (tl, tl.core):
        stock._patch_lang_core(language, scope)
        language.range, language.static_range = device_range, static_range
        language.reduce, language.associative_scan = reductions.reduce, reductions.scan
        language.static_print = language.device_print = _print_nothing
    front_end.install()
    return ""


def _print_nothing(*_: Any, **__: Any) -> None:
    """Stand in for printing."""


def _call_device_function(self: Any, *arguments: Any, **keywords: Any) -> Any:
    return self.rewrite()(*arguments, **keywords)


def _bind_builtins(holder: Any) -> None:
    for name, member in getmembers(holder):
        if tl.core.is_builtin(member):
            setattr(holder, name, _bound(member))


def _bound(member: Callable[..., Any]) -> Callable[..., Any]:
    """Give a builtin its semantic; the check that one was given has then no work left to do."""
    inner = getattr(member, "__wrapped__", member) if getattr(member, "__code__", None) is _BUILTIN_CODE else member

    def call(*arguments: Any, **keywords: Any) -> Any:
        keywords["_semantic"] = semantic
        return inner(*arguments, **keywords)

    return call
