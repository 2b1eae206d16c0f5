"""What the inputs make a kernel do: terms that vanish under the event's inputs do not vanish under ours.

The event's log-decays are summed twice, once over all time and once within the chunk. They fall so fast that no
state outlives its chunk: a kernel that skips the recurrence, or the state, is right within any tolerance. That is
why suite `hackathon-2026` is marked as gameable and never ranks.
"""

import pytest

from tests.problems.specification import EVENT, Case, distances, draw, expected, kernels, problem

SHAPES = {
    "small": {"B": 2, "T": 128, "H": 4, "K": 64, "V": 64},
    "benchmark": {"B": 2, "T": 512, "H": 3, "K": 64, "V": 64},
}
LEFT_OUT = [
    ("chunk_fwd_h", "state_not_carried", "h"),
    ("chunk_fwd_h", "correction_skipped", "v_new"),
    ("chunk_fwd_h", "recurrence_skipped", "h"),
    ("chunk_fwd_o", "state_ignored", "o"),
    ("gdn_forward", "recurrence_skipped", "o"),
    ("gdn_forward", "state_ignored", "o"),
]


def without(name, mutant, output, case, seed=0):
    """How far the output is from the reference, in units of its tolerance, when a mutant leaves a term out."""
    inputs = draw(name, case, seed)
    got = kernels(name).MUTANTS[mutant](inputs, case.shape)
    return distances(name, got, expected(name, case, inputs))[output].worst


@pytest.mark.parametrize(("name", "mutant", "output"), LEFT_OUT)
def test_the_recurrence_counts_under_model_gates(name, mutant, output):
    shape = SHAPES["benchmark"]
    for seed in range(5):
        assert without(name, mutant, output, Case(shape, "model"), seed) > 10


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(("name", "mutant", "output"), LEFT_OUT)
def test_the_recurrence_vanishes_under_the_events_gates(name, mutant, output, shape):
    assert without(name, mutant, output, Case(shape, "hackathon-2026")) < 0.01


@pytest.mark.parametrize("distribution", ["model", "hackathon-2026"])
def test_attention_within_the_chunk_always_counts(distribution):
    case = Case(SHAPES["small"], distribution)
    assert without("chunk_fwd_o", "chunk_ignored", "o", case) > 10


def test_the_transform_counts_for_w_only_under_model_gates():
    small = SHAPES["small"]
    assert without("recompute_w_u", "transform_skipped", "w", Case(small, "model")) > 10
    assert without("recompute_w_u", "transform_skipped", "u", Case(small, "model")) > 10
    later = draw("recompute_w_u", Case(small, "hackathon-2026"))
    w, _ = expected("recompute_w_u", Case(small, "hackathon-2026"), later)
    assert w[:, 64:].abs().max() < 1e-6  # after the first chunk any w near zero passes


@pytest.mark.parametrize("name", EVENT)
def test_the_events_suite_is_marked(name):
    suite = problem(name).suites["hackathon-2026"]
    assert suite.gameable
    assert suite.distribution == "hackathon-2026"
    assert suite.note
