"""CUDA's device library, by symbol.

Triton's own `libdevice` module checks argument types and picks the symbol ("__nv_expf"), exactly as it does
when compiling; here is what each symbol computes, through torch. A symbol without an entry is unsupported.
Functions are those that Helion and Inductor can print, plus their close relatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from triton.runtime.interpreter import TensorHandle

from harness.replay.cpu.faults import Unsupported
from harness.replay.cpu.numerics import Array, numpy_type

Function = Callable[..., torch.Tensor]


def _round_half_away(x: torch.Tensor) -> torch.Tensor:
    return torch.copysign(torch.floor(torch.abs(x) + 0.5), x)


def _ilogb(x: torch.Tensor) -> torch.Tensor:
    return torch.frexp(x)[1] - 1


def _cbrt(x: torch.Tensor) -> torch.Tensor:
    return torch.copysign(torch.pow(torch.abs(x), 1 / 3), x)


def _fma(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return x.double() * y.double() + z.double()


def _bits_set(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([(x >> shift) & 1 for shift in range(x.element_size() * 8)]).sum(0)


_MATH: dict[str, Function] = {
    "abs": torch.abs,
    "acos": torch.acos,
    "acosh": torch.acosh,
    "asin": torch.asin,
    "asinh": torch.asinh,
    "atan": torch.atan,
    "atan2": torch.atan2,
    "atanh": torch.atanh,
    "cbrt": _cbrt,
    "ceil": torch.ceil,
    "copysign": torch.copysign,
    "cos": torch.cos,
    "cosh": torch.cosh,
    "cospi": lambda x: torch.cos(x * math.pi),
    "erf": torch.erf,
    "erfc": torch.erfc,
    "erfcinv": lambda x: torch.erfinv(1 - x),
    "erfcx": torch.special.erfcx,
    "erfinv": torch.erfinv,
    "exp": torch.exp,
    "exp10": lambda x: torch.pow(10.0, x),
    "exp2": torch.exp2,
    "expm1": torch.expm1,
    "fabs": torch.abs,
    "fdim": lambda x, y: torch.clamp(x - y, min=0),
    "floor": torch.floor,
    "fma": _fma,
    "fmax": torch.fmax,
    "fmin": torch.fmin,
    "fmod": torch.fmod,
    "hypot": torch.hypot,
    "ilogb": _ilogb,
    "isinf": torch.isinf,
    "isnan": torch.isnan,
    "j0": torch.special.bessel_j0,
    "j1": torch.special.bessel_j1,
    "ldexp": torch.ldexp,
    "lgamma": torch.lgamma,
    "llrint": torch.round,
    "llround": _round_half_away,
    "log": torch.log,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "log2": torch.log2,
    "logb": lambda x: _ilogb(x).to(x.dtype),
    "nearbyint": torch.round,
    "nextafter": torch.nextafter,
    "normcdf": torch.special.ndtr,
    "normcdfinv": torch.special.ndtri,
    "pow": torch.pow,
    "powi": torch.pow,
    "rcbrt": lambda x: 1 / _cbrt(x),
    "rint": torch.round,
    "round": _round_half_away,
    "rsqrt": torch.rsqrt,
    "signbit": torch.signbit,
    "sin": torch.sin,
    "sinh": torch.sinh,
    "sinpi": lambda x: torch.sin(x * math.pi),
    "sqrt": torch.sqrt,
    "tan": torch.tan,
    "tanh": torch.tanh,
    "tgamma": lambda x: torch.where(x < 0, torch.nan, torch.exp(torch.lgamma(x))),
    "trunc": torch.trunc,
}

_ROUND_TO_NEAREST: dict[str, Function] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "rcp": torch.reciprocal,
    "sqrt": torch.sqrt,
}

_OTHERS: dict[str, Function] = {
    "fast_cosf": torch.cos,
    "fast_exp10f": lambda x: torch.pow(10.0, x),
    "fast_expf": torch.exp,
    "fast_fdividef": torch.div,
    "fast_log10f": torch.log10,
    "fast_log2f": torch.log2,
    "fast_logf": torch.log,
    "fast_powf": torch.pow,
    "fast_sinf": torch.sin,
    "fast_tanf": torch.tan,
    "finitef": torch.isfinite,
    "fma_rn": _fma,
    "fmaf_rn": _fma,
    "frsqrt_rn": torch.rsqrt,
    "isfinited": torch.isfinite,
    "llabs": torch.abs,
    "popc": _bits_set,
    "popcll": _bits_set,
    "saturatef": lambda x: torch.clamp(x, 0, 1),
    **{f"{kind}{name}_rn": function for name, function in _ROUND_TO_NEAREST.items() for kind in "fd"},
}


def _find(symbol: str) -> Function | None:
    """Look a symbol up; the float32 form of a function ends in "f", the float64 form of a few in "d"."""
    name = symbol.removeprefix("__nv_")
    if name in _OTHERS:
        return _OTHERS[name]
    return _MATH.get(name) or _MATH.get(name.removesuffix("f")) or _MATH.get(name.removesuffix("d"))


def call(symbol: str, arguments: list[TensorHandle], result_type: Any) -> TensorHandle:
    """Compute one libdevice function element by element."""
    function = _find(symbol)
    if function is None:
        raise Unsupported(f"the libdevice function {symbol} is not interpreted")
    tensors = [torch.from_numpy(np.array(a.data, order="C")) for a in arguments]
    result: Array = function(*tensors).numpy()
    carrier = numpy_type(result_type)
    return TensorHandle(result.astype(carrier).reshape(arguments[0].data.shape), result_type.scalar)
