"""How fast a GPU is, as its node measures it (`replay.node.rates`)."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.gpu_node import run_node
from harness.errors import WorkerError

TIMEOUT_S = 180.0
_MOST = 1e6


def measure_rates(node: Sequence[str]) -> dict[str, float]:
    """Return TB/s of a copy and TFLOP/s of matrix products, by name.

    Args:
        node: starts the node's program.

    Raises:
        NodeLacksError: there is no GPU that it can use.
        WorkerError: it says something else.
    """
    found = None
    for event in run_node([*node, "rates"], TIMEOUT_S, wanted="rates"):
        if event.get("event") == "rates":
            found = event.get("rates")
    if not isinstance(found, dict) or not 0 < len(found) < 20 or not all(map(_is_rate, found.values())):
        raise WorkerError("the node's rates are not of the form")
    return {str(name)[:40]: float(rate) for name, rate in found.items()}


def _is_rate(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < _MOST
