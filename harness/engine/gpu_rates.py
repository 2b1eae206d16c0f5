"""How fast a GPU is, as its node measures it (`replay.node.rates`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.engine.gpu_node import run_node
from harness.errors import WorkerError

TIMEOUT_S = 180.0
_MOST = 1e6


@dataclass(frozen=True)
class Rates:
    """TB/s of a copy and TFLOP/s of matrix products, by name; and whether kernels can reach the host's memory."""

    rates: dict[str, float]
    addresses_host_memory: bool


def measure_rates(node: Sequence[str]) -> Rates:
    """Have a node measure its GPU.

    Args:
        node: starts the node's program.

    Raises:
        NodeLacksError: there is no GPU that it can use.
        WorkerError: it says something else.
    """
    found, reaches = None, False
    for event in run_node([*node, "rates"], TIMEOUT_S, wanted="rates"):
        if event.get("event") == "rates":
            found = event.get("rates")
        elif event.get("event") == "node" and isinstance(event.get("machine"), dict):
            reaches = bool(event["machine"].get("addresses_host_memory"))
    if not isinstance(found, dict) or not 0 < len(found) < 20 or not all(map(_is_rate, found.values())):
        raise WorkerError("the node's rates are not of the form")
    return Rates({str(name)[:40]: float(rate) for name, rate in found.items()}, reaches)


def _is_rate(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < _MOST
