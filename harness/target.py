"""A target: a described GPU that kernels are built for, whether or not one is present.

This module owns the description (`targets.yaml`) and its lookup. Putting a description in the place of a real
GPU, inside a process that traces or assembles, is `trace.described_gpu`'s business.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from harness.errors import SpecError, UsageError

TARGETS_FILE = Path(__file__).with_name("targets.yaml")

ASSUMED_NOISE = 0.01
"""What identical kernels are taken to differ by on a GPU where nobody has measured it: as on the one where we have."""


@dataclass(frozen=True)
class Target:
    """One GPU model. Sizes in bytes, clocks in kHz, rates in TFLOP/s and TB/s as the datasheet gives them."""

    name: str
    title: str
    capability: tuple[int, int]
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    shared_memory_per_block_bytes: int
    shared_memory_per_block_optin_bytes: int
    shared_memory_per_multiprocessor_bytes: int
    registers_per_multiprocessor: int
    max_threads_per_multiprocessor: int
    max_blocks_per_multiprocessor: int
    max_threads_per_block: int
    warp_size: int
    clock_khz: int
    memory_clock_khz: int
    memory_bus_bits: int
    memory_tb_per_s: float
    tflops: dict[str, float]
    static_shared_bytes: int
    tensor_memory_columns: int
    noise: float | None

    @property
    def ranking_noise(self) -> float:
        """The share of one within which ranking ties: measured, or assumed."""
        return ASSUMED_NOISE if self.noise is None else self.noise

    @property
    def architecture(self) -> int:
        """The compute capability as Triton counts it: 90 for 9.0, 100 for 10.0."""
        return self.capability[0] * 10 + self.capability[1]

    def floor_us(self, read_bytes: int, write_bytes: int, flops: int, precision: str) -> float:
        """Return the least time in microseconds that this GPU can take: speed of light.

        Reads count in full; writes only beyond what L2 can hold, since a write may stay there past the clock.
        """
        moved = read_bytes + max(0, write_bytes - self.l2_bytes)
        return max(moved / (self.memory_tb_per_s * 1e6), flops / (self.tflops[precision] * 1e6))


@lru_cache(maxsize=1)
def _load_targets() -> dict[str, Target]:
    documents: dict[str, dict[str, Any]] = yaml.safe_load(TARGETS_FILE.read_text(encoding="utf-8"))
    targets = {}
    for name, fields in documents.items():
        try:
            targets[name] = Target(name=name, **(fields | {"capability": tuple(fields["capability"])}))
        except TypeError as error:
            raise SpecError(f"{TARGETS_FILE.name}: {name}: {error}") from None
    return targets


def target_names() -> tuple[str, ...]:
    """Return the names of all described GPUs, the season's default first in the file."""
    return tuple(_load_targets())


def load_target(name: str) -> Target:
    """Return the target called `name` (case is ignored).

    Raises:
        UsageError: there is no such target; the message names near ones.
    """
    targets = _load_targets()
    found = targets.get(name.lower())
    if found is None:
        near = get_close_matches(name.lower(), targets, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"unknown target {name!r}.{hint} Known targets: {', '.join(targets)}.")
    return found
