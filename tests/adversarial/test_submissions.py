"""Every submission under submissions/ gets the verdict that it declares.

The submission runs in the tracer, for real; what it leaves behind goes through the parent's own reading and rules, and
its kernels through the assembler. Only the sandbox and the replay are left out: here the defence lies before them.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.artifact import Kernel
from harness.case import load_cases
from harness.engine import tracing
from harness.engine.budget import CompileBudget
from harness.engine.request import BuildRequest
from harness.engine.rules import check_kernels, check_plans
from harness.errors import ArtifactError, WorkerError
from harness.kernel import parse_facts
from harness.sandbox import Exit, Level
from harness.spec import load_season
from harness.spec.problem import load_problem
from harness.submission import load_submission
from harness.target import load_target
from harness.toolchain import installed_versions
from harness.verdict import Verdict, judge_assembly, judge_trace
from tests.core.test_assemble import assemble
from tests.trace.conftest import Trace, Traced

SUBMISSIONS = sorted(p for p in (Path(__file__).parent / "submissions").glob("*.py") if p.stem != "forging")
WORKSPACE = Path(__file__).parents[1] / "workspace"
EXPECTED = re.compile(r"^# expected: ([A-Z_]+)(?: (\w+))?$", re.MULTILINE)


def make_request(path: Path) -> BuildRequest:
    problem = load_problem(WORKSPACE / "problems" / "scale")
    return BuildRequest(
        submission=load_submission(path, "acme"),
        problem=problem,
        season=load_season(WORKSPACE),
        target=load_target("b200"),
        division="closed",
        cases=load_cases(problem)[:1],
        portable=False,
        level=Level.STRICT,
        toolchain=installed_versions(),
    )


def judge_traced(request: BuildRequest, left: Traced) -> Verdict | tracing.Traced:
    """Read what a trace left behind as the parent does."""
    asked = SimpleNamespace(problem=request.problem, shapes=request.shapes)
    worker = SimpleNamespace(events=lambda: iter([{"event": "begun"}, *left.events]))
    end = Exit(0, None, None, 1.0, 1.0, "", 0)
    progress = tracing._follow(worker, asked, lambda event: None)
    failure = tracing._find_failure(asked, progress, end, CompileBudget(120, 240))
    if failure is not None:
        return failure
    try:
        return tracing._read_results(asked, progress, end, tracing._Results(left.out.parent))
    except (ArtifactError, WorkerError) as error:
        return judge_trace("process_died", f"{error}")


def judge_kernels(request: BuildRequest, traced: tracing.Traced, folder: Path) -> Verdict | None:
    """Assemble what was traced, and hold it against the rules."""
    sources = list(traced.kernels.values())
    ends, out = assemble(folder, [(s.ttir, dict(s.options)) for s in sources], request.target.architecture)
    kernels = {}
    for source, end in zip(sources, ends, strict=True):
        if end["event"] != "assembled":
            return judge_assembly(end["reason"], end["message"], "")
        facts = parse_facts(tracing.json.loads((out / f"{source.key}.json").read_text()))
        kernels[source.key] = Kernel(source, (out / f"{source.key}.cubin").read_bytes(), facts)
    return check_kernels(request, traced.plans, kernels)


def judge(request: BuildRequest, left: Traced, folder: Path) -> Verdict | None:
    traced = judge_traced(request, left)
    if isinstance(traced, Verdict):
        return traced
    return check_plans(request, traced.plans, traced.kernels) or judge_kernels(request, traced, folder)


@pytest.mark.parametrize("path", SUBMISSIONS, ids=lambda path: path.stem)
def test_verdict(trace: Trace, tmp_path: Path, path: Path) -> None:
    kind, reason = EXPECTED.search(path.read_text()).groups()
    assert path.stem.startswith(kind.lower())
    request = make_request(path)
    (case,) = request.cases
    shapes = {case.shape_id: [(sizes, "float32") for sizes in request.problem.input_sizes(case.sizes)]}
    left = trace(str(path.with_suffix("")), shapes=shapes)
    verdict = judge(request, left, tmp_path)
    if kind == "ACCEPTED":
        assert verdict is None, verdict
    else:
        assert verdict is not None
        assert (verdict.kind.value, verdict.reason) == (kind, reason), verdict
