"""Every reason why a record is not ranked is told, and nothing else keeps it off."""

import dataclasses
import datetime
import json
from pathlib import Path

import pytest

from harness.case import load_cases
from harness.engine.gpu import GpuReplay, floor_us
from harness.engine.standing import Ranked, why_unranked
from harness.replay.node.node_report import CaseRequest, parse_report
from harness.replay.timing import summarise
from harness.sandbox import Level
from harness.spec import load_problem, load_season
from harness.target import load_target
from harness.verdict import Kind, Verdict

WORKSPACE = Path(__file__).parents[1] / "replay_gpu" / "workspace"
RECORDED = WORKSPACE.parent / "recorded" / "honest.jsonl"
NOW = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.timezone.utc)
PASSED = Verdict(Kind.PASSED, "judge", "passed", "all pass")
ENTRY = Ranked("scale", "default", "open", "h200", False, Level.STRICT, 4)


@pytest.fixture(scope="module")
def season():
    return load_season(WORKSPACE)


def replay(cases=4, **machine):
    """What an H200 said, with other facts of its machine."""
    problem = load_problem(WORKSPACE / "problems" / "scale")
    chosen = load_cases(problem)
    lines = map(json.loads, RECORDED.read_text().splitlines())
    document = next(event["report"] for event in lines if event["event"] == "report")
    document["machine"].update({"sandbox": "strict", **machine})
    asked = [CaseRequest(c.id, c.shape_id, c.sizes, c.distribution, c.role == "benchmark", 3.0) for c in chosen]
    report = parse_report(document, asked)
    timings = {
        case.id: summarise(case.samples.spans_us, case.samples.witness_us, case.samples.nodes)
        for case in report.cases
        if case.samples
    }
    floors = {case.id: floor_us(problem, case, load_target("h200")) for case in chosen}
    return GpuReplay(chosen[:cases], report, timings, floors)


def test_what_meets_every_rule_is_ranked(season):
    assert why_unranked(ENTRY, season, PASSED, replay(), NOW) is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"portable": True}, "built with --portable: keys that the target lacks were dropped"),
        ({"division": "closed"}, "the season has no closed division"),
        ({"suite": "hackathon-2026"}, "suite hackathon-2026 is for comparison only"),
        ({"problem": "other"}, "the season does not list other"),
        ({"target": "h100"}, "the season ranks h200, not h100"),
        ({"level": Level.RESTRICTED}, "sandbox level restricted: the season asks for strict (see `make doctor`)"),
        ({"toolchain_faults": ("triton 3.9 is outside the tested range",)}, "triton 3.9 is outside the tested range"),
        ({"suite_cases": 5}, "4 of the suite's 5 cases were chosen: all of them count"),
    ],
)
def test_what_a_submission_lacks(season, change, told):
    assert why_unranked(dataclasses.replace(ENTRY, **change), season, PASSED, replay(), NOW) == told


def test_what_was_checked_of_chosen_cases_says_so(season):
    entry = dataclasses.replace(ENTRY, chosen_cases=3)
    checked = Verdict(Kind.CHECKED, "judge", "checked", "all pass")
    on_cpu = "checked on a CPU: ranking needs a replay on a GPU of the season"
    told = f"{on_cpu}; 3 of the suite's 4 cases were chosen: all of them count"
    assert why_unranked(entry, season, checked, None, NOW) == told
    assert why_unranked(dataclasses.replace(entry, chosen_cases=4), season, checked, None, NOW) == on_cpu


@pytest.mark.parametrize(
    ("machine", "told"),
    [
        ({"sandbox": "none"}, "the replay ran at sandbox level none: the season asks for strict"),
        ({"sandbox": "dance"}, "the replay ran at sandbox level none: the season asks for strict"),
        (
            {"sandbox": "restricted", "why_lower": "not strict: bubblewrap is not installed"},
            "the replay ran at sandbox level restricted: the season asks for strict "
            "(not strict: bubblewrap is not installed)",
        ),
        (
            {"score_clock": "none", "why_no_clock": "cupti-python is not installed"},
            "no score clock on the GPU machine: cupti-python is not installed",
        ),
        ({"addresses_host_memory": 1}, "could forge its own result"),
    ],
)
def test_what_a_machine_lacks(season, machine, told):
    assert told in why_unranked(ENTRY, season, PASSED, replay(**machine), NOW)


@pytest.mark.parametrize(
    ("dates", "told"),
    [
        ({"opens": datetime.datetime(2026, 12, 1)}, "the season opens on 2026-12-01 00:00 UTC"),
        ({"closes": NOW}, "the season closed on 2026-11-30 12:00 UTC"),
        ({"closes": NOW + datetime.timedelta(seconds=1)}, None),
        ({"opens": NOW}, None),
        (
            {"closes": datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))},
            "the season closed on 2026-11-30 10:00 UTC",
        ),
    ],
)
def test_a_season_is_open_for_a_time(season, dates, told):
    assert why_unranked(ENTRY, season.model_copy(update=dates), PASSED, replay(), NOW) == told


def test_every_reason_is_told(season):
    entry = dataclasses.replace(ENTRY, portable=True, target="h100")
    told = why_unranked(entry, season, PASSED, replay(sandbox="none"), NOW).split("; ")
    assert [reason.split()[0] for reason in told] == ["built", "the", "the"]


def test_without_a_replay_it_is_not_ranked(season):
    checked = Verdict(Kind.CHECKED, "judge", "checked", "")
    assert why_unranked(ENTRY, season, checked, None, NOW).startswith("checked on a CPU: ranking needs a replay")
    built = Verdict(Kind.BUILT, "check", "unchecked", "")
    why = why_unranked(ENTRY, season, built, None, NOW)
    assert why == "built, not checked in full: ranking needs a replay on a GPU of the season"
    told = "a GPU is here, and could not be used: cuda-bindings is not installed"
    assert why_unranked(ENTRY, season, checked, None, NOW, told) == told


def test_what_fell_short_has_no_standing_to_explain(season):
    assert why_unranked(ENTRY, season, Verdict(Kind.INCORRECT, "judge", "wrong_values", ""), None, NOW) is None
