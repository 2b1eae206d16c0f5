"""What a worker does with a job: by the engine, or by outcomes that were recorded before.

The engine's way (`engine_evaluator`) builds in sandboxes and replays on this machine's GPU; workers alone import it, so
that no server waits for that. The recorded way is for rehearsing a season: a server with its queue, its boards and its
organisers, at whatever speed, without a compiler. It looks a submission up in a folder of records, by its source; what
it does not find there is a fault of whoever set it up.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from harness.engine.progress import Event, Listener
from harness.errors import SandboxError, UsageError
from harness.sandbox import Level, LevelReport
from harness.service.job import Job
from harness.spec import Problem, Season
from harness.store import load_records
from harness.store.record import Record, VerdictRecord
from harness.submission import Submission
from harness.target import load_target

ENGINE, RECORDED = "engine", "recorded"
_OR_REHEARSE = "or rehearse with --evaluate recorded=FOLDER"


@dataclass(frozen=True)
class Task:
    """A job with all that its evaluation looks at."""

    job: Job
    submission: Submission
    season: Season
    problem: Problem


class Evaluator(Protocol):
    """One way to evaluate. An error that it raises is ours; a verdict is the team's."""

    def build(self, task: Task, listener: Listener) -> Record:
        """Return the record of a job after its build and check."""

    def replay(self, task: Task, checked: Record, listener: Listener) -> Record:
        """Return the record of a built job after its replay on a GPU."""


class RecordedEvaluator:
    """Gives the outcomes of a folder of records, after as much of the time that they took as is wanted.

    Args:
        folder: of records, as `harness board --save` writes them.
        pace: 1 for the time that each stage took when it was recorded, 0 for none.
    """

    def __init__(self, folder: Path, pace: float = 0.0) -> None:
        self._pace = pace
        self._records = {(r.problem, r.source_sha256): r for r in load_records(folder)}

    def build(self, task: Task, listener: Listener) -> Record:
        """Return the recorded outcome, or that it waits for the GPU if it was measured on one."""
        record = self._find(task.job)
        listener(Event("build", "start", total=1))
        self._wait(record, ("build", "trace", "assemble", "check"))
        if record.kind != "PASSED":
            return record
        waits = VerdictRecord("CHECKED", "judge", message="all test cases pass")
        return replace(record, verdict=waits, ranked=False, score_us=None)

    def replay(self, task: Task, checked: Record, listener: Listener) -> Record:
        """Return the recorded outcome."""
        record = self._find(task.job)
        listener(Event("replay", "start", total=len(record.cases)))
        self._wait(record, ("replay",))
        return record

    def _find(self, job: Job) -> Record:
        record = self._records.get((job.problem, job.source_sha256))
        if record is None:
            raise UsageError(f"no outcome is recorded for source {job.source_sha256[:12]} of {job.problem}")
        names = ("team", "problem", "target", "division", "suite", "season", "source_sha256")
        return named_after(replace(record, **{name: getattr(job, name) for name in names}), job)

    def _wait(self, record: Record, stages: tuple[str, ...]) -> None:
        time.sleep(self._pace * sum(stage.wall_s for stage in record.stages if stage.name in stages))


def make_evaluator(kind: str, root: Path) -> Evaluator:
    """Return the evaluator that a server was started with: "engine", or "recorded=FOLDER" with "@PACE" after it.

    Raises:
        UsageError: it is neither.
    """
    name, _, rest = kind.partition("=")
    if name == ENGINE and not rest:
        from harness.service.engine_evaluator import EngineEvaluator

        return EngineEvaluator(root)
    folder, _, pace = rest.partition("@")
    if name != RECORDED or not folder:
        raise UsageError(f"{kind[:60]!r} is no way to evaluate: engine, or recorded=FOLDER[@PACE]")
    try:
        return RecordedEvaluator(Path(folder), float(pace or 0))
    except ValueError:
        raise UsageError(f"the pace of recorded outcomes should be a number, not {pace[:40]!r}") from None


def want_sandbox(season: Season, found: LevelReport) -> Level:
    """Return the level at which strangers' code is run here: what was found, if that is enough.

    Raises:
        SandboxError: it is less than the season asks for, or nothing at all.
    """
    levels = list(Level)  # the best first
    least = levels[min(levels.index(Level(season.sandbox)), levels.index(Level.RESTRICTED))]
    if levels.index(found.level) > levels.index(least):
        told = f"at sandbox level {least} at least, and this machine has {found.level}: {'; '.join(found.reasons)}"
        raise SandboxError(f"a service runs strangers' code {told}")
    return found.level


def local_targets(season: Season) -> tuple[str, ...]:
    """Return the GPUs of the season that this machine has."""
    from harness.engine.local_gpus import find_season_gpu

    found = find_season_gpu(season)
    return (found[1].name,) if found is not None else ()


def check_targets(targets: tuple[str, ...], replaying: bool) -> None:
    """Hold what GPU workers are to replay on against the GPUs of this machine.

    Args:
        targets: names of targets.
        replaying: whether there are GPU workers.

    Raises:
        UsageError: there are none for them to use.
    """
    from harness.engine.local_gpus import find_gpu_of

    for target in map(load_target, targets):
        if find_gpu_of(target) is None:
            raise UsageError(f"this machine has no {target.title} to replay on: leave --targets out, {_OR_REHEARSE}")
    if replaying and not targets:
        raise UsageError(f"no GPU here that the season ranks, so no gpu workers: leave gpu=N out, {_OR_REHEARSE}")


def named_after(record: Record, job: Job) -> Record:
    """Return a record under its job's name and time."""
    return replace(record, id=job.id, created=job.created)
