"""Programs that wait for one another (grid barriers, semaphores): one thread each, one of them running at a time.

A program hands over after every atomic and every acquiring or volatile load, so that whoever it waits for gets
its turn. The order of the turns is the order in which the programs are given.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from harness.replay.cpu.faults import Unsupported

MOST_PROGRAMS = 8192
_STACK_BYTES = 1 << 18

Program = TypeVar("Program")


class Rotation(Generic[Program]):
    """Runs programs in turns until all are done or one fails."""

    def __init__(self, programs: Sequence[Program], enter: Callable[[Program], None]) -> None:
        """Prepare the turns.

        Args:
            programs: the programs, in the order of their turns.
            enter: makes a program the current one; called at the start of each turn.
        """
        if len(programs) > MOST_PROGRAMS:
            raise Unsupported(
                f"{len(programs)} programs that wait for one another are more than CPU replay runs at once, "
                f"{MOST_PROGRAMS}"
            )
        self._programs, self._enter = programs, enter
        self._turns = [threading.Semaphore(0) for _ in programs]
        self._ready = deque(range(len(programs)))
        self._current = 0
        self._over = threading.Event()
        self._failure: BaseException | None = None

    def run(self, body: Callable[[Program], None]) -> None:
        """Run `body` for every program; raise what the first that failed raised."""
        threading.stack_size(_STACK_BYTES)
        for index in range(len(self._programs)):
            try:
                threading.Thread(target=self._run_one, args=(index, body), daemon=True).start()
            except RuntimeError:
                told = f"{len(self._programs)} programs wait for one another, and only {index} threads could be started"
                raise Unsupported(told) from None
        self._hand_over()
        self._over.wait()
        if self._failure is not None:
            raise self._failure

    def pause(self) -> None:
        """Let the other programs have their turn. Called by the current program's thread."""
        mine = self._current
        self._ready.append(mine)
        self._hand_over()
        self._take(mine)

    def _run_one(self, index: int, body: Callable[[Program], None]) -> None:
        self._take(index)
        try:
            body(self._programs[index])
        except BaseException as error:
            self._failure = error
            self._over.set()
            return
        self._hand_over()

    def _take(self, index: int) -> None:
        self._turns[index].acquire()
        self._current = index
        self._enter(self._programs[index])

    def _hand_over(self) -> None:
        if self._ready:
            self._turns[self._ready.popleft()].release()
        else:
            self._over.set()
