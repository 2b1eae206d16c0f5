"""How fast a GPU is: copying memory, and multiplying matrices by dtype. For percentages; no score depends on it."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

import torch

COPY_BYTES = 2 << 30
SIZE = 8192  # of the matrices
REPEATS = 20
_WARM_UPS = 3

# name -> (dtype, whether torch may round float32 to tf32)
MATMULS = {
    "float32": (torch.float32, False),
    "tf32": (torch.float32, True),
    "float16": (torch.float16, False),
    "bfloat16": (torch.bfloat16, False),
}


def measure_rates() -> dict[str, float]:
    """Return TB/s of a device copy (what is read and written, together) and TFLOP/s of square products, by dtype."""
    rates = {"copy_tb_per_s": 2 * COPY_BYTES / _seconds(_copy()) / 1e12}
    for name, (dtype, tf32) in MATMULS.items():
        torch.backends.cuda.matmul.allow_tf32 = tf32
        left, right = (torch.randn(SIZE, SIZE, device="cuda").to(dtype) for _ in range(2))
        out = torch.empty_like(left)
        rates[f"{name}_tflops"] = 2 * SIZE**3 / _seconds(_product(left, right, out)) / 1e12
    torch.backends.cuda.matmul.allow_tf32 = False
    return {name: round(rate, 3) for name, rate in rates.items()} | _fp8()


def _copy() -> Callable[[], object]:
    source = torch.empty(COPY_BYTES, dtype=torch.uint8, device="cuda")
    copy = torch.empty_like(source)
    return lambda: copy.copy_(source)


def _product(left: torch.Tensor, right: torch.Tensor, out: torch.Tensor) -> Callable[[], object]:
    return lambda: torch.matmul(left, right, out=out)


def _fp8() -> dict[str, float]:
    """Return the rate of fp8 products, nothing where torch has none for this GPU."""
    try:
        left = torch.randn(SIZE, SIZE, device="cuda").to(torch.float8_e4m3fn)
        right = torch.randn(SIZE, SIZE, device="cuda").to(torch.float8_e4m3fn).t()  # it wants the second one so
        one = torch.ones((), device="cuda")
        seconds = _seconds(lambda: torch._scaled_mm(left, right, scale_a=one, scale_b=one, out_dtype=torch.bfloat16))
    except (RuntimeError, TypeError, AttributeError):
        return {}
    return {"fp8_tflops": round(2 * SIZE**3 / seconds / 1e12, 3)}


def _seconds(call: Callable[[], object]) -> float:
    """Return the median time of a call, by events."""
    for _ in range(_WARM_UPS):
        call()
    times_ms = []
    for _ in range(REPEATS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times_ms.append(start.elapsed_time(end))
    return float(median(times_ms)) / 1000
