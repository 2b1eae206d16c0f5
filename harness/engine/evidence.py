"""Is it Helion's? What speaks for it and what against, for organisers who read the sources of top entries.

That a kernel's IR came from Helion cannot be proven: the trace that says so ran in the submission's own process. What
can be had is the form of the generated source, whether its comments name lines that the submission has, and whether
another trace of the same submission, in a fresh process, gives the same kernels. All of it is hostile and can be made
to fit by who tries; what does not fit is worth a look. No verdict comes from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.artifact import Artifact
from harness.case import Case, load_cases
from harness.engine.budget import CompileBudget
from harness.engine.progress import Listener
from harness.engine.tracing import Traced, TraceRequest, run_trace
from harness.engine.workspace import Workspace
from harness.errors import HarnessError
from harness.plan import LaunchStep
from harness.policy.generated import SourceLine, find_departures, find_source_lines
from harness.sandbox import Level
from harness.spec import Problem, Season, find_problem
from harness.submission import Submission, find_submission, load_submission
from harness.target import load_target

FOR, AGAINST, OPEN = "for", "against", "open"
"""What a note does: it speaks for Helion, against it, or tells what could not be looked at."""


@dataclass(frozen=True)
class Note:
    """One thing that was looked at."""

    sign: str
    subject: str
    text: str


def find_its_submission(artifact: Artifact, workspace: Workspace, file: Path | None) -> Submission | None:
    """Return the submission that an artifact was built from, None where it is not here any more."""
    manifest = artifact.manifest
    try:
        problem = find_problem(workspace.root, manifest.problem)
        if file is not None:
            found = load_submission(file, manifest.team)
        else:
            found = find_submission(workspace.root, manifest.team, problem.name, problem.aliases)
    except HarnessError:
        return None
    return found if found.sha256 == manifest.submission_sha256 else None


def gather_evidence(
    artifact: Artifact,
    submission: Submission | None,
    workspace: Workspace,
    season: Season,
    level: Level,
    listener: Listener,
) -> tuple[Note, ...]:
    """Look at everything that there is.

    Args:
        artifact: validated in form.
        submission: what it was built from, None where that is not here.
        workspace: where the problem lies.
        season: whose time limits and advanced controls.
        level: of the sandbox for another trace.
        listener: is told how it goes.
    """
    launches = {(step.source, step.function): step for plan in artifact.plans.values() for step in plan.launches}
    notes = [*_look_at_form(artifact, list(launches.values()))]
    lines = [line for source, _ in launches for line in find_source_lines(artifact.sources[source])]
    if submission is None:
        gone = "the submission that this was built from is not here: give it with --file"
        return (*notes, Note(OPEN, "lines", gone), Note(OPEN, "trace", gone))
    notes += _look_at_lines(list(dict.fromkeys(lines)), submission)
    notes.append(_look_at_another_trace(artifact, submission, workspace, season, level, listener))
    return tuple(notes)


def _look_at_form(artifact: Artifact, launches: Sequence[LaunchStep]) -> Iterator[Note]:
    good = 0
    for launch in launches:
        if launch.origin != "helion":
            yield Note(AGAINST, "form", f"{launch.function}: launched as raw Triton")
            continue
        departures = find_departures(artifact.sources[launch.source], launch.function)
        good += not departures
        for departure in departures:
            yield Note(AGAINST, "form", f"{launch.function}: not as Helion writes its kernels: {departure}")
    if good:
        yield Note(FOR, "form", f"{good} of {len(launches)} generated kernels have the form that Helion writes")
    for kernel in artifact.kernels.values():
        for text in kernel.facts.assembly:
            yield Note(AGAINST, "form", f"{kernel.facts.name}: inline assembly that is not Helion's own: {text[:80]!r}")


def _look_at_lines(lines: Sequence[SourceLine], submission: Submission) -> Iterator[Note]:
    texts = {Path(name).name: content.decode("utf-8", errors="replace") for name, content in submission.files}
    split = {name: text.splitlines() for name, text in texts.items()}
    strange = [line for line in lines if not _is_there(line, split)]
    told = f"{len(lines) - len(strange)} of {len(lines)} lines that the kernels' comments name are the submission's"
    if lines and not strange:
        yield Note(FOR, "lines", told)
    elif strange:
        first = strange[0]
        yield Note(AGAINST, "lines", f"{told}; {first.file[:40]}:{first.line} is not: {first.text[:80]!r}")


def _is_there(line: SourceLine, files: Mapping[str, list[str]]) -> bool:
    text = files.get(line.file, [])
    return 0 < line.line <= len(text) and text[line.line - 1].strip() == line.text


def _look_at_another_trace(
    artifact: Artifact,
    submission: Submission,
    workspace: Workspace,
    season: Season,
    level: Level,
    listener: Listener,
) -> Note:
    """Trace the submission again and compare the kernels."""
    manifest = artifact.manifest
    problem = find_problem(workspace.root, manifest.problem)
    shapes = _find_shapes(problem, artifact)
    if problem.version != manifest.problem_version or set(shapes) != set(artifact.plans):
        return Note(OPEN, "trace", "the problem has changed since: another trace would be of other shapes")
    target, controls = load_target(manifest.target), season.advanced_controls
    request = TraceRequest(submission, problem, shapes, target, manifest.portable, controls, level)
    budget = CompileBudget(season.budgets.compile_cpu_s, season.budgets.compile_wall_s)
    result = run_trace(request, budget, listener)
    if not isinstance(result, Traced):
        return Note(AGAINST, "trace", f"another trace fails: {result.reason}: {result.message}")
    return _compare_traces(artifact, result)


def _compare_traces(artifact: Artifact, fresh: Traced) -> Note:
    count = len(artifact.kernels)
    same = len(set(artifact.kernels) & set(fresh.kernels))
    if set(fresh.kernels) != set(artifact.kernels):
        return Note(AGAINST, "trace", f"another trace gives other kernels: {same} of {count} are the same")
    if fresh.plans != artifact.plans:
        return Note(AGAINST, "trace", "another trace gives the same kernels, launched in another way")
    return Note(FOR, "trace", f"another trace in a fresh process gives the same {count} kernels and launches")


def _find_shapes(problem: Problem, artifact: Artifact) -> dict[str, Case]:
    shapes: dict[str, Case] = {}
    for suite in ("default", *problem.suites):
        for case in load_cases(problem, suite):
            if case.shape_id in artifact.plans:
                shapes.setdefault(case.shape_id, case)
    return shapes
