"""What the tests of qualification share: a small problem that qualifies, and how to weaken it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from harness.qualify.asked import ROLES, ask_suite
from harness.qualify.candidates import load_roster
from harness.qualify.conditions import Qualification, judge_measurements
from harness.qualify.trials import MUTANT_SEEDS, Workbench, measure
from harness.replay.reference import load_reference
from harness.spec import load_problem

AFFINE = Path(__file__).parent / "problems" / "affine"


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    """Small tensors: more threads only wait for one another."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def qualify_here(folder: Path, suites: Sequence[str] = ("default",), roles: Sequence[str] = ROLES) -> Qualification:
    """What the child and its parent do, in this process."""
    problem = load_problem(folder)
    roster = load_roster(problem)
    bench = Workbench.make(roster, load_reference(problem), MUTANT_SEEDS, lambda step: None)
    return judge_measurements(measure(bench, [ask_suite(problem, suite, roles=roles) for suite in suites]))


@pytest.fixture
def weakened(tmp_path: Path) -> Callable[..., Path]:
    """Copy `affine`, with texts of its files replaced."""

    def change(**files: tuple[str, str]) -> Path:
        folder = tmp_path / "affine"
        shutil.copytree(AFFINE, folder)
        for stem, (old, new) in files.items():
            path = folder / {"task": "task.yml"}.get(stem, f"{stem}.py")
            text = path.read_text(encoding="utf-8")
            assert old in text, (stem, old)
            path.write_text(text.replace(old, new), encoding="utf-8")
        return folder

    return change
