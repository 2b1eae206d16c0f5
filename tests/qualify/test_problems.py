"""The event's inputs do not qualify, on test shapes; that ours do is tried in tests/problems/test_every_problem.py."""

from functools import cache
from pathlib import Path

import pytest

from .conftest import qualify_here

ROOT = Path(__file__).parents[2]


@cache
def qualified(name, suite):
    return qualify_here(ROOT / "problems" / name, (suite,), roles=("test",))


MEANT_TO_PASS = {
    "chunk_fwd_h": {"recurrence_skipped", "state_not_carried", "correction_skipped", "input_returned"},
    "chunk_fwd_o": {"state_ignored", "state_transposed", "off_diagonal_dropped"},
    "recompute_w_u": {"first_chunk_only", "off_diagonal_dropped"},
    "fp8_quant": {"eps_missing", "eps_too_large"},
    "gdn_forward": {"recurrence_skipped", "state_ignored", "u_for_v_new", "gates_summed_over_all_time"},
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "gdn_forward" else ()) for name in MEANT_TO_PASS]
)
def test_the_events_inputs_let_these_pass(name):
    result = qualified(name, "hackathon-2026")
    assert not result.qualified
    assert MEANT_TO_PASS[name] <= set(result.suites[0].passing_mutants)


@pytest.mark.parametrize(("name", "unread"), [("chunk_fwd_h", "gkw"), ("chunk_fwd_o", "gh"), ("recompute_w_u", "gk")])
def test_the_events_inputs_need_not_all_be_read(name, unread):
    faults = [f for f in qualified(name, "hackathon-2026").suites[0].faults if f.condition == "influence"]
    assert set(unread) <= {fault.subject for fault in faults}


def test_the_events_convolution_is_sound():
    assert qualified("causal_conv1d", "hackathon-2026").suites[0].faults == ()
