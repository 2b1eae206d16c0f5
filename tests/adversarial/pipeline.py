"""The main job without its start-up costs: many submissions through one sandboxed tracer, one assembler, one runner.

Every stage is the product's own: the tracer runs in the sandbox, the parent reads what it left, the rules are applied,
the assembler compiles, Triton's interpreter runs the kernels in a sandbox and the judge compares. Only the processes
are shared: submissions are traced in forks, and a kernel that several have is assembled once.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness.artifact import Kernel
from harness.case import Case, load_cases
from harness.engine import checking, tracing
from harness.engine.budget import CompileBudget
from harness.engine.request import BuildRequest
from harness.engine.rules import check_kernels, check_plans
from harness.engine.submit import judge_results
from harness.engine.trace_progress import EarlyJudge, Progress
from harness.engine.trace_results import TraceResults
from harness.errors import ArtifactError, SandboxError, SubmissionError, WorkerError
from harness.kernel import parse_facts
from harness.plan import LaunchStep, Plan, encode_plan
from harness.replay.cpu_runner import CpuRunner
from harness.replay.judge_client import JudgeProcess
from harness.sandbox import (
    Exit,
    Job,
    Level,
    Limits,
    Mount,
    best_level,
    python_mounts,
    read_result,
    remove_tree,
    start,
    visible,
    visible_scratch,
)
from harness.spec import load_season
from harness.spec.problem import load_problem
from harness.submission import find_source_fault, load_submission
from harness.target import load_target
from harness.toolchain import installed_versions
from harness.verdict import Verdict, judge_assembly, judge_source, judge_trace
from tests.adversarial.catalogue import Attack
from tests.core.test_assemble import assemble
from tests.trace.conftest import request_document

ROOT = Path(__file__).parents[2]
WORKSPACE = ROOT / "tests" / "workspace"
TARGET = "b200"
LIMITS = Limits(3600, None, 8 << 30, 256, 1 << 30, 4 << 30, 8 << 20)  # for all of them, on a busy machine
PATIENT_S = 600.0


@dataclass(frozen=True)
class Outcome:
    """What came of a submission: the verdict's words, and the plans where there were any.

    `kind` is "REFUSED" for what was not taken as a submission at all.
    """

    kind: str
    reason: str
    stage: str
    message: str
    plans: dict[str, Plan]


@dataclass(frozen=True)
class _Build:
    attack: Attack
    request: BuildRequest
    traced: tracing.Traced


class Pipeline:
    """The stages' processes, as a context manager."""

    def __init__(self, level: Level | None = None) -> None:
        self._stack = ExitStack()
        self.level = level or best_level().level
        if self.level is Level.NONE:
            raise SandboxError("attacks are not run without a sandbox: see `make doctor`")
        self._submissions, self._scratch, self._artifact, self._replay_scratch = (self._folder() for _ in range(4))
        for name in ("plans", "sources"):
            (self._artifact / name).mkdir()
        self._problem = load_problem(WORKSPACE / "problems" / "scale")
        season = load_season(WORKSPACE)
        budgets = season.budgets.model_copy(update={"case_replay_s": PATIENT_S})  # no verdict here is about time
        self._season = season.model_copy(update={"budgets": budgets})
        self._cases = load_cases(self._problem)
        self._kernels: dict[str, Kernel | Verdict] = {}
        self._count = 0
        self._plant_secret()
        self._tracer, self._requests = self._start_tracer()
        self._answers = self._tracer.lines()
        self._session = self._start_replay()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def judge(self, attacks: Sequence[Attack]) -> dict[str, Outcome]:
        """Return what comes of each, by name."""
        outcomes: dict[str, Outcome] = {}
        builds: list[_Build] = []
        for attack in attacks:
            result = self._trace(attack)
            if isinstance(result, _Build):
                builds.append(result)
            else:
                outcomes[attack.name] = result
        self._assemble(builds)
        for build in builds:
            verdict = self._check_kernels(build) or self._replay(build)
            outcomes[build.attack.name] = _outcome(verdict, dict(build.traced.plans))
        return outcomes

    def _plant_secret(self) -> None:
        """Have something to steal in this process's environment, which sandboxes are started from."""
        os.environ["ADVERSARIAL_SECRET"] = "the-secret-of-this-test-run"
        self._stack.callback(os.environ.pop, "ADVERSARIAL_SECRET", None)

    def _folder(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="adversarial-"))
        folder.chmod(0o755)
        self._stack.callback(remove_tree, folder)
        return folder

    def _start_tracer(self) -> tuple[Job, Any]:
        mounts = (*python_mounts(), Mount(ROOT / "tests", "/tests"), Mount(self._submissions, "/submissions"))
        # The folder above tests/ is not there to be searched.
        program = "import sys, types; tests = types.ModuleType('tests'); sys.modules['tests'] = tests; "
        program += f"tests.__path__ = [{visible(self.level, mounts[-2])!r}]; from tests.adversarial import tracer; "
        program += f"tracer.main({visible_scratch(self.level, self._scratch)!r})"
        reading, writing = os.pipe()
        try:
            command = [sys.executable, "-I", "-c", program]
            job = start(command, level=self.level, mounts=mounts, scratch=self._scratch, limits=LIMITS, stdin=reading)
        finally:
            os.close(reading)
        self._stack.enter_context(job)
        return job, self._stack.enter_context(os.fdopen(writing, "w"))

    def _start_replay(self) -> checking.Session:
        runner = CpuRunner(checking.RUNNER, self._artifact, self._replay_scratch, self.level, wall_s=LIMITS.wall_s)
        self._stack.enter_context(runner)
        judge = self._stack.enter_context(JudgeProcess(self._problem.folder))
        return checking.Session(runner, judge, self._season, False, time.monotonic() + LIMITS.wall_s)

    def _trace(self, attack: Attack) -> Outcome | _Build:
        self._count += 1
        try:
            submission = load_submission(attack.write(self._submissions / str(self._count)), "acme")
        except SubmissionError as error:
            return Outcome("REFUSED", "not_a_submission", "source", str(error), {})
        fault = find_source_fault(submission)
        if fault is not None:
            return _outcome(judge_source(fault.reason, fault.message))
        request = BuildRequest(
            submission=submission,
            problem=self._problem,
            season=self._season,
            target=load_target(TARGET),
            division=attack.division,
            cases=self._cases[: attack.cases],
            portable=False,
            level=self.level,
            toolchain=installed_versions(),
        )
        early, traced = self._read_trace(request, self._run_trace(request))
        if isinstance(traced, Verdict):
            assert early in (None, traced)
            return _outcome(traced)
        verdict = check_plans(request, traced.plans, traced.kernels)
        assert early == verdict, "what ends a trace is what its end would say"
        return _Build(attack, request, traced) if verdict is None else _outcome(verdict, dict(traced.plans))

    def _run_trace(self, request: BuildRequest) -> list[dict[str, Any]]:
        """Have the tracer trace the submission; return the events that it left."""
        mount = Mount(self._submissions, "/submissions")
        path = Path(visible(self.level, mount)) / str(self._count) / "submission.py"
        shapes = {s: [(i["shape"], i["dtype"]) for i in self._inputs(case)] for s, case in request.shapes.items()}
        inside = Path(visible_scratch(self.level, self._scratch))
        job = {
            "id": self._count,
            "request": request_document(path, shapes),
            "out": str(inside / f"{self._count}" / "out"),
            "events": str(inside / f"events-{self._count}"),
        }
        print(json.dumps(job), file=self._requests, flush=True)
        for line in self._answers:
            if line == json.dumps({"done": self._count}):
                break
        else:
            raise AssertionError(f"the tracer ended: {self._tracer.wait()}")
        lines = read_result(self._scratch, f"events-{self._count}", 8 << 20).splitlines()
        events = [json.loads(line) for line in lines if line.startswith(b"{")]
        return [event for event in events if isinstance(event, dict)]

    def _inputs(self, case: Case) -> list[dict[str, Any]]:
        return list(tracing._describe(self._problem, case.shape_id, case)["inputs"])

    def _read_trace(
        self, request: BuildRequest, events: list[dict[str, Any]]
    ) -> tuple[Verdict | None, tracing.Traced | Verdict]:
        """Read what the tracer left, as the parent does; return what would have ended it early, and what is there."""
        progress, left = Progress(tuple(request.shapes)), self._scratch / str(self._count)
        for event in ({"event": "begun"}, *events):
            progress.add(event)
        early = EarlyJudge(request.problem, TraceResults(left), partial(check_plans, request)).judge(progress)
        end = Exit(0, None, None, 1.0, 1.0, "", 0)
        failure = progress.judge_end(end, CompileBudget(120, 240))
        if failure is not None:
            return early, failure
        asked = SimpleNamespace(problem=request.problem, shapes=request.shapes)
        try:
            return early, tracing._read_results(asked, progress, end, TraceResults(left))  # type: ignore[arg-type]
        except (ArtifactError, WorkerError) as error:
            return early, judge_trace("process_died", f"{error}")

    def _assemble(self, builds: Sequence[_Build]) -> None:
        """Assemble the kernels that were not yet, all in one process; a failure is kept as its verdict."""
        sources = {key: source for build in builds for key, source in build.traced.kernels.items()}
        missing = [source for key, source in sources.items() if key not in self._kernels]
        if not missing:
            return
        with tempfile.TemporaryDirectory() as name:
            texts = [(source.ttir, dict(source.options)) for source in missing]
            architecture = load_target(TARGET).architecture
            patience = {"kernel_wall_s": int(PATIENT_S), "timeout_s": 2 * PATIENT_S}
            ends, out = assemble(Path(name), texts, architecture, **patience)
            for source, end in zip(missing, ends, strict=True):
                if end["event"] != "assembled":
                    self._kernels[source.key] = judge_assembly(end["reason"], end["message"], "")
                    continue
                facts = parse_facts(json.loads((out / f"{source.key}.json").read_text()))
                cubin = (out / f"{source.key}.cubin").read_bytes()
                self._kernels[source.key] = Kernel(source, cubin, facts)

    def _check_kernels(self, build: _Build) -> Verdict | None:
        kernels = {}
        for key in build.traced.kernels:
            kernel = self._kernels[key]
            if isinstance(kernel, Verdict):
                return kernel
            kernels[key] = kernel
        return check_kernels(build.request, build.traced.plans, kernels)

    def _replay(self, build: _Build) -> Verdict:
        """Run the cases in Triton's interpreter, each judged; the first that fails decides."""
        for shape, plan in build.traced.plans.items():
            (self._artifact / "plans" / f"{shape}.json").write_text(json.dumps(encode_plan(plan)))
        for digest, text in build.traced.sources.items():
            (self._artifact / "sources" / f"{digest}.py").write_text(text)
        results = []
        for case in build.request.cases:
            self._count += 1
            results.append(checking.run_case(self._session, case, self._count))
            if results[-1].status == "failed":
                break
        return judge_results(tuple(results), sum(case.role == "test" for case in build.request.cases))


def _outcome(verdict: Verdict, plans: dict[str, Plan] | None = None) -> Outcome:
    return Outcome(verdict.kind.value, verdict.reason, verdict.stage, verdict.message, plans or {})


def work_of(plan: Plan) -> Plan:
    """Return a plan without what no clock sees: lines, and the name of the text that a kernel came from."""
    steps = (replace(step, source="") if isinstance(step, LaunchStep) else step for step in plan.steps)
    return replace(plan, steps=tuple(replace(step, line=0) for step in steps), import_steps=0)
