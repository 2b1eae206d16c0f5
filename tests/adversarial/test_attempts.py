"""What was tried as an attacker who has read the code, beyond what a submission alone can try (see attempts.md)."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.case import load_cases
from harness.errors import StoreError, UsageError
from harness.replay import cpu_check
from harness.replay.cpu.faults import Unsupported
from harness.replay.cpu.source import check_source
from harness.replay.cpu_check import Checked
from harness.replay.cpu_runner import CpuRunner
from harness.sandbox import Exit
from harness.spec.problem import load_problem
from harness.store import Store, encode_record, open_store
from tests.store.samples import checked, passed, submitted

WORKSPACE = Path(__file__).parents[1] / "workspace"
CASE = load_cases(load_problem(WORKSPACE / "problems" / "scale"))[0]


# The CPU's runner, if its own Python were the attacker's: what it answers is hostile.


def ask(*lines: object) -> dict[str, object]:
    """Return what is taken for the answer of a runner that says these lines and ends."""
    runner = object.__new__(CpuRunner)
    runner._lines = iter(x if isinstance(x, str) else json.dumps(x) for x in lines)
    runner._requests = io.StringIO()
    ended = Exit(0, None, None, 1.0, 1.0, "", 0)
    runner._job = SimpleNamespace(wait=lambda: ended)  # type: ignore[assignment]
    return runner.execute(0, "M4_N32", "in", "out", sampled=False, time_limit_s=1.0)


def conclude(answer: dict[str, object]) -> Checked:
    checked = cpu_check.conclude(answer, 1.0)
    assert checked is not None
    return checked


@pytest.mark.parametrize("depth", [1, 100, 490, 600, 900, 20_000])
def test_a_place_nested_ever_deeper_can_be_stored(depth: int) -> None:
    """Writing it down took more of the stack than reading it, and the record was lost with the whole evaluation."""
    nested = '{"id": 0, "status": "fault", "reason": "x", "where": {"step": 1, "a": ' + "[" * depth + "]" * depth + "}}"
    answer = ask(nested)
    if answer["status"] == "unsupported":  # nested too deeply to be read at all
        assert depth > 900
        return
    result = conclude(answer)
    assert result.where == ({"step": 1, "a": []} if depth == 1 else {"step": 1})
    details = {"where": result.where}
    record = dataclasses.replace(checked(), verdict=dataclasses.replace(passed("acme", 12.5).verdict, details=details))
    assert json.dumps(encode_record(record))


def test_only_plain_facts_of_a_place_are_kept() -> None:
    good = {"kernel": "k", "index": 3, "shape": [4, 32], "program": [0, 1, 0], "allocated": None, "share": 0.5}
    bad = {"a": {"b": 1}, "b": ["x"], "c": "x" * 5000, "d": float("nan"), "e": 10**100, "f" * 100: 1, "g": [1] * 1000}
    assert conclude({"status": "fault", "where": {**bad, **good}}).where == good
    assert conclude({"status": "fault", "where": [good]}).where == {}
    assert len(conclude({"status": "fault", "where": {f"n{i}": i for i in range(10_000)}}).where) == 32


@pytest.mark.parametrize(
    "answer",
    [
        {"id": 1, "status": "done"},
        {"id": "0", "status": "done"},
        {"id": [0], "status": "done"},
        {"id": 0, "status": "passed"},
        {"id": 0, "status": ["done"]},
        {"id": 0, "status": {"done": 1}},
        {"status": "done"},
        [{"id": 0, "status": "done"}],
        "PASSED",
    ],
)
def test_an_answer_to_nothing_that_was_asked_is_none(answer: object) -> None:
    told = ask(answer)
    assert told["status"] == "unsupported"
    assert told["reason"] == "the interpreter's process ended early (exit code 0)"


# The kernel's text, which that runner executes: what passes can compute, and reach nothing.

HEADER = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(x, y, n: tl.constexpr):\n    "


@pytest.mark.parametrize(
    "line",
    """e = tl.load.__wrapped__
    e = tl.tensor.sum
    e = tl.constexpr.value
    e = tl.float32.scalar.type
    e = tl.math.np
    e = tl.core.builtin
    e = libdevice.core
    e = int
    e = tl.load(x)(1)
    e = [tl.load][0](x)
    e = tl.load[0]
    e = max(*[1, 2])
    e = tl.load(x, **n)
    e = tl.load(x, _semantic=y)
    e = tl.load(x, __x=1)
    e = (a := 1)
    e = '{}'.format(x)
    e = [i for i in x]
    e = {1: 2}
    e: (__import__('os').abort()) = 1
    x.value = 1
    x.type = y.type
    x[0] = 1
    x.value += 1
    (x.value, e) = 1, 2
    kind = tl.tensor; kind.sum = k
    for x.value in tl.range(3): pass
    tl = 3
    global tl
    del x
    import os
    yield 1
    e = 2.0 ** 1000000000""".splitlines(),
)
def test_a_text_that_reaches_for_more_is_not_executed(line: str) -> None:
    with pytest.raises(Unsupported, match="not on the list of what CPU replay executes"):
        check_source(f"{HEADER}{line.strip()}\n    tl.store(y, 1)\n")


def test_the_same_text_without_is_executed() -> None:
    assert check_source(f"{HEADER}e = tl.load(x)\n    tl.store(y, e)\n").used == {"tl.load", "tl.store"}


# The store, if whoever hands in an outcome were the attacker.


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "board.db") as opened:
        yield opened


@pytest.mark.parametrize("field", ["team", "problem", "target", "division", "season", "source_sha256"])
def test_an_outcome_cannot_change_whose_record_it_is(store: Store, field: str) -> None:
    mine = submitted()
    store.submit(mine)
    forged = dataclasses.replace(passed("acme", 12.5), id=mine.id, **{field: "0" * 64})
    with pytest.raises(StoreError, match="was submitted as another's"):
        store.finish(forged)
    assert store.record(mine.id) == mine


@pytest.mark.parametrize("score_us", [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, -1.0, None])
def test_a_score_that_is_no_time_is_not_ranked(store: Store, score_us: float | None) -> None:
    record = dataclasses.replace(passed("acme", 1.0), score_us=score_us)
    store.submit(dataclasses.replace(record, state="submitted", verdict=None))
    store.finish(record)
    found = store.record(record.id)
    assert found.ranked
    assert not found.scored


@pytest.mark.parametrize("kind", ["CHECKED", "BUILT", "UNSTABLE", "passed", "PASSED ", "INCORRECT"])
def test_only_what_passed_is_ranked_whatever_else_the_record_says(store: Store, kind: str) -> None:
    record = passed("acme", 12.5)
    record = dataclasses.replace(record, ranked=True, verdict=dataclasses.replace(record.verdict, kind=kind))
    store.submit(dataclasses.replace(record, state="submitted", verdict=None))
    store.finish(record)
    assert not store.record(record.id).scored


@pytest.mark.parametrize("prefix", ["%", "_", "' or 1=1 --", "*", "", " ", "\0", "a" * 10_000, "../x", "\u0663"])
def test_a_prefix_is_no_pattern(store: Store, prefix: str) -> None:
    record = passed("acme", 12.5)
    store.submit(dataclasses.replace(record, state="submitted", verdict=None))
    with pytest.raises(UsageError, match="is not a record's id|there is no record"):
        store.record(prefix)
