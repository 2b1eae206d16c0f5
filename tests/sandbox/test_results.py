"""Reading and removing what a hostile process left in its scratch folder."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from harness.errors import WorkerError
from harness.sandbox import Level, Limits, python_mounts, read_result, remove_tree, run
from tests.sandbox.attacks import ROOMY

PLANT = """
import os
open("plain", "w").write("content")
os.mkdir("folder"); open("folder/plain", "w").write("below")
os.symlink("/etc/passwd", "link")
os.symlink("/etc", "link-folder")
os.symlink("plain", "link-inside")
os.link("plain", "second-name") if hasattr(os, "link") else None
os.mkfifo("pipe")
open("large", "w").truncate(1 << 20)
os.mkdir("closed"); open("closed/file", "w").close(); os.chmod("closed", 0)
"""


@pytest.fixture(scope="module")
def planted(level: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="sandbox-test-"))
    _, end = run(
        [os.sys.executable, "-I", "-S", "-c", PLANT],  # type: ignore[attr-defined]
        level=Level(level),
        mounts=python_mounts(),
        scratch=folder,
        limits=Limits(**ROOMY),  # type: ignore[arg-type]
    )
    assert end.code == 0, end.stderr
    (folder / "plain").rename(folder / "two-names")
    (folder / "alone").write_text("content")
    yield folder  # type: ignore[misc]
    remove_tree(folder)
    assert not folder.exists()


def test_plain_files(planted: Path) -> None:
    assert read_result(planted, "alone", 7) == b"content"
    assert read_result(planted, "folder/plain", 100) == b"below"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("link", "cannot be read"),
        ("link-inside", "cannot be read"),
        ("link-folder/passwd", "cannot be read"),
        ("alone/below", "cannot be read"),
        ("missing", "No such file"),
        ("two-names", "not a plain file"),
        ("pipe", "not a plain file"),
        ("folder", "not a plain file"),
        ("large", "1048576 bytes, 1000 at most"),
    ],
)
def test_anything_else_is_refused(planted: Path, name: str, says: str) -> None:
    with pytest.raises(WorkerError, match=says):
        read_result(planted, name, 1000)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "folder/../plain", "", ".", "folder//plain", "a\0b"])
def test_names_that_lead_elsewhere(planted: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a name of a result"):
        read_result(planted, name, 1000)


def test_scratch_itself_may_not_be_a_link(planted: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(planted)
    with pytest.raises(WorkerError, match="cannot be read"):
        read_result(tmp_path / "link", "alone", 1000)


def test_removal_follows_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch/link").symlink_to(outside)
    remove_tree(tmp_path / "scratch")
    assert not (tmp_path / "scratch").exists()
    assert outside.stat().st_mode & 0o777 == 0o500
    remove_tree(tmp_path / "never-was")
