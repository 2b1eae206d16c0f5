"""After `make fuzz`: what came of the cases."""

from __future__ import annotations

from typing import Any

from tests.fuzz.cases import SEED, TRIED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if SEED is not None:
        terminalreporter.section(f"cases from seed {SEED}")
        for name, count in sorted(TRIED.items()):
            terminalreporter.write_line(f"{count:>8,}  {name}")
