"""A problem's variants and mutants through the whole path, as submissions: trace, assembly, replay, verdict.

Qualification as torch functions judges the problem; this judges the harness with it: a wrong kernel must come out as
INCORRECT, and the honest starter as CHECKED. Where the machine has a GPU that the season ranks on, the same artifacts
are replayed there too. Nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.artifact import Artifact
from harness.case import Case, load_cases
from harness.engine.build import run_build
from harness.engine.checking import run_check
from harness.engine.gpu_node import local_node
from harness.engine.gpu_stage import replay_on_gpu
from harness.engine.local_gpus import LocalGpu, find_local_gpu
from harness.engine.progress import ignore
from harness.engine.request import BuildRequest
from harness.engine.submit import judge_results
from harness.engine.workspace import Workspace
from harness.qualify.asked import main_shape
from harness.qualify.kernels import FILE, STARTER, Kernel, KernelTrial, load_kernels
from harness.qualify.measurements import Candidate
from harness.sandbox import Level
from harness.spec import Problem, Season
from harness.submission import MAIN, Submission, find_submission
from harness.target import Target, load_target
from harness.verdict import Verdict

TEAM = "qualify"

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Course:
    """What submissions go through, and what they are judged by.

    Attributes:
        workspace: where artifacts are kept.
        season: for its targets, divisions and budgets.
        level: of the sandboxes.
        toolchain: the versions in use.
        gpu: this machine's GPU, if the season ranks on it.
        node: the command that starts a replay on it.
    """

    workspace: Workspace
    season: Season
    level: Level
    toolchain: Mapping[str, str]
    gpu: LocalGpu | None = None
    node: Sequence[str] = ()

    @classmethod
    def here(cls, workspace: Workspace, season: Season, level: Level, toolchain: Mapping[str, str]) -> Course:
        """Return the path on this machine: over its GPU too, if that is one of the season's targets."""
        gpu = find_local_gpu()
        if gpu is None or find_target(gpu, season) is None:
            return cls(workspace, season, level, toolchain)
        return cls(workspace, season, level, toolchain, gpu, tuple(local_node(workspace.state)))

    @property
    def target(self) -> Target:
        """The GPU that is built for: this machine's, else the season's first."""
        found = find_target(self.gpu, self.season) if self.gpu is not None else None
        return found or load_target(self.season.targets[0])


def find_target(gpu: LocalGpu, season: Season) -> Target | None:
    """Return the target of the season that a GPU is, None if it is none of them."""
    targets = [load_target(name) for name in season.targets]
    # The capability alone does not tell an H200 from an H100.
    alike = (t for t in targets if t.capability == gpu.capability and t.name.lower() in gpu.name.lower())
    return next(alike, None)


def try_kernels(
    course: Course, problem: Problem, candidates: Sequence[Candidate], suite: str, tell: Tell
) -> tuple[KernelTrial, ...]:
    """Submit the starter and the kernels of a problem's kernels.yml, and return what became of each.

    Args:
        course: what they go through.
        problem: the problem.
        candidates: its variants and mutants, for what must become of a kernel.
        suite: whose tests they are given: the starter all, the others those of the shape that most of them have.
        tell: is told of each: what it is, how many are done, of how many.

    Raises:
        SpecError: kernels.yml is at fault.
        UsageError: the problem has kernels.yml and no starter.
    """
    if not (problem.folder / FILE).is_file():
        return ()
    starter = find_submission(course.workspace.root, STARTER, problem.name)
    kernels = load_kernels(problem.folder, starter.source, candidates)
    tests = tuple(case for case in load_cases(problem, suite) if case.role == "test")
    trials: list[KernelTrial] = []
    for number, kernel in enumerate(kernels):
        tell(f"{kernel.name} as a Helion kernel", number, len(kernels))
        some = tests if kernel.name == STARTER else tuple(case for case in tests if case.shape == main_shape(tests))
        trials += _try(course, problem, kernel, starter, suite, some)
    return tuple(trials)


def _try(
    course: Course, problem: Problem, kernel: Kernel, starter: Submission, suite: str, tests: tuple[Case, ...]
) -> Iterator[KernelTrial]:
    files = dict(starter.files) | {MAIN: kernel.source.encode()}
    team = TEAM if kernel.name != STARTER else starter.team
    submission = replace(starter, team=team, files=tuple(sorted(files.items())))
    season = course.season
    request = BuildRequest(
        submission=submission,
        problem=problem,
        season=season,
        target=course.target,
        division=season.divisions[0],
        cases=tests,
        portable=False,
        level=course.level,
        toolchain=course.toolchain,
        suite=suite,
    )
    built = run_build(request, course.workspace, ignore)
    if isinstance(built, Verdict):
        yield _trial(kernel, suite, "CPU", built)
        return
    results = run_check(built.artifact.stored_in, problem, tests, season, course.level, full=False, listener=ignore)
    yield _trial(kernel, suite, "CPU", judge_results(results, len(tests)))
    if course.gpu is not None:
        yield _trial(kernel, suite, course.gpu.name, _replay(course, problem, built.artifact, tests))


def _replay(course: Course, problem: Problem, artifact: Artifact, tests: tuple[Case, ...]) -> Verdict:
    limit_s = course.season.budgets.gpu_call_s
    return replay_on_gpu(course.node, artifact, problem, tests, course.target, limit_s, ignore).verdict


def _trial(kernel: Kernel, suite: str, device: str, verdict: Verdict) -> KernelTrial:
    return KernelTrial(
        kernel.name,
        kernel.expected,
        suite,
        device,
        str(verdict.kind),
        verdict.reason,
        verdict.case,
        verdict.message,
    )
