"""Configs that fail, and configs that nobody gave: the author sees which one, and can copy it."""

from __future__ import annotations

import re

import pytest

from harness.trace.failures import REASONS
from tests.trace.conftest import Trace

COPY = """
import torch
import helion
import helion.language as hl

@helion.kernel(config=helion.Config(block_sizes=[64]{keys}), static_shapes=True)
def copy(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile]
    return out

def custom_kernel(data):
    return copy(data[0])
"""

REFUSED = {
    "num_warps=3": ("config_error", "num_warps=3: the number of warps must be a power of two, at least 1 [kernel copy"),
    "num_warps=0": ("config_error", "num_warps=0"),
    "num_warp=4": ("config_error", "Invalid config keys ['num_warp']; did you mean num_warps? [kernel copy"),
    "frobnicate=4": ("config_error", "Invalid config keys ['frobnicate'] [kernel copy"),
    "loop_orders=True": ("config_error", "expected list or None, got bool [kernel copy"),
}

# Helion 1.5.0 on a GPU of any kind: descriptors and a global tile size make `Kernel.bind` fail without a text.
DESCRIPTORS = """
import torch
import helion
import helion.language as hl

C = 32

@helion.kernel(config=helion.Config(block_sizes=[32], indexing="tensor_descriptor"), static_shapes=True)
def scale(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        for columns in hl.tile(x.size(1), block_size=C):
            out[rows, columns] = x[rows, columns] * 2
    return out

def custom_kernel(data):
    return scale(data[0])
"""


@pytest.mark.parametrize("key", REFUSED)
def test_refused_config_is_shown(trace: Trace, key: str) -> None:
    reason, message = REFUSED[key]
    failure = trace(COPY.format(keys=f", {key}")).failure()
    assert failure["reason"] == reason, failure
    assert message in failure["message"]
    assert re.search(r"\[kernel copy, helion\.Config\(block_sizes=\[64\], .*\)\]\. ", failure["message"]), failure
    assert key.split("=")[0] in failure["message"].rpartition("helion.Config(")[2]
    assert failure["message"].endswith(REASONS[reason])
    assert failure["traceback"][-1]["text"] == "return copy(data[0])"


def test_long_config_is_cut(trace: Trace) -> None:
    failure = trace(COPY.format(keys=", num_warp=[" + "1, " * 200 + "]")).failure()
    shown = re.search(r"\[kernel copy, (helion.*\.\.\.)\]", failure["message"])
    assert shown
    assert len(shown[1]) == 300


def test_a_caught_failure_is_not_blamed_for_another(trace: Trace) -> None:
    caught = (
        "try:\n        copy(data[0])\n    except Exception:\n        pass\n    raise helion.exc.InvalidConfig('mine')"
    )
    failure = trace(COPY.format(keys=", num_warp=4").replace("return copy(data[0])", caught)).failure()
    assert failure["message"] == f"mine. {REASONS['config_error']}"


def test_error_inside_helion_tells_where_and_with_which_config(trace: Trace) -> None:
    failure = trace(DESCRIPTORS, [64, 128]).failure()
    assert failure["reason"] == "helion_error", failure
    assert failure["message"] == (
        "Helion failed internally with this config: NoCurrentFunction (in host_function.py:current, "
        "compile_environment.py:get_block_id, compile_environment.py:get_block_id). Helion 1.5.0 fails so when a "
        "kernel has both tensor descriptors and a tile whose size is a global variable, as in "
        "hl.tile(n, block_size=C): write the number there, or leave it to block_sizes. "
        "[kernel scale, helion.Config(block_sizes=[32], indexing='tensor_descriptor')]. " + REASONS["helion_error"]
    )
    assert failure["traceback"][-1]["text"] == "return scale(data[0])"


@pytest.mark.parametrize(("size", "sizes"), [(", block_size=32", "[32]"), ("", "[32, 32]")])
def test_what_it_advises_works(trace: Trace, size: str, sizes: str) -> None:
    source = DESCRIPTORS.replace(", block_size=C", size).replace("[32]", sizes)
    traced = trace(source, [64, 128])
    (launch,) = traced.plan().launches
    assert "tt.make_tensor_descriptor" in traced.kernel(launch)["ttir"]


def test_chosen_config_is_told_for_each_shape_and_makes_the_same_kernel(trace: Trace) -> None:
    shapes = {"N256": ([256],), "N4096": ([4096],)}
    none = COPY.replace("config=helion.Config(block_sizes=[64]{keys})", 'autotune_effort="full"')
    traced = trace(none, shapes=shapes)
    for shape, text in zip(shapes.values(), traced.warnings, strict=True):
        assert text.startswith(f"kernel copy has no config for {shape[0]}; Helion's heuristics choose helion.Config(")
        assert len(text) <= 500  # what the engine keeps of a warning
        chosen = re.search(r"choose (helion\.Config\(.*\)): ", text)
        assert chosen
        again = trace(none.replace('autotune_effort="full"', f"config={chosen[1]}"), *shape)
        name = next(name for name, inputs in shapes.items() if inputs == shape)
        assert again.plan().launches[0].kernel == traced.plan(name).launches[0].kernel
        assert again.warnings == []
