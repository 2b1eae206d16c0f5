"""Which GPU a submission is built for where nobody says: this machine's, its header's, the season's first."""

import pytest

from harness.cli.request import _default_target
from harness.spec import load_season
from harness.submission import load_submission
from tests.engine.conftest import TEMPLATE
from tests.engine.test_local_gpus import H100, H200, driver_tool

SEASON = load_season(TEMPLATE).model_copy(update={"targets": ("b200", "h200")})


@pytest.fixture
def choose(tmp_path, monkeypatch):
    """Returns the target of a submission with these headers on a machine with these GPUs."""

    def _choose(*headers, gpus=()):
        driver_tool(tmp_path, monkeypatch, *(gpus or ["No devices were found"]))
        path = tmp_path / "any.py"
        path.write_text("".join(f"#!POPCORN {header}\n" for header in headers))
        return _default_target(SEASON, load_submission(path, "acme")).name

    return _choose


@pytest.mark.parametrize(
    ("headers", "target"),
    [
        ((), "b200"),
        (("leaderboard scale",), "b200"),
        (("gpu H200",), "h200"),
        (("gpus h200_Provider",), "h200"),
        (("gpu L4", "gpu H200"), "h200"),
    ],
)
def test_without_a_gpu_the_header_decides(choose, capsys, headers, target):
    assert choose(*headers) == target
    assert capsys.readouterr().err == ""


def test_this_machines_gpu_comes_first(choose, capsys):
    assert choose("gpu B200", gpus=[H200]) == "h200"
    assert choose("gpu H200", gpus=[H100]) == "h200"  # one that the season does not rank
    assert capsys.readouterr().err == ""


def test_a_gpu_that_the_season_does_not_rank_is_told(choose, capsys):
    told = "note: the file's header says `gpu L4`, which the season does not rank: built for "
    assert choose("gpu L4") == "b200"
    assert capsys.readouterr().err == f"{told}b200\n"
    assert choose("gpu L4", gpus=[H200]) == "h200"
    assert capsys.readouterr().err == f"{told}h200\n"
