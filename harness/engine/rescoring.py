"""`harness rescore`: artifacts that were built and accepted before, replayed by today's evaluator and recorded anew.

A change of the evaluator makes earlier scores incomparable, not earlier builds useless: nothing is compiled again.
Only artifacts of this workspace are taken, which its own builds wrote; they are held against today's rules all the
same. Each becomes a new record; the old ones stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from harness.artifact import Artifact, load_artifact
from harness.case import load_cases
from harness.engine.gpu_record import add_replay
from harness.engine.gpu_stage import replay_on_gpu
from harness.engine.progress import Listener
from harness.engine.replaying import check_rules, describe_artifact
from harness.engine.report import report_verdict
from harness.engine.standing import Ranked, why_unranked
from harness.engine.workspace import Workspace
from harness.errors import ArtifactError, UsageError
from harness.sandbox import Level
from harness.spec import Season, find_problem
from harness.store import Record, Store, compared_tools
from harness.target import Target
from harness.toolchain import EVALUATOR_VERSION, find_faults, installed_versions
from harness.verdict import Kind


@dataclass(frozen=True)
class Rescored:
    """What came of one earlier record: a new one, or why there is none."""

    old: Record
    new: Record | None
    why_not: str = ""


def choose_records(records: Iterable[Record], target: str, *, again: bool) -> list[Record]:
    """Return what is worth replaying: the newest accepted record of each team's programs on a target.

    Args:
        records: any.
        target: the GPU at hand.
        again: also those that today's evaluator has scored already; a program has the mean of its runs.
    """
    newest: dict[tuple[str, ...], Record] = {}
    scored = set()
    for record in sorted(records, key=lambda record: record.id):
        board = (record.problem, record.division, record.suite, record.team)
        if record.target == target and record.accepted and record.whole_suite and record.artifact_key is not None:
            newest[(*board, record.program)] = record
            if record.scored and record.evaluator_version == EVALUATOR_VERSION:
                # A record from before `program_sha256` has its program by the name of its source.
                names = (record.program, record.normalised_source_sha256)
                scored |= {(*board, name, record.problem_version) for name in names}
    chosen = {key: r for key, r in newest.items() if again or (*key, r.problem_version) not in scored}
    by_artifact = {(*key[:-1], record.artifact_key): record for key, record in chosen.items()}
    return sorted(by_artifact.values(), key=lambda record: record.id)


def rescore(
    old: Record,
    workspace: Workspace,
    store: Store,
    season: Season,
    target: Target,
    node: Sequence[str],
    listener: Listener,
) -> Rescored:
    """Replay one record's artifact and store what came of it.

    Args:
        old: from `choose_records`.
        workspace: where its artifact is.
        store: where the new record is kept.
        season: whose rules.
        target: the GPU at hand.
        node: starts the node's program.
        listener: is told how it goes.

    Raises:
        NodeLacksError, WorkerError: the node could not be used; nothing is stored.
    """
    try:
        artifact = load_artifact(workspace.artifacts / str(old.artifact_key))
        new = _replay(old, artifact, workspace, season, target, node, listener)
    except (ArtifactError, UsageError) as error:
        return Rescored(old, None, f"{error}: submit again")
    store.submit(replace(new, state="submitted", finished=None, verdict=None, ranked=False))
    store.finish(new)
    return Rescored(old, new)


def _replay(
    old: Record,
    artifact: Artifact,
    workspace: Workspace,
    season: Season,
    target: Target,
    node: Sequence[str],
    listener: Listener,
) -> Record:
    problem = find_problem(workspace.root, old.problem)
    if problem.version != artifact.manifest.problem_version:
        raise UsageError(f"it was built for another version of {problem.name}")
    cases = load_cases(problem, old.suite)
    if not {case.shape_id for case in cases} <= set(artifact.plans):
        raise UsageError(f"it was not built for all shapes of suite {old.suite}")
    _check_tools(artifact)
    new = replace(
        describe_artifact(artifact, season, target),
        source_sha256=old.source_sha256,
        normalised_source_sha256=old.normalised_source_sha256,
        suite=old.suite,
        sandbox_level=old.sandbox_level,
    )
    refused = check_rules(artifact, problem, season, target, cases)
    if refused is not None:
        return replace(new, verdict=report_verdict(refused))
    judged = replay_on_gpu(node, artifact, problem, cases, target, season.budgets.gpu_call_s, listener)
    manifest, level = artifact.manifest, Level(old.sandbox_level)
    entry = Ranked(
        problem=old.problem,
        suite=old.suite,
        division=old.division,
        target=target.name,
        portable=manifest.portable,
        level=level,
        suite_cases=len(cases),
        toolchain_faults=find_faults(manifest.toolchain),
    )
    # It was submitted in time if it was then: a replay after the end of the season takes nothing away.
    submitted = datetime.fromisoformat(old.created.replace("Z", "+00:00"))
    why = why_unranked(entry, season, judged.verdict, judged.replay, submitted)
    new = add_replay(replace(new, verdict=report_verdict(judged.verdict)), judged.replay)
    return replace(new, ranked=judged.verdict.kind is Kind.PASSED and why is None, unranked_reason=why)


def _check_tools(artifact: Artifact) -> None:
    """Refuse an artifact of other tools than today's: what they built is not comparable, whoever replays it.

    Raises:
        UsageError: with what differs.
    """
    then, now = dict(compared_tools(artifact.manifest.toolchain)), dict(compared_tools(installed_versions()))
    differing = [f"{tool} {then.get(tool, 'none')}, now {now[tool]}" for tool in now if then.get(tool) != now[tool]]
    if differing:
        raise UsageError(f"it was built with {'; '.join(differing)}")
