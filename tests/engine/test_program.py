"""Programs told apart by their machine code: real Helion compiles, and what boards make of them."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from harness.artifact import Artifact, identify_program
from harness.board.pooling import pool_runs
from harness.board.ranking import rank
from harness.case import load_cases
from harness.engine.build import Built, run_build
from harness.engine.recording import Evaluation, close_record, open_record
from harness.engine.request import BuildRequest
from harness.engine.workspace import Workspace
from harness.sandbox import best_level
from harness.spec import load_problem, load_season
from harness.submission import load_submission
from harness.target import load_target
from harness.toolchain import check_toolchain
from harness.verdict import judge_checked
from tests.core.test_artifact import MANIFEST, PLAN, SOURCE, TEXT
from tests.engine.conftest import STARTER, TEMPLATE
from tests.engine.forged import COPY, assembled, variant
from tests.store.samples import passed

OTHERWISE = '''
"""The starter, written otherwise: other names, another order, a comment, a docstring, a helper, a file of no use."""
import helion
import helion.language as hl
import torch


def custom_kernel(values):
    """Scale."""
    matrix, factors = _unpack(values)
    return times(matrix, factors)


def _unpack(values):
    return values


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def times(matrix: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    result = torch.empty_like(matrix)  # every element is written
    for i, j in hl.tile(matrix.shape):
        result[i, j] = matrix[i, j] * factors[i][:, None]
    return result
'''


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Builds a source for one shape; returns the request and what was built."""
    root = shutil.copytree(TEMPLATE, tmp_path_factory.mktemp("programs") / "w")
    problem, season = load_problem(root / "problems" / "scale"), load_season(root)

    def _build(team, source, **files):
        folder = root / "submissions" / team / "scale"
        folder.mkdir(parents=True)
        for name, text in {"submission": source, **files}.items():
            (folder / f"{name}.py").write_text(text)
        request = BuildRequest(
            submission=load_submission(folder / "submission.py", team),
            problem=problem,
            season=season,
            target=load_target("b200"),
            division="closed",
            cases=load_cases(problem)[:1],
            portable=False,
            level=best_level().level,
            toolchain=check_toolchain(),
        )
        built = run_build(request, Workspace(root), lambda _: None)
        assert isinstance(built, Built), built
        return request, built

    return _build


def record(request, built):
    """Return what the engine records of a build that was checked."""
    return close_record(open_record(request), request, Evaluation(built=built, verdict=judge_checked(1, 1, "")))


def test_names_comments_and_files_of_no_use_make_no_other_program(build):
    starter, otherwise = build("one", STARTER), build("two", OTHERWISE, unused="x = 1\n")
    first, second = record(*starter), record(*otherwise)
    assert first.normalised_source_sha256 != second.normalised_source_sha256
    assert first.artifact_key != second.artifact_key
    assert first.program_sha256 == second.program_sha256 == identify_program(starter[1].artifact)


@pytest.mark.slow
def test_block_sizes_warps_and_constants_make_other_programs(build):
    sources = {
        "plain": STARTER,
        "block": STARTER.replace("[4, 16]", "[2, 16]"),
        "warps": STARTER.replace("[4, 16]", "[4, 16], num_warps=8"),
        "constant": STARTER.replace("s[rows][:, None]", "s[rows][:, None] * 1.5"),
    }
    assert len({record(*build(team, source)).program_sha256 for team, source in sources.items()}) == 4


def test_other_machine_code_is_another_program(tmp_path):
    """Cheaper by IR than by Helion: kernels that are really assembled."""
    texts = {
        "copy": COPY,
        "renamed": COPY.replace("@copy", "@moved").replace("%v", "%value"),
        "twice": variant(0),
        "constant": COPY.replace("%c = arith.constant 256", "%c = arith.constant 512"),
    }
    found = {}
    for name, kernel in assembled(tmp_path, texts).items():
        allocation, launch = PLAN.steps
        plan = replace(PLAN, steps=(allocation, replace(launch, kernel=kernel.source.key)))
        artifact = Artifact(MANIFEST, {plan.shape_id: plan}, {kernel.source.key: kernel}, {SOURCE: TEXT})
        found[name] = identify_program(artifact)
    assert found["copy"] == found["renamed"]
    assert len(set(found.values())) == 3


def test_runs_of_one_program_are_pooled_whatever_their_source():
    program = {"program_sha256": "aa" * 32}
    runs = [passed("acme", score, minute, **program) for minute, score in enumerate((9.0, 12.0, 10.0))]
    (pooled,) = pool_runs(runs)
    assert (pooled.runs, pooled.program) == (3, "aa" * 32)
    assert pooled.score_us == pytest.approx(31 / 3)
    other = passed("acme", 11.0, 5, normalised_source_sha256=runs[0].normalised_source_sha256, program_sha256="bb" * 32)
    assert len(pool_runs([*runs, other])) == 2


def test_a_twin_by_machine_code_shares_the_place_and_is_named():
    twins = {"program_sha256": "bb" * 32}
    records = [passed("leader", 10.0, 0), passed("near", 10.09, 1, **twins), passed("far", 10.3, 3, **twins)]
    board = rank(records, "chunk_fwd_h", "b200", "closed", noise=0.01)
    assert [(e.record.team, e.place, e.same_program_as) for e in board.entries] == [
        ("leader", 1, None),
        ("near", 1, None),
        ("far", 1, "near"),
    ]
