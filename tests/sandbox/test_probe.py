"""Which levels this machine has, and what a person is told when it lacks one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import SandboxError
from harness.sandbox import Level, best_level, kernel, probe, probe_levels, strict, why_not


@pytest.fixture
def forgetful() -> Iterator[None]:
    """Nothing that was probed before is remembered, nor is what this test makes of it."""
    why_not.cache_clear()
    best_level.cache_clear()
    yield
    why_not.cache_clear()
    best_level.cache_clear()


def test_best_level_is_the_first_of_those_that_work() -> None:
    reports = probe_levels()
    assert best_level() == reports[0]
    assert reports[-1].level is Level.NONE
    for report in reports:
        assert why_not(report.level) is None
    assert all(why_not(level) is None for level in {report.level for report in reports})


def test_without_bubblewrap(forgetful: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "find_bubblewrap", lambda: None)
    report = best_level()
    assert report.level is not Level.STRICT
    assert "sudo apt install bubblewrap" in report.reasons[0]


def test_without_prlimit(forgetful: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "find_bubblewrap", lambda: "/usr/bin/bwrap")
    monkeypatch.setattr(probe, "find_prlimit", lambda: None)
    assert "sudo apt install util-linux" in str(why_not(Level.STRICT))


def test_old_bubblewrap(forgetful: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "find_bubblewrap", lambda: "/usr/bin/bwrap")
    monkeypatch.setattr(probe, "bubblewrap_options", lambda path: frozenset({"--as-pid-1", "--clearenv"}))
    assert "bubblewrap 0.8 or newer (/usr/bin/bwrap has no --size)" in str(why_not(Level.STRICT))


def test_without_landlock(forgetful: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "landlock_abi", lambda: 0)
    assert "Linux 5.13 or newer" in str(why_not(Level.RESTRICTED))


def test_bubblewrap_that_fails(forgetful: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As where user namespaces are forbidden: it starts, complains, and ends."""
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    broken.chmod(0o755)
    tmp_path.chmod(0o755)
    monkeypatch.setattr(strict, "find_bubblewrap", lambda: str(broken))
    monkeypatch.setattr(probe, "_missing_for_strict", lambda: None)
    sentence = str(why_not(Level.STRICT))
    assert "tried and failed" in sentence
    assert "amespace" in sentence or "ermission" in sentence


@pytest.mark.parametrize(("name", "forbidding", "allowing"), probe._SWITCHES)
def test_switches(name: str, forbidding: str, allowing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(forbidding + "\n")
    monkeypatch.setattr(probe, "_PROC_SYS", tmp_path)
    assert probe._namespace_advice() == (
        f"user namespaces are switched off here: sudo sysctl {name.replace('/', '.')}={allowing}"
    )


def test_no_level_at_all(forgetful: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_try", lambda level: "fork: Resource temporarily unavailable")
    with pytest.raises(SandboxError, match=r"no process can be started under limits.*Resource temporarily"):
        best_level()
