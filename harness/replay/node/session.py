"""What is at hand while one artifact is replayed: judge, memory, and the runner of the moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.artifact import Artifact
from harness.replay.node.judging import GpuJudge
from harness.replay.node.runner_process import RunnerProcess
from harness.replay.node.turn import Turn

if TYPE_CHECKING:  # it needs a driver's bindings, and the order of calls is tried without
    from harness.replay.node.shared_memory import SharedMemory

Tell = Callable[[dict[str, Any]], None]


@dataclass
class Session:
    """What one replay needs at hand.

    Attributes:
        turn: its hold on the GPU, which others may share.
        starts: how many runners there have been.
        prepared: the shape whose call the runner has captured, "" if none; `slots` and `nodes` are of that.
        captured: of each timed case, whether its inputs are drawn by graphs.
        was_late: a call has been late once.
    """

    artifact: Artifact
    folder: Path
    judge: GpuJudge
    memory: SharedMemory
    program: list[str]
    tell: Tell
    runner: RunnerProcess
    turn: Turn
    starts: int = 1
    prepared: str = ""
    slots: int = 0
    nodes: int = 0
    captured: list[bool] = field(default_factory=list)
    was_late: bool = False

    def __post_init__(self) -> None:
        self.exchange = self.memory.shared_with(self.runner)

    def restart(self) -> None:
        """Put a fresh runner in the place of the last one, with the GPU to itself from here on."""
        self.runner.close()
        if self.turn.shared:
            self.judge.let_go()  # while this one waits, the memory is another's
            self.turn.have_alone()
        self.runner = RunnerProcess(self.program, self.folder, self.runner.shared, self.runner.level)
        self.memory.offer(self.runner)
        self.runner.wait_until_started()
        self.exchange = self.memory.shared_with(self.runner)
        self.starts, self.prepared = self.starts + 1, ""
