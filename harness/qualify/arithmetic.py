"""How kernels of a given precision compute: operands are rounded first, then multiplied and added in float32.

A tensor core multiplies rounded operands and adds in float32. How it rounds is the whole difference between the
precisions, so an arithmetic is a function of the operands; one that also rounds its sums is a mistake of its own. This
emulation is for judging a problem's tolerances. What a real kernel does is for replay to find out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch

Rounding = Callable[[torch.Tensor], torch.Tensor]

_TF32_DROPPED = 0x1FFF  # the 13 bits of a float32 mantissa that tf32 lacks
_PARTIAL_SUM = 16  # products that a tensor core adds before the accumulator is rounded


def _exact(x: torch.Tensor) -> torch.Tensor:
    return x


def _cut_to_tf32(x: torch.Tensor) -> torch.Tensor:
    """Drop what tf32 lacks, as tensor cores do with float32 operands (seen on an H200)."""
    return (x.contiguous().view(torch.int32) & ~_TF32_DROPPED).view(torch.float32)


def _round_to_tf32(x: torch.Tensor) -> torch.Tensor:
    """Round to the 10 bits of tf32's mantissa, as libraries do before they multiply."""
    return ((x.contiguous().view(torch.int32) + (_TF32_DROPPED + 1) // 2) & ~_TF32_DROPPED).view(torch.float32)


def _through(dtype: torch.dtype) -> Rounding:
    def round_(x: torch.Tensor) -> torch.Tensor:
        return x.to(dtype).to(torch.float32)

    return round_


@dataclass(frozen=True)
class Arithmetic:
    """What an honest kernel's products and sums do to their operands.

    Attributes:
        name: the precision, as reports call it.
        operand: what becomes of a float32 operand.
        total: what becomes of a sum each time that something is added to it.
    """

    name: str
    operand: Rounding = _exact
    total: Rounding = _exact

    def dot(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Return the matrix product left @ right, float32."""
        left, right = self.operand(left), self.operand(right)
        if self.total is _exact:
            return left @ right
        pieces = zip(torch.split(left, _PARTIAL_SUM, -1), torch.split(right, _PARTIAL_SUM, -2), strict=True)
        return self.sum([one @ other for one, other in pieces])

    def sum(self, terms: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return the sum of terms, added one after the other."""
        result = terms[0]
        for term in terms[1:]:
            result = self.total(result + term)
        return result


@dataclass(frozen=True)
class Mixed(Arithmetic):
    """An arithmetic whose products take turns.

    Attributes:
        turns: the arithmetic of each product, in the order in which `dot` is called.
    """

    turns: Iterator[Arithmetic] = field(kw_only=True)

    def dot(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Return the matrix product left @ right, in the arithmetic whose turn it is."""
        return next(self.turns).dot(left, right)


FLOAT32 = Arithmetic("float32")
TF32 = Arithmetic("tf32", _cut_to_tf32)
TF32_ROUNDED = Arithmetic("tf32_rounded", _round_to_tf32)
FLOAT16 = Arithmetic("float16", _through(torch.float16))
BFLOAT16 = Arithmetic("bfloat16", _through(torch.bfloat16))
FP8 = Arithmetic("fp8", _through(torch.float8_e4m3fn))
BFLOAT16_SUMS = Arithmetic("bfloat16_sums", total=_through(torch.bfloat16))

VARIANTS = (FLOAT32, TF32_ROUNDED, TF32, FLOAT16, BFLOAT16, FP8)  # from the most precise down

# What task.yml calls the problem's precision -> the least precise honest variant, and the one that must fail.
LIMITS = {
    "float32": (FLOAT32, BFLOAT16),
    "tf32": (TF32, BFLOAT16),
    "float16": (FLOAT16, FP8),
    "bfloat16": (BFLOAT16, FP8),
    "fp8": (FP8, None),
}
