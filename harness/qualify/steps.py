"""The steps of an examination: each is told before it runs, and is stopped when it takes too long. Child process.

A step runs organisers' Python, which may loop for ever. An alarm raises in the midst of it, so that it is known where
it was and the steps after it still run. What holds the alarm off (one operation of many minutes, an `except:` that
takes everything) is for the parent, who waits only a little longer and then kills this process.
"""

from __future__ import annotations

import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

STEP_LIMIT_S = 120
ADVICE = "mend a loop that does not end, or give the tests smaller shapes"
MOST_STOPPED = 2  # steps of one group: others would only be waited for

Result = TypeVar("Result")
Tell = Callable[[str, int], None]


class StoppedError(BaseException):
    """A step took too long. No Exception, so that organisers' `except Exception` lets it pass."""


class LeftOutError(Exception):
    """A step was not run, because others of its group had to be stopped."""


class Steps:
    """Runs steps one after the other.

    Attributes:
        left_out: how many steps of each group were not run.
    """

    def __init__(self, tell: Tell = lambda step, total: None, limit_s: int | None = None) -> None:
        """Begin.

        Args:
            tell: is told of each step before it runs, and of how many there are to be.
            limit_s: what a step may take; for ever where None.
        """
        self._tell, self._limit_s = tell, limit_s
        self._total = 0
        self._stopped: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()

    def expect(self, steps: int) -> None:
        """Say that so many more steps will come."""
        self._total += steps

    def run(self, path: Path, name: str, work: Callable[[], Result], detail: str = "", group: str = "") -> Result:
        """Run a step, and return its result.

        Args:
            path: the file whose Python it runs.
            name: what of it.
            work: the step.
            detail: what sets this step apart from others of that name.
            group: the steps that are left out once some of them had to be stopped; those of that name by default.

        Raises:
            StoppedError: it took too long; the message blames the file, and the line where it was.
            LeftOutError: it was not run.
        """
        group = group or name
        if self._stopped[group] >= MOST_STOPPED:
            self.left_out[group] += 1
            raise LeftOutError
        self._tell(f"{path.name}: {', '.join(filter(None, (name, detail)))}", self._total)
        try:
            with self._alarm():
                return work()
        except StoppedError as error:
            self._stopped[group] += 1
            lines = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == path]
            where = f" at line {lines[-1].lineno}: {lines[-1].line}" if lines else ""
            raise StoppedError(f"{path}: {name} was stopped after {self._limit_s} s{where}") from None

    @contextmanager
    def _alarm(self) -> Iterator[None]:
        if self._limit_s is None:
            yield
            return
        before = signal.signal(signal.SIGALRM, _stop)
        signal.alarm(self._limit_s)
        try:
            yield
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)


def _stop(*_: Any) -> None:
    raise StoppedError
