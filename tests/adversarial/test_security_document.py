"""docs/security.md is complete: every attack has a class and a defence there, and every test that it names exists."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

from tests.adversarial.catalogue import HEADINGS, load_catalogue
from tests.service.test_attacks import NAMES as SERVICE

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "security.md").read_text()
LOG = (ROOT / "tests" / "adversarial" / "attempts.md").read_text()
PATTERN = re.compile(rf"`((?:{'|'.join(HEADINGS)}|service)/[^`]+)`")
NAMED = re.compile(r"`((?:tests|bench)/[^`]+)`")


def list_names() -> list[str]:
    """Every attack, by folder and name; those on the service lie under tests/service/attacks."""
    return [f"{attack.heading}/{attack.name}" for attack in load_catalogue()] + [f"service/{name}" for name in SERVICE]


def test_every_attack_is_in_the_table() -> None:
    names = list_names()
    patterns = PATTERN.findall(DOCUMENT)
    assert not [name for name in names if not any(fnmatch(name, pattern) for pattern in patterns)]
    assert not [pattern for pattern in patterns if not any(fnmatch(name, pattern) for name in names)]


def test_every_heading_has_its_rows() -> None:
    submitted = list(HEADINGS.values())
    assert re.findall(r"^\| \*\*(.+)\*\* \|", DOCUMENT, re.M) == [*submitted[:-1], "The service", submitted[-1]]


def test_every_row_says_what_defends() -> None:
    rows = [row.split(" | ") for row in DOCUMENT.splitlines() if "`" in row and row.startswith("| ") and "/" in row]
    assert len(rows) > 20
    assert all(len(row) >= 3 and all(cell.strip(" |") for cell in row) for row in rows)


def test_every_test_that_is_named_exists() -> None:
    named = NAMED.findall(DOCUMENT) + NAMED.findall(LOG)
    assert len(named) > 30
    assert not [name for name in named if "<" not in name and not (ROOT / name.partition("::")[0]).exists()]
    for name in named:
        file, _, test = name.partition("::")
        assert not test or f"def {test}(" in (ROOT / file).read_text(), name


def test_every_attack_that_the_log_names_exists() -> None:
    assert not set(PATTERN.findall(LOG)) - set(list_names())
