"""Evaluation by the engine: builds in sandboxes, replays on this machine's GPU."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from harness.case import load_cases
from harness.engine.gpu_node import find_node
from harness.engine.progress import Listener
from harness.engine.recording import open_record
from harness.engine.request import BuildRequest
from harness.engine.stages import evaluate_build, evaluate_replay
from harness.engine.workspace import Workspace
from harness.errors import HarnessError
from harness.sandbox import LevelReport, best_level
from harness.service.evaluating import Task, named_after, want_sandbox
from harness.store.record import Record
from harness.target import load_target
from harness.toolchain import check_toolchain


class EngineEvaluator:
    """Evaluates with the engine, in a repository on this machine."""

    def __init__(self, root: Path) -> None:
        self._workspace = Workspace(root)

    @cached_property
    def _sandbox(self) -> LevelReport:
        return best_level()

    @cached_property
    def _toolchain(self) -> dict[str, str]:
        return check_toolchain()

    def build(self, task: Task, listener: Listener) -> Record:
        """Return the record of a job after its build and check."""
        request = self._request(task)
        return evaluate_build(request, named_after(open_record(request), task.job), self._workspace, listener)

    def replay(self, task: Task, checked: Record, listener: Listener) -> Record:
        """Return the record of a built job after its replay on a GPU."""
        request = self._request(task)
        node = find_node(request.target, self._workspace.state)
        if node is None:
            raise HarnessError(f"this machine has no {request.target.title}")
        return evaluate_replay(request, checked, self._workspace, node, listener)

    def _request(self, task: Task) -> BuildRequest:
        return BuildRequest(
            submission=task.submission,
            problem=task.problem,
            season=task.season,
            target=load_target(task.job.target),
            division=task.job.division,
            cases=load_cases(task.problem, task.job.suite),
            portable=False,
            level=want_sandbox(task.season, self._sandbox),
            toolchain=self._toolchain,
            suite=task.job.suite,
        )
