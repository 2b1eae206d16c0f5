from __future__ import annotations

import dataclasses
import math

import pytest

from harness.board.ranking import describe_difference, rank, tie_groups
from tests.store.samples import checked, incorrect, passed, submitted, timing

BOARD = ("chunk_fwd_h", "b200", "closed")


@pytest.mark.parametrize(
    ("scores_us", "noise", "places"),
    [
        ([], 0.01, []),
        ([10.0], 0.01, [1]),
        ([10.0, 10.0, 11.0], 0.0, [1, 1, 3]),
        ([100.0, 100.9, 101.8, 102.7], 0.01, [1, 1, 3, 3]),  # a chain: each near the next, its ends not tied
        ([100.0, 101.0, 101.1], 0.01, [1, 1, 3]),  # the edge belongs to the group
        ([10.0, 20.0, 20.1, 40.0], 0.02, [1, 2, 2, 4]),
        ([10.0, 11.0, 12.0], 0.0, [1, 2, 3]),
    ],
)
def test_ties_walk_down_from_the_leader(scores_us, noise, places):
    assert tie_groups(scores_us, noise) == places


def test_a_board_has_one_entry_per_team_and_gaps():
    records = [passed("acme", 12, 0), passed("acme", 10, 1), passed("acme", 11, 2), passed("bolt", 15, 3)]
    board = rank([*records, passed("core", 18, 4)], *BOARD, noise=0.01)
    assert [(e.place, e.record.team, e.score_us) for e in board.entries] == [
        (1, "acme", 10),
        (2, "bolt", 15),
        (3, "core", 18),
    ]
    assert [e.gap_to_leader for e in board.entries] == [None, pytest.approx(0.5), pytest.approx(0.8)]
    assert [e.gap_to_above for e in board.entries] == [None, pytest.approx(0.5), pytest.approx(0.2)]
    assert not any(e.tied for e in board.entries)


def test_tied_entries_say_so_and_the_earlier_of_equals_stands_first():
    board = rank([passed("late", 10, 5), passed("early", 10, 1), passed("near", 10.04, 2)], *BOARD, noise=0.005)
    assert [(e.place, e.tied, e.record.team) for e in board.entries] == [
        (1, True, "early"),
        (1, True, "late"),
        (1, True, "near"),
    ]


def test_checked_and_built_stand_apart_whatever_their_score():
    built = dataclasses.replace(checked().verdict, kind="BUILT")
    records = [
        passed("ranked", 10, 0),
        checked("checked", 1, score_us=0.001, ranked=True),
        checked("built", 2, verdict=built, score_us=0.001, ranked=True),
        passed("laptop", 0.001, 3, ranked=False, unranked_reason="this GPU is not of the season"),
    ]
    board = rank(records, *BOARD)
    assert [e.record.team for e in board.entries] == ["ranked"]
    assert [(a.record.team, a.why) for a in board.unranked] == [
        ("laptop", "this GPU is not of the season"),
        ("checked", "no GPU"),
        ("built", checked().verdict.message),
    ]


@pytest.mark.parametrize("score_us", [None, 0.0, -1.0, math.nan, math.inf])
def test_an_impossible_score_is_never_ranked(score_us):
    assert rank([dataclasses.replace(passed("acme", 10), score_us=score_us)], *BOARD).entries == ()


def test_failures_and_other_boards_are_not_shown():
    others = [passed("acme", 1, target="h200"), passed("acme", 1, division="open"), passed("acme", 1, problem="conv")]
    board = rank([incorrect(), submitted(), *others], *BOARD)
    assert (board.entries, board.unranked, board.elsewhere, board.setting) == ((), (), (), None)


def test_an_unranked_record_is_shown_beside_a_ranked_one_only_if_it_is_newer():
    records = [checked("acme", 0), passed("acme", 10, 1), passed("bolt", 11, 0), checked("bolt", 1), checked("bolt", 2)]
    assert [a.record.id for a in rank(records, *BOARD).unranked] == [records[4].id]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"problem_version": "0"}, "problem version 0, now 1"),
        ({"evaluator_version": "0.0.9"}, "evaluator 0.0.9, now 0.1.0"),
        ({"season": "2026-autumn"}, "season 2026-autumn, now 2027-spring"),
        ({"toolchain": {"helion": "1.5.0", "torch": "2.13.0"}}, "triton none, now 3.7.1"),
    ],
)
def test_another_setting_is_shown_and_not_mixed(change, why):
    old, now = passed("fast", 1.0, 0, **change), passed("slow", 10, 1)
    board = rank([old, now], *BOARD)
    assert [e.record.team for e in board.entries] == ["slow"]
    assert [(a.record.id, a.why) for a in board.elsewhere] == [(old.id, why)]


def test_the_setting_that_counts_can_be_given():
    old, now = passed("fast", 1.0, 0, problem_version="0"), passed("slow", 10, 1)
    board = rank([old, now], *BOARD, setting=old.setting)
    assert [e.record.team for e in board.entries] == ["fast"]
    assert describe_difference(now.setting, board.setting) == "problem version 1, now 0"


def test_other_settings_show_each_teams_best():
    old = {"problem_version": "0"}
    records = [
        passed("acme", 5, 0, **old),
        passed("acme", 4, 1, **old),
        passed("acme", 6, 2, **old),
        checked("acme", 3, **old),
    ]
    board = rank([*records, checked("bolt", 4, **old), checked("bolt", 5, **old), passed("core", 9, 6)], *BOARD)
    assert [(a.record.team, a.record.score_us) for a in board.elsewhere] == [("bolt", None), ("acme", 4)]


def test_other_settings_show_what_the_runs_of_a_program_come_to():
    old = {"problem_version": "0", "normalised_source_sha256": "same"}
    records = [passed("acme", score_us, minute, **old) for minute, score_us in enumerate((5, 7, 9))]
    (apart,) = rank([*records, passed("bolt", 1, 3)], *BOARD).elsewhere
    assert (apart.record.id, round(apart.record.score_us, 6)) == (records[-1].id, 7)


def test_what_is_ruled_out_has_no_place_and_makes_no_setting_count():
    same = {"normalised_source_sha256": "same"}
    first, copy = passed("acme", 5, 0, **same), passed("bolt", 6, 1, **same)
    cheat, unranked = passed("core", 1, 2, evaluator_version="0.2.0"), checked("dusk", 3)
    every = [first, copy, cheat, unranked]
    board = rank(every, *BOARD, ruled={first.id, cheat.id, unranked.id})
    assert [(entry.record.id, entry.same_program_as) for entry in board.entries] == [(copy.id, "acme")]
    assert (board.setting, board.unranked, board.elsewhere) == (copy.setting, (), ())
    nothing = rank(every[:3], *BOARD, ruled={record.id for record in every})
    assert (nothing.setting, nothing.entries, nothing.elsewhere) == (cheat.setting, (), ())


def test_what_is_of_chosen_cases_hides_nothing_that_is_of_all():
    part = {"whole_suite": False}
    built = dataclasses.replace(checked().verdict, kind="BUILT")
    whole, later = checked("acme", 1), checked("acme", 3)
    newer = [
        checked("acme", 2, **part),
        passed("acme", 1, 4, ranked=False, **part),
        checked("acme", 5, verdict=built, **part),
    ]
    assert [apart.record for apart in rank([whole, *newer], *BOARD).unranked] == [whole]
    assert [apart.record for apart in rank([whole, *newer, later], *BOARD).unranked] == [later]
    assert [apart.record for apart in rank(newer, *BOARD).unranked] == [
        newer[-1]
    ]  # the newest, where there is no whole
    ranked = passed("acme", 9, 0)
    board = rank([ranked, whole, *newer], *BOARD)
    assert ([e.record for e in board.entries], [a.record for a in board.unranked]) == ([ranked], [whole])


def test_what_is_of_chosen_cases_makes_no_setting_count_nor_hides_one_elsewhere():
    other = {"problem_version": "2"}
    whole, part = checked("acme", 1), checked("acme", 2, whole_suite=False, **other)
    board = rank([whole, part], *BOARD)
    assert (board.setting, [a.record for a in board.unranked], [a.record for a in board.elsewhere]) == (
        whole.setting, [whole], [part],
    )  # fmt: skip
    current = passed("bolt", 9, 9, problem_version="3")
    parts = [checked("acme", minute, whole_suite=False) for minute in (2, 3)]
    assert [a.record for a in rank([whole, *parts, current], *BOARD).elsewhere] == [whole]


def test_a_newer_unranked_record_does_not_move_the_board_to_its_setting():
    board = rank([passed("acme", 5, 0), checked("bolt", 1, evaluator_version="0.2.0")], *BOARD)
    assert [e.record.team for e in board.entries] == ["acme"]


def test_a_copied_source_names_who_had_it_first():
    source = {"normalised_source_sha256": "cc" * 32}
    board = rank([passed("first", 10, 0, **source), passed("second", 9, 1, **source), passed("own", 8, 2)], *BOARD)
    assert [(e.record.team, e.same_program_as) for e in board.entries] == [
        ("own", None),
        ("second", "first"),
        ("first", None),
    ]


def test_the_share_of_the_limit_is_a_geometric_mean_and_needs_every_case():
    record = passed("acme", 10)
    shares = (20.0, 80.0, 40.0)
    cases = [dataclasses.replace(c, timing=dataclasses.replace(timing(1), percent_of_floor=s))
             for c, s in zip(record.cases[3:], shares, strict=True)]  # fmt: skip
    entry = rank([dataclasses.replace(record, cases=tuple(cases))], *BOARD).entries[0]
    assert entry.percent_of_floor == pytest.approx(40.0)
    cases[0] = dataclasses.replace(cases[0], timing=dataclasses.replace(timing(1), percent_of_floor=None))
    assert rank([dataclasses.replace(record, cases=tuple(cases))], *BOARD).entries[0].percent_of_floor is None


def test_another_suite_is_listed_apart_whenever_it_came():
    ours, gameable = checked("acme"), dataclasses.replace(checked("acme"), suite="hackathon-2026")
    board = rank([ours, gameable], ours.problem, ours.target, ours.division)
    assert [apart.record.suite for apart in board.unranked] == ["default"]
    assert "suite hackathon-2026, now default" in board.elsewhere[0].why


def test_a_board_of_a_problem_that_has_changed_since_keeps_to_one_version_and_says_so():
    records = [passed("acme", 5, 0), passed("bolt", 6, 1)]
    board = rank(records, *BOARD, version_now="2")
    assert [entry.record.problem_version for entry in board.entries] == ["1", "1"]
    assert board.changed == (
        "The problem has changed: it is version 2 now, and nothing is ranked in it yet. What stands here was made with "
        "version 1; versions are never mixed."
    )
    first_of_the_new = rank([*records, passed("bolt", 9, 2, problem_version="2")], *BOARD, version_now="2")
    assert [entry.record.team for entry in first_of_the_new.entries] == ["bolt"]
    assert {apart.why for apart in first_of_the_new.elsewhere} == {"problem version 1, now 2"}
    assert first_of_the_new.changed == ""


def test_a_board_without_records_has_not_changed():
    assert rank([], *BOARD, version_now="2").changed == ""
