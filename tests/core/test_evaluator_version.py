"""The evaluator's version: who raises it says what changed, and where it is told when to."""

import re
from pathlib import Path

from harness.toolchain import EVALUATOR_VERSION, fingerprint, installed_versions

ROOT = Path(__file__).parents[2]


def told(text):
    """Return the versions that a changelog tells of, as listed."""
    section = re.search(r"^## Evaluator$(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^- (\d+): ", section[1], re.MULTILINE) if section else []


def test_the_changelog_tells_of_every_version_the_newest_first():
    assert told((ROOT / "CHANGELOG.md").read_text()) == [str(n) for n in range(int(EVALUATOR_VERSION), 0, -1)]


def test_it_is_written_down_when_to_raise_it():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert "## When to raise the evaluator's version" in text
    assert "`EVALUATOR_VERSION`" in text


def test_another_version_builds_anew(monkeypatch):
    versions = installed_versions()
    before = fingerprint(versions)
    monkeypatch.setattr("harness.toolchain.EVALUATOR_VERSION", "next")
    assert fingerprint(versions) != before
