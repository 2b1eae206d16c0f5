"""The compile budget: CPU-seconds of trace and assembly together, with a backstop in wall time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class CompileBudget:
    """What a build may still use. Cached parts are charged at what they cost when they were built."""

    cpu_s: float
    wall_s: float
    spent_cpu_s: float = 0.0
    _started: float = field(default_factory=time.monotonic)

    @property
    def left_cpu_s(self) -> float:
        """CPU-seconds left, 0 when spent."""
        return max(0.0, self.cpu_s - self.spent_cpu_s)

    @property
    def left_wall_s(self) -> float:
        """Wall-clock seconds left of the backstop, 0 when spent."""
        return max(0.0, self.wall_s - (time.monotonic() - self._started))

    @property
    def spent(self) -> bool:
        """Whether nothing is left of either."""
        return self.left_cpu_s <= 0 or self.left_wall_s <= 0

    def charge(self, cpu_s: float) -> None:
        """Take `cpu_s` from the budget."""
        self.spent_cpu_s += cpu_s
