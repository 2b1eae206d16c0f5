from __future__ import annotations

import dataclasses
import io
import re

import pytest
from rich.console import Console
from rich.text import Text

from harness.board import list_changes, rank, render_board, render_record
from harness.board.listing import Listing
from harness.board.reading import gather_warnings
from harness.board.show import render_kernels
from harness.board.table import last_ranking, spaced
from harness.cli.output import print_renderable
from harness.store import NO_ID, Previous
from harness.store.record import KernelRecord, OutputError, VerdictRecord
from tests.board.hostile import HOSTILE, hostile_record
from tests.board.season import sampled
from tests.store.samples import checked, incorrect, passed, submitted

BOARD = ("chunk_fwd_h", "b200", "closed")


def show(renderable, width=120, color=False):
    console = Console(file=io.StringIO(), width=width, force_terminal=color, color_system="standard" if color else None)
    console.print(renderable)
    return console.file.getvalue()


def board(*records, noise=0.005):
    return rank(records, *BOARD, noise=noise)


def test_noise_that_nobody_measured_is_said_to_be_assumed():
    records = [passed("acme", 23.41), passed("bolt", 23.45, 1)]
    text = show(render_board(rank(records, *BOARD, noise=0.01, noise_assumed=True)))
    assert "within 1.0% of the group's leader, assumed: identical kernels' noise has not been measured" in text
    assert "assumed" not in show(render_board(board(*records)))


def test_a_board_shows_places_gaps_times_and_the_setting():
    text = show(
        render_board(
            board(passed("acme", 23.41), passed("bolt", 23.45, 1), passed("slow", 250.0, 2)), title="State pass"
        )
    )
    assert "State pass  chunk_fwd_h · b200 · closed division" in text
    assert "problem version 1, evaluator 0.1.0, helion 1.5.0, torch 2.13.0, triton 3.7.1" in text
    rows = [line.split() for line in text.splitlines()]
    assert "1= acme 23.41 5.853 23.41 93.64 50.0%".split() == next(r for r in rows if "acme" in r)[:7]
    assert "1= bolt 23.45 +0.2% +0.2% 5.862 23.45 93.80 50.0%".split() == next(r for r in rows if "bolt" in r)[:9]
    assert next(r for r in rows if "slow" in r)[:4] == ["3", "slow", "250.0", "10.7x"]
    assert "B1 T64 H1  B2 T512 H3  B2 T1024 H3" in text
    assert "= tied: within 0.5% of the group's leader" in text


def test_what_has_no_verdict_says_why():
    ours = VerdictRecord("HARNESS_ERROR", "store", reason="interrupted", message="Its process ended.")
    unfinished = {"cases": (), "kernels": (), "build": None, "stages": ()}
    stopped = "Its process was stopped or died before there was a verdict. Nothing counts; submit again."
    for state, verdict, told in (
        ("submitted", None, "It is being evaluated: there is no verdict yet."),
        ("interrupted", None, stopped),
        ("interrupted", ours, stopped),  # in records of older versions
    ):
        text = show(render_record(checked("acme", state=state, verdict=verdict, **unfinished)))
        lines = [line.rstrip() for line in text.splitlines()]
        assert lines[0].startswith(f"{state.upper()}  chunk_fwd_h · b200 · closed · acme · ")
        assert lines[1:3] == [told, ""]
        assert not re.search("HARNESS.ERROR|stage store", text)


def test_a_board_lists_unranked_and_other_settings_apart():
    text = show(render_board(board(passed("acme", 9, 1), checked("bolt", 2), passed("old", 1, 0, problem_version="0"))))
    ranked, rest = text.split("Not ranked")
    unranked, elsewhere = rest.split("Other settings (not comparable, so not mixed in)")
    assert "acme" in ranked
    assert "bolt" not in ranked
    assert "CHECKED" in unranked
    assert "no GPU" in unranked
    assert "problem version 0, now 1" in elsewhere


def test_a_board_says_that_its_problem_has_changed():
    text = show(render_board(rank([passed("acme", 9, 1)], *BOARD, version_now="2")))
    assert "The problem has changed: it is version 2 now, and nothing is ranked in it yet." in text
    assert "has changed" not in show(render_board(rank([passed("acme", 9, 1)], *BOARD, version_now="1")))


def test_a_board_without_a_ranked_entry_says_so_and_an_empty_one_is_a_line():
    assert "\n  No ranked entry yet. " in show(render_board(board(checked())))
    told = "Sum  chunk_fwd_h · b200 · closed division  no entry yet\n"
    assert show(render_board(board(), title="Sum")) == told
    pieces = spaced([render_board(board(), title="Sum"), render_board(board(), title="Sum")])
    assert "".join(map(show, pieces)) == told * 2
    assert "\n\n" in "".join(map(show, spaced([render_board(board()), render_board(board(checked()))])))


def test_columns_of_times_are_explained_in_a_line_where_they_are_shown():
    timed = (
        "time: mean of the fastest 7 in 10 calls; interval: the time's, at 95%; of floor: least possible time / time"
    )
    record = passed("acme", 23.41)
    assert timed in show(render_record(record))
    narrow = " ".join(show(render_record(record), 70).split())
    assert "time: mean of the fastest 7 in 10 calls" in narrow
    assert "left out: widen the terminal" in narrow
    assert "interval: " not in narrow
    without = [dataclasses.replace(case, timing=None) for case in record.cases]
    assert not re.search("interval|floor|7 in 10", show(render_record(checked(cases=tuple(without)))))


def test_the_last_board_that_ranks_anything_explains_its_columns():
    told = "score: geometric mean of the benchmarks' times; of floor: least possible time / time"
    ranked = board(passed("acme", 23.41))
    assert show(render_board(ranked)).count(told) == 1
    assert told not in show(render_board(ranked, explain=False))
    assert "score: " not in show(render_board(board(checked())))
    assert last_ranking([True, True, False]) == [False, True, False]
    assert last_ranking([False, False]) == [False, False]
    assert last_ranking([]) == []


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_narrow_terminal_loses_columns_not_places_or_ids(width):
    record = passed("acme", 23.41)
    text = show(render_board(board(record, passed("bolt", 30, 1))), width)
    assert record.id in text
    assert "23.41" in text
    assert "…" not in text
    assert all(len(line) <= width for line in text.splitlines())


def test_a_failure_is_told_in_the_first_screen():
    first = show(render_record(incorrect())).splitlines()[:14]
    for told in (
        "INCORRECT  chunk_fwd_h · b200 · closed · acme",
        "Output h differs from the second chunk on: is the state carried over?",
        "case B1_T128_H2_K64_V64",
        "2048 of 8192 elements wrong (25.0%); largest error 1.8, 1,742 times the tolerance; relative L2 error 0.38",
        "h[0, 1, 0, 3, 5]: got 0.25, expected 2",
        "41  return chunk_h(k, w, u, g)  in custom_kernel",
    ):
        assert any(told in line for line in first), told


CLOCKS = {
    "sm_mhz_lowest": 1905, "sm_mhz_median": 1980, "sm_mhz_highest": 1995, "memory_mhz": 3201,
    "temperature_c_highest": 45, "throttle": "power_cap,software_thermal", "xids": "", "witness_us": 2.6,
}  # fmt: skip


def with_timing(record, **changes):
    """The record with other facts in the timing of every benchmark."""
    cases = (
        dataclasses.replace(case, timing=case.timing and dataclasses.replace(case.timing, **changes))
        for case in record.cases
    )
    return dataclasses.replace(record, cases=tuple(cases))


def test_a_replay_tells_how_its_calls_scatter_what_they_are_faster_than_and_what_the_clocks_did():
    speedups = {"compile": 1.25, "eager": 11.5, "starter": 2.0}
    text = show(render_record(with_timing(passed("acme", 23.41), speedups=speedups, clocks=CLOCKS)))
    times = text[text.index("\nTimes") : text.index("\nCost")].splitlines()
    assert times[2].split() == "benchmark calls p10 µs p90 µs mean µs floor µs × starter × eager × compile".split()
    assert times[3].split() == "B1 T64 H1 200 5.735 6.028 5.864 2.926 2.00 11.50 1.25".split()
    assert [line.split()[:3] for line in times[4:6]] == [["B2", "T512", "H3"], ["B2", "T1024", "H3"]]
    told = "p10: a tenth of the calls is faster; p90: a tenth is slower; mean: of all calls; floor: least possible time"
    assert times[6].strip() == told
    assert times[7].strip() == "×: how many times faster than starter, eager, compile"
    assert times[8].strip() == (
        "clocks: SM 1980 MHz (1905 to 1995), memory 3201 MHz, 45 °C at the most, "
        "slowed down by power_cap, software_thermal"
    )


def test_what_was_not_measured_is_not_told():
    plain = show(render_record(with_timing(passed("acme", 23.41), speedups={}, clocks={"xids": ""})))
    assert "p90 µs" in plain
    assert not any(word in plain for word in ("×", "clocks:", "slowed down"))
    assert "never seen slowed down" in show(
        render_record(with_timing(passed("acme", 9), clocks={**CLOCKS, "throttle": ""}))
    )
    assert "Times" not in show(render_record(checked()))


def test_a_case_that_passed_with_other_bits_each_time_says_so():
    record = passed("acme", 10)
    told = "3 elements differ between two calls on equal inputs"
    cases = (dataclasses.replace(record.cases[0], message=told), *record.cases[1:])
    (line,) = [
        line for line in show(render_record(dataclasses.replace(record, cases=cases)), 160).splitlines() if told in line
    ]
    assert line.split()[:4] == ["B1", "T64", "H2", "test"]
    assert "passed" in line


def without_function(record):
    """A record as policy and syntax verdicts make it: a line, but no function that it is in."""
    lines = tuple(dataclasses.replace(line, function="") for line in record.verdict.traceback)
    return dataclasses.replace(record, verdict=dataclasses.replace(record.verdict, traceback=lines))


def test_a_line_in_no_function_ends_with_its_text():
    (line,) = [line for line in show(render_record(without_function(incorrect()))).splitlines() if "return" in line]
    assert line.split() == "41 return chunk_h(k, w, u, g)".split()


def test_a_case_checked_by_a_sample_is_no_fault():
    text = show(render_record(sampled(checked())))
    assert text.count("sampled") == 2
    assert text.count("8 of 48 programs checked") == 2
    assert "partial" not in text
    assert "\x1b[32msampled" in show(render_record(sampled(checked())), 140, color=True)


def after_failure(record):
    """The record as the engine leaves it: nothing is run after the case that failed."""
    cases = tuple(
        dataclasses.replace(case, status="not_run", reason="after_failure", message="", errors=(), seconds=None)
        if number > 1
        else case
        for number, case in enumerate(record.cases)
    )
    return dataclasses.replace(record, cases=cases)


def test_a_failure_ends_with_its_verdict_and_counts_what_was_not_run():
    lines = show(render_record(after_failure(incorrect()))).rstrip().splitlines()
    assert lines[-1] == "INCORRECT  Output h differs from the second chunk on: is the state carried over?"
    assert lines[-2] == ""
    assert sum("not run" in line for line in lines) == 1
    assert "  4 more cases not run" in [line.rstrip() for line in lines]
    assert "after" not in "\n".join(lines)


def test_only_the_first_sentence_is_repeated():
    record = incorrect()
    for message, said in (
        ("Wrong by 0.5 in h. Is the mask right?", "Wrong by 0.5 in h."),
        ("submission.py has no kernel\nline two", "submission.py has no kernel"),
    ):
        told = dataclasses.replace(record, verdict=dataclasses.replace(record.verdict, message=message))
        assert show(render_record(told)).splitlines()[-1] == f"INCORRECT  {said}"
    silent = dataclasses.replace(record, verdict=dataclasses.replace(record.verdict, message=""))
    assert show(render_record(silent)).splitlines()[-1] == "INCORRECT"


@pytest.mark.parametrize(("count", "told"), [(1, "1 case not run"), (3, "3 cases not run")])
def test_where_nothing_was_run_there_is_no_table_of_cases(count, told):
    record = incorrect(cases=tuple(dataclasses.replace(c, status="not_run") for c in checked().cases[:count]))
    text = show(render_record(record))
    assert told in text
    assert "inputs" not in text


def test_what_was_accepted_lists_every_case_and_ends_without_the_verdict():
    record = dataclasses.replace(after_failure(incorrect()), verdict=checked().verdict)
    text = show(render_record(record))
    assert text.count("not run  ") == 4
    assert text.count("a case before it failed") == 4
    assert text.count("CHECKED") == 1
    assert show(render_record(submitted())).count("SUBMITTED") == 1


def test_the_machine_that_built_and_the_one_that_replayed_are_told_apart():
    record = dataclasses.replace(passed("acme", 23.41), machine={"cpu": "x86", "cores": 8})
    assert "cpu x86, cores 8" in show(render_record(record))
    record = dataclasses.replace(record, machine={**record.machine, "gpu": "NVIDIA B200", "python": "3.12"})
    text = show(render_record(record))
    lines = {line.split("  ")[1]: line.split() for line in text.splitlines() if line.startswith("  ")}
    assert lines["built on"][2:] == ["cpu", "x86,", "cores", "8"]
    assert lines["replayed on"][2:] == ["gpu", "NVIDIA", "B200,", "python", "3.12"]


def test_the_environment_is_left_out_where_it_is_not_wanted():
    assert "Environment" in show(render_record(incorrect()))
    text = show(render_record(incorrect(), environment=False))
    assert "Environment" not in text
    assert "sandbox" not in text


@pytest.mark.parametrize(
    ("width", "gone"),
    [(70, ("shared", "warps", "stages", "cached")), (80, ("stages", "cached")), (90, ("cached",)), (140, ())],
)
def test_columns_left_out_are_told(width, gone):
    kernels = tuple(dataclasses.replace(kernel, cached=True) for kernel in checked().kernels)
    text = show(render_kernels(kernels), width)
    assert {word for word in ("shared", "warps", "stages", "cached") if word not in text} == set(gone)
    columns = f"{len(gone)} column{'s' if len(gone) > 1 else ''} left out"
    assert (text.splitlines()[-1] == f"{columns}: widen the terminal") if gone else ("left out" not in text)
    assert "terminal, or harness build --json" in show(render_kernels(kernels, whole="harness build --json"), 70)


def test_the_table_of_cases_tells_of_columns_left_out():
    record = passed("acme", 10)
    told = f"columns left out: widen the terminal, or harness show {record.id} --json"
    assert told in show(render_record(record), 80)
    assert "left out" not in show(render_record(record), 160)
    assert "terminal, or https://x/records/1" in show(render_record(record, whole="https://x/records/1"), 80)


@pytest.mark.parametrize("width", [60, 80, 110])
def test_what_tells_cases_apart_is_never_left_out(width):
    inputs = ("normal", "tiny", "cancelling")
    alike = [dataclasses.replace(passed("acme", 10).cases[0], distribution=name) for name in inputs]
    lines = show(render_record(dataclasses.replace(passed("acme", 10), cases=tuple(alike))), width).splitlines()
    rows = [line.split() for line in lines if "B1 T64" in line]
    assert [row[-len(row) + 5 : -len(row) + 8] for row in rows if "test" in row] == [
        ["test", name, "passed"] for name in inputs
    ]


LONG = "the interpreter cannot run this kernel, since it calls what only a GPU of the target has"


@pytest.mark.parametrize("width", [80, 110])
def test_a_long_note_of_all_cases_is_told_once_and_costs_no_column(width):
    record = checked()
    noted = [dataclasses.replace(case, status="built", message=LONG) for case in record.cases]
    text = show(render_record(dataclasses.replace(record, cases=tuple(noted))), width)
    assert " ".join(text.split()).count(f"all of these cases: {LONG}") == 1
    heading = next(line for line in text.splitlines() if "inputs" in line).split()
    assert heading[-4:] == ["error/tol", "rel", "L2", "replay"]
    noted[0] = record.cases[0]
    text = show(render_record(dataclasses.replace(record, cases=tuple(noted))), width)
    assert sum(line.rstrip().endswith(" (1)") for line in text.splitlines()) == len(noted) - 1
    assert " ".join(text.split()).count(f"(1) {LONG}") == 1


def test_a_long_note_of_one_case_is_wrapped_before_a_column_goes():
    record = checked()
    cases = (dataclasses.replace(record.cases[0], message=LONG), *record.cases[1:])
    text = show(render_record(dataclasses.replace(record, cases=cases)), 100)
    table = text[text.index("inputs") : text.index("Kernels")]
    assert "rel L2" in table
    assert "replay" in table
    assert "left out" not in table
    assert [line.rstrip().rpartition("  ")[2] for line in table.splitlines()[1:3]] == [
        "the interpreter cannot run",
        "this kernel, since it calls",
    ]


@pytest.mark.parametrize("width", range(30, 90, 7))
def test_a_list_breaks_between_its_parts_and_keeps_its_indentation(width):
    parts = [f"n{10**number} 0.43 s" for number in range(12)]
    lines = [line.rstrip() for line in show(Listing(parts, label="took  "), width).splitlines()]
    assert lines[0].startswith("took  n1 0.43 s ·")
    assert all(line.startswith("      n") for line in lines[1:])
    assert all(line.endswith(" s ·") for line in lines[:-1])
    assert " ".join(" ".join(lines).split()) == "took " + " · ".join(parts)


def test_the_cost_of_shapes_is_such_a_list():
    record = checked()
    lines = show(render_record(record), 80).splitlines()
    first = next(number for number, line in enumerate(lines) if "import" in line)
    listed = [line.rstrip() for line in lines[first : first + 3]]
    assert [line[:5] for line in listed] == ["    i", "    B", "    B"]
    assert all(line.endswith(("3.8 s ·", "3.8 s")) for line in listed)


def test_what_is_piped_has_no_trailing_blanks(capsys):
    print_renderable(render_record(incorrect()), Text(""), Text("more: [b]x[/b] :smile:"))
    lines = capsys.readouterr().out.split("\n")
    assert lines[-4:] == [lines[-4], "", "more: [b]x[/b] :smile:", ""]
    assert lines[-4].startswith("INCORRECT  Output h differs")
    assert any(line.startswith("  B1 T64 H2         test ") for line in lines), "the blanks within lines stay"
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_nan_is_the_largest_error():
    nan = float("nan")
    errors = (OutputError("h", 1e-4, 1e-3, 1e-4, 0.5, 0, 8), OutputError("v", nan, nan, nan, nan, 3, 8))
    cases = (dataclasses.replace(checked().cases[0], status="failed", errors=errors),)
    text = show(render_record(checked(cases=cases)))
    assert "- !" in text
    assert "nan" not in text


@pytest.mark.parametrize(
    ("max_abs", "wrong", "told"),
    [
        (0.0, 8192, "8192 of 8192 elements wrong (100.0%); largest error -; relative L2 error -"),
        (0.25, 4096, "4096 of 8192 elements wrong (50.0%); largest error 0.25 where it is finite; relative L2 error -"),
    ],
)
@pytest.mark.parametrize("relative_l2", [0.0, float("nan")])
def test_an_error_without_meaning_is_a_dash(max_abs, wrong, told, relative_l2):
    record = incorrect()
    error = OutputError("h", max_abs, 0.0, relative_l2, float("inf"), wrong, 8192)
    cases = tuple(dataclasses.replace(case, errors=(error,)) if case.errors else case for case in record.cases)
    text = show(render_record(dataclasses.replace(record, cases=cases)))
    assert told in text
    assert "inf " not in text
    assert "nan" not in text


def test_alarming_numbers_are_marked_and_explained():
    bad = KernelRecord("B1_T64_H1_K64_V64", "k", 255, 192, 231_424, 4, 4, 0.0625, 11.2, True)
    text = show(render_record(checked(kernels=(*checked().kernels, bad))))
    assert "255 !     192 !" in text
    assert "6% !" in text
    assert "Spilled registers live in slow memory" in text
    assert "226 KiB" in text
    fine = show(render_record(checked()))
    assert "!" not in fine
    assert "Spilled" not in fine


def test_a_record_shows_budget_stages_environment_and_changes():
    record, last = passed("acme", 10, 1), passed("acme", 20)
    text = show(render_record(record, changes=list_changes(record, Previous(last, last))))
    assert "compiling 22 s of CPU, 3% of the 720 s budget" in text
    assert "waited    trace 6.0 s · assemble 7.0 s · replay 5.0 s" in text
    assert "helion 1.5.0, torch 2.13.0, triton 3.7.1" in text
    assert "20.00 µs  10.00 µs (-50.0%)" in text
    assert "9.950 to 10.05" in text


def untuned(name, size):
    config = f"helion.Config(block_sizes=[{size}, (1, 2)], num_warps=4)"
    told = f"kernel {name} has no config for [{size}, 4], [{size}]; Helion's heuristics choose {config}"
    return f"{told}: nothing is tuned in evaluation"


def test_a_kind_of_warning_is_told_once_with_a_count():
    several = [
        f"kernel {name} has {n} configs; the first is taken: nothing is tuned" for name, n in (("a", 2), ("b", 11))
    ]
    dropped = [f"config key {key} does not exist for NVIDIA B200 and was dropped (portable)" for key in ("x", "y", "z")]
    other = "torch.compile has no effect: its operators are recorded one by one, as in eager mode"
    warnings = (other, *(untuned(f"k{size}", size) for size in range(11)), *several, *dropped)
    record = checked("acme", warnings=warnings)
    assert gather_warnings(warnings) == [
        other,
        f"{untuned('k0', 0)} (and 10 more of this kind)",
        f"{several[0]} (and 1 more of this kind)",
        f"{dropped[0]} (and 2 more of this kind)",
    ]
    told = " ".join(show(render_record(record)).split())
    assert told.count("nothing is tuned in evaluation") == 1
    assert f"(and 10 more of this kind: harness show {record.id} --json)" in told


def test_what_is_stored_nowhere_has_no_id_and_leads_to_no_record():
    several = tuple(f"kernel k{i} has no config for [4, 32]" for i in range(3))
    record = dataclasses.replace(checked("acme", warnings=several), id=NO_ID)
    text = show(render_record(record), 80)
    assert text.splitlines()[0].rstrip().endswith(" · acme")
    assert "(and 2 more of this kind: the same command with --json)" in " ".join(text.split())
    assert "harness show" not in text


def test_an_unranked_time_says_why_and_a_submitted_record_has_no_verdict():
    assert "10.00 µs  not ranked: clocks not locked" in show(
        render_record(passed("acme", 10, ranked=False, unranked_reason="clocks not locked"))
    )
    assert show(render_record(submitted())).startswith("SUBMITTED")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_hostile_text_does_nothing_to_a_terminal(width):
    record = hostile_record()
    renderables = (
        render_record(record, changes=list_changes(record, Previous(hostile_record(), passed("acme", 1)))),
        render_board(board(record, passed("acme", 1), noise=0.0), title=HOSTILE, team=record.team),
    )
    for renderable in renderables:
        text = show(renderable, width)
        assert "\x1b" not in text
        assert all(c == "\n" or c.isprintable() for c in text)
        assert "alert" in text
        coloured = show(renderable, width, color=True)
        assert "\x1b[5m" not in coloured, "rich markup in a name was obeyed"
        assert "\x1b]" not in coloured


def test_a_case_does_not_repeat_the_verdict():
    record = incorrect()
    message = record.verdict.message
    cases = tuple(dataclasses.replace(case, message=message) for case in record.cases)
    lines = show(render_record(dataclasses.replace(record, cases=cases))).splitlines()
    assert "\n".join(lines[:-1]).count(message) == 1, "once, before the last line repeats it"


def test_every_failed_case_is_shown_where_the_verdict_names_none_of_them():
    record = incorrect()
    for case in (None, "", "B1_T128"):
        renamed = dataclasses.replace(record, verdict=dataclasses.replace(record.verdict, case=case))
        assert "2048 of 8192 elements wrong" in show(render_record(renamed))
