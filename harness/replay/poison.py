"""Poison: what memory holds before anything is written to it, so that what stays unwritten is seen.

Floating-point poison is a NaN with a random payload that no arithmetic makes by itself: every 16-bit half of it is one
of 0x7ff9 to 0x7ffe, which reads as such a NaN in float16, bfloat16, float32 and float64 alike, while hardware's own
NaNs have a payload of only the quiet bit or of all ones. Integers get random bits.

Needs torch only: runners use it too. Nothing rests on a kernel not knowing the pattern, since poison in an output is
wrong whoever wrote it; it decides which sentence the author reads.
"""

from __future__ import annotations

import torch

# dtype -> (integer dtype of the same width, mantissa mask, quiet bit)
_NAN_LAYOUT = {
    torch.float64: (torch.int64, (1 << 52) - 1, 1 << 51),
    torch.float32: (torch.int32, (1 << 23) - 1, 1 << 22),
    torch.float16: (torch.int16, (1 << 10) - 1, 1 << 9),
    torch.bfloat16: (torch.int16, (1 << 7) - 1, 1 << 6),
}
_FLOAT8_NAN = 0x7F  # in e4m3fn the only NaN but for its sign; in e5m2 one of three
_LOW, _HIGH = 0x7FF9, 0x7FFF


def poison(shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    """Return a tensor of poison on the generator's device."""
    device = generator.device
    if dtype in _NAN_LAYOUT:
        width = dtype.itemsize // 2
        halves = torch.randint(_LOW, _HIGH, (*shape, width), dtype=torch.int16, generator=generator, device=device)
        return halves.view(dtype).reshape(shape)
    if dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        return torch.full(shape, _FLOAT8_NAN, dtype=torch.uint8, device=device).view(dtype)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator, device=device).to(torch.bool)
    garbage = torch.randint(0, 256, (*shape, dtype.itemsize), dtype=torch.uint8, generator=generator, device=device)
    return garbage.view(dtype).reshape(shape)


def is_poison(tensor: torch.Tensor) -> torch.Tensor:
    """Return where a tensor holds poison, or a value computed from it; all False for dtypes that can't show it."""
    if tensor.dtype not in _NAN_LAYOUT:
        return torch.zeros(tensor.shape, dtype=torch.bool, device=tensor.device)
    integer, mask, quiet = _NAN_LAYOUT[tensor.dtype]
    payload = tensor.contiguous().view(integer) & mask
    return torch.isnan(tensor) & (payload != quiet) & (payload != mask)


def same_bits(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return where two contiguous tensors of one dtype and shape hold the same bits (NaN equals itself here)."""
    integer = {8: torch.int64, 4: torch.int32, 2: torch.int16, 1: torch.uint8}[left.dtype.itemsize]
    return left.contiguous().view(integer) == right.contiguous().view(integer)
