"""A reference with one fault per distribution."""

from __future__ import annotations

import os
import sys
import time

import torch

wanted = "fine"


def generate(shape, distribution, generator):
    global wanted
    wanted = distribution
    x = torch.randn(shape["N"], generator=generator)
    w = torch.randn(shape["N"], generator=generator)
    match distribution:
        case "generate_raises":
            raise ValueError("no such luck")
        case "generate_exits":
            sys.exit(0)
        case "generate_shape":
            return x, w[:4]
        case "generate_dtype":
            return x, w.double()
        case "generate_strides":
            return x, torch.randn(2 * shape["N"])[::2]
        case "generate_count":
            return (x,)
        case "generate_none":
            return None
        case "generate_shared":
            return x, x
        case "crash":
            os.abort()
        case "hang":
            time.sleep(60)
    return x, w


def reference(inputs, shape):
    x, w = inputs
    match wanted:
        case "reference_raises":
            return (missing_name,)  # noqa: F821
        case "reference_shape":
            return (x.double()[:4],)
        case "reference_dtype":
            return (x * w,)
        case "reference_nan":
            return (x.double() / 0 * 0,)
        case "reference_modifies":
            x.mul_(2)
    return (x.double() * w.double(),)
