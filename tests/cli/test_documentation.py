"""What is documented exists, and what exists is documented."""

import re
from pathlib import Path

import click
import pytest

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

from harness import toolchain
from harness.cli.verbs import VERBS, cli
from harness.trace.failures import REASONS
from harness.verdict import Kind

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):[^=\n]*##", MAKEFILE, re.MULTILINE))


def documented(pattern):
    return {name for name in re.findall(pattern, README) if name}


def test_every_make_target_is_documented_and_the_other_way_round():
    assert documented(r"`make ([a-z-]+)[ `]") == TARGETS


def test_every_verb_is_documented_and_the_other_way_round():
    assert documented(r"`harness ([a-z-]+)[ `]") == set(VERBS)


def leaves(command, name=()):
    """The verbs below a command, by their names."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    for part in command.list_commands(click.Context(command)):
        yield from leaves(command.get_command(click.Context(command), part), (*name, part))


def test_every_verb_has_json_but_those_that_have_no_end():
    without = {" ".join(name) for name, verb in leaves(cli) if not any("--json" in p.opts for p in verb.params)}
    assert without == {"serve", "watch"}
    assert "`serve` and `watch`, which go on until they are stopped, have no such document" in README


def test_every_verdict_is_explained():
    assert {kind.value for kind in Kind} <= documented(r"`([A-Z_]+)`")


def test_the_tree_names_every_folder_and_module_at_its_level():
    block = README.split("```text\nproblems/")[1].split("```")[0]
    named = set(re.findall(r"(?:^|\s)([a-z0-9_]+(?:\.py|/))", block))
    parts = {p.name + ("/" if p.is_dir() else "") for p in (ROOT / "harness").iterdir() if not p.name.startswith("_")}
    assert {p for p in parts if p.endswith((".py", "/"))} <= named


@pytest.mark.parametrize("path", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        if not link.startswith("http"):
            assert (ROOT / link).exists(), link


def test_ranges_are_stated_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = dict(re.match(r"([a-z]+)(.*)", d).groups() for d in project["dependencies"])
    assert {name: stated[name] for name in toolchain.SUPPORTED} == toolchain.SUPPORTED
    assert "packaging" in " ".join(project["dependencies"])


def test_pins_lie_in_the_ranges():
    pins = dict(
        line.split("==") for line in (ROOT / ".ci" / "constraints.txt").read_text().splitlines() if "==" in line
    )
    assert toolchain.find_faults({name: pins[name] for name in toolchain.SUPPORTED}) == ()


def test_every_reason_of_the_trace_says_what_to_do():
    assert all(len(advice) > 10 and advice.endswith(".") for advice in REASONS.values())


def test_the_repository_speaks_of_itself_alone():
    for path in ROOT.rglob("*"):
        hidden = any(part in {".git", ".venv", ".harness", ".mypy_cache", ".ruff_cache"} for part in path.parts)
        if path.suffix in {".py", ".md", ".yml", ".yaml", ".toml", ".html", ".txt"} and not hidden:
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not re.search(r"/(root|work|farm)/[a-z]", text), path
