"""What a check on a CPU does where some cases take too long: which others it tries, and what it says."""

import pytest

from harness.replay.cpu_check import Asked
from harness.replay.patience import tell_unchecked, why_left_out

# Where there are 8 rows or more the loop takes hours in an interpreter.
LONG_LOOP = """
import helion
import helion.language as hl
import torch

@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=False)
def scale(x: torch.Tensor, s: torch.Tensor, times: int) -> torch.Tensor:
    y = torch.empty_like(x)
    for rows, columns in hl.tile(x.shape):
        scaled = x[rows, columns] * s[rows][:, None]
        for _ in hl.grid(times):
            scaled = scaled * 1.0
        y[rows, columns] = scaled
    return y

def custom_kernel(data):
    x, s = data
    return scale(x, s, 1 << 30 if x.size(0) >= 8 else 2)
"""
TESTS = ["{M: 16, N: 32}", "{M: 16, N: 64}", "{M: 16, N: 32, distribution: large}", "{M: 4, N: 32}", "{M: 8, N: 64}"]


def test_what_is_no_smaller_than_an_unfinished_case_is_left_out(workspace):
    season, task = workspace.root / "shapes.yaml", workspace.root / "problems" / "scale" / "task.yml"
    season.write_text(season.read_text().replace("case_replay_s: 20", "case_replay_s: 2"))
    begin, rest = task.read_text().split("tests:\n")
    tests = "".join(f"  - {test}\n" for test in TESTS)
    task.write_text(f"{begin}tests:\n{tests}benchmarks:{rest.split('benchmarks:')[1]}")
    record = workspace.submit(LONG_LOOP, code=0)
    left_out = "not tried: M16_N32, which is no larger, was not finished within 2 s"
    too_slow = "it did not finish within 2 s: instructions are interpreted here, so that a long loop takes long"
    assert [
        (case["case_id"], case["status"], case["message"].partition(", and one")[0]) for case in record["cases"]
    ] == [
        ("test/M16_N32/normal", "built", too_slow),
        ("test/M16_N64/normal", "built", left_out),
        ("test/M16_N32/large", "built", left_out),
        ("test/M4_N32/normal", "passed", ""),
        ("test/M8_N64/normal", "built", left_out),
        ("benchmark/M64_N128/normal", "built", too_slow),
    ]
    verdict = record["verdict"]
    assert (verdict["kind"], verdict["reason"]) == ("BUILT", "not_all_checked")
    assert verdict["message"] == (
        f"built; 1 of 5 test cases checked on the CPU: test/M16_N32/normal: {too_slow}, "
        "and one without end never ends. 3 more were not tried, since they would hardly end in time either"
    )


def asked(size, *, sampled=False):
    return Asked(f"M{size}", {"M": size}, "normal", sampled, 60.0)


@pytest.mark.parametrize(
    ("case", "unfinished", "told"),
    [
        (asked(8), [], ""),
        (asked(8), [asked(8)], "not tried: M8, which is no larger, was not finished within 60 s"),
        (asked(9), [asked(8)], "not tried: M8, which is no larger, was not finished within 60 s"),
        (asked(7), [asked(8)], ""),
        (asked(9, sampled=True), [asked(8)], ""),
        (asked(9, sampled=True), [asked(8, sampled=True)], "not tried: M8, which is no larger, was not finished"),
        (asked(9), [asked(8, sampled=True)], "not tried: M8, which is no larger, was not finished within 60 s"),
        (asked(2), [asked(8), asked(4)], "not tried: 2 cases were not finished within their time limit"),
        (asked(9, sampled=True), [asked(8), asked(4)], "not tried: 2 cases were not finished within their time limit"),
    ],
)
def test_a_case_is_tried_as_long_as_it_may_be_finished(case, unfinished, told):
    why = why_left_out(case, unfinished)
    assert why.startswith(told)
    assert bool(why) == bool(told)


@pytest.mark.parametrize(
    ("unchecked", "told"),
    [
        ([], "the others were not chosen"),
        ([("a", "too_slow_on_cpu", "late"), ("b", "too_slow_on_cpu", "late")], "a: late"),
        (
            [("a", "too_slow_on_cpu", "late"), ("b", "left_out_as_too_slow", "not tried")],
            "a: late. 1 more was not tried, since it would hardly end in time either",
        ),
    ],
)
def test_the_verdict_says_how_many_were_left_out(unchecked, told):
    assert tell_unchecked(unchecked) == told
