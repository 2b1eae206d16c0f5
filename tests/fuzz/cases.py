"""How many cases are tried, and from which seed: few and always the same ones in `make test`, many in `make fuzz`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import hypothesis

CASES = int(os.environ.get("HARNESS_FUZZ_CASES", "1000"))
SEED = os.environ.get("HARNESS_FUZZ_SEED")

TRIED: Counter[str] = Counter()
"""What came of the cases of this process, by property."""


def fuzzed(share: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try a property on a share of all cases."""
    settings = hypothesis.settings(
        max_examples=max(1, round(CASES * share)),
        derandomize=SEED is None,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate, hypothesis.Phase.shrink],
        print_blob=True,
    )

    def decorate(function: Callable[..., None]) -> Any:
        return settings(function) if SEED is None else hypothesis.seed(int(SEED))(settings(function))

    return decorate
