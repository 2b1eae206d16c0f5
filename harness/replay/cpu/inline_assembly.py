"""The inline assembly that Helion itself emits, by its text. Any other text is unsupported.

Fences, drains and warp synchronisation order memory between threads; the interpreter runs a program's
instructions one after the other, so they only pass their operand on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from harness.replay.cpu.faults import Unsupported
from harness.replay.cpu.numerics import Array, convert, make, numpy_type
from harness.replay.cpu.scaled_dot import E2M1

Results = list[TensorHandle]

PASS_ON = frozenset(
    {
        "fence.proxy.async.global; mov.u32 $0, $1;",
        "cp.async.bulk.wait_group 0; fence.proxy.async.global; mov.u32 $0, $1;",
        "bar.warp.sync 0xffffffff; mov.u32 $0, $1;",
        "redux.sync.min.s32 $0, $1, 0xffffffff;",
    }
)
ACQUIRE_LOAD = "ld.acquire.gpu.global.u32 $0, [$1];"


class Outputs:
    """What `create_inline_asm` returns: an operation with one or more results."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def get_result(self, index: int) -> TensorHandle:
        """Return one result."""
        return self._results[index]


def normalise(text: str) -> str:
    """Return an assembly text with its white space made single."""
    return " ".join(text.split())


def run(text: str, operands: Sequence[TensorHandle], types: Sequence[Any], load: Callable[..., Any]) -> Outputs:
    """Compute an inline assembly statement.

    Args:
        text: the assembly text.
        operands: its inputs.
        types: the Triton types of its results.
        load: performs an acquiring load from a handle of pointers.
    """
    plain = normalise(text)
    if plain in PASS_ON:
        return Outputs([_convert_bits(operands[0], types[0])])
    if plain == ACQUIRE_LOAD:
        return Outputs([load(operands[0])])
    if "cvt.rn.f16x2.e2m1x2" in plain and len(types) in (2, 16):
        return Outputs(_unpack_float4(operands[0].data, types))
    if "cvt.rn.f16.bf16 $15, b15;" in plain and len(types) == 16:
        return Outputs(_unpack_bfloat16([o.data for o in operands], types))
    raise Unsupported(f"inline assembly is not interpreted: {plain[:120]}")


def _convert_bits(operand: TensorHandle, target: Any) -> TensorHandle:
    return TensorHandle(operand.data.astype(numpy_type(target)), target.scalar)


def _unpack_float4(packed: Array, types: Sequence[Any]) -> Results:
    """Unpack 4-bit e2m1 floats, lowest bits first."""
    codes = [(packed.astype(np.uint64) >> np.uint64(4 * i)) & np.uint64(15) for i in range(len(types))]
    return [make(E2M1[c.astype(np.int64)], t.scalar) for c, t in zip(codes, types, strict=True)]


def _unpack_bfloat16(words: list[Array], types: Sequence[Any]) -> Results:
    """Convert four 64-bit words of bfloat16 to sixteen float16."""
    halves = [
        ((word.astype(np.uint64) >> np.uint64(16 * i)) & np.uint64(0xFFFF)).astype(np.uint16)
        for word in words
        for i in range(4)
    ]
    return [convert(TensorHandle(h, tl.bfloat16), t) for h, t in zip(halves, types, strict=True)]
