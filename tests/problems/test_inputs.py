"""The input generators: form, determinism, and what each distribution promises."""

import itertools

import pytest
import torch

from tests.problems.specification import (
    CHUNKED,
    GATED,
    NAMES,
    Case,
    cases_tested,
    draw,
    expected,
    problem,
    specification,
)

SMALL = {
    "causal_conv1d": {"B": 2, "D": 12, "S": 40, "W": 4},
    "fp8_quant": {"tokens": 6, "hidden": 256, "group": 64},
    "softmax": {"M": 6, "N": 40},
    "vector_add": {"n": 40},
} | dict.fromkeys(CHUNKED, {"B": 2, "T": 128, "H": 3, "K": 32, "V": 16})

EVERY_DISTRIBUTION = [(name, d) for name in NAMES for d in problem(name).distribution_names]


@pytest.mark.parametrize(("name", "distribution"), EVERY_DISTRIBUTION)
def test_inputs_and_outputs_have_the_declared_form(name, distribution):
    case, spec = Case(SMALL[name], distribution), problem(name)
    inputs = draw(name, case)
    declared = [tensor for tensor in spec.inputs if not tensor.buffer]
    for tensor, right in zip(inputs, declared, strict=True):
        assert tuple(tensor.shape) == right.sizes(spec.values(case.shape)), right.name
        assert tensor.dtype == getattr(torch, right.dtype), right.name
        assert tensor.is_contiguous(), right.name
        assert tensor.isfinite().all(), right.name
    outputs = expected(name, case, inputs)
    assert [tuple(out.shape) for out in outputs] == list(spec.output_sizes(case.shape))
    assert all(out.dtype == torch.float64 and out.isfinite().all() for out in outputs)


@pytest.mark.parametrize(("name", "distribution"), EVERY_DISTRIBUTION)
def test_the_seed_alone_decides(name, distribution):
    case = Case(SMALL[name], distribution)
    first = draw(name, case, seed=1)
    torch.manual_seed(99)  # the global generator must not matter
    again, other = draw(name, case, seed=1), draw(name, case, seed=2)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_one_generator_gives_new_inputs_each_time(name):
    generator = torch.Generator().manual_seed(3)
    spec = problem(name)
    first, second = (specification(name).generate(SMALL[name], spec.default_distribution, generator) for _ in range(2))
    assert not torch.equal(first[0], second[0])


@pytest.mark.parametrize("name", NAMES)
def test_distributions_differ(name):
    """No name of task.yml may fall through to another's inputs; only the event's may equal the default."""
    drawn = {d: draw(name, Case(SMALL[name], d)) for d in problem(name).distribution_names if d != "hackathon-2026"}
    for (one, left), (two, right) in itertools.combinations(drawn.items(), 2):
        same = all(torch.equal(a, b) for a, b in zip(left, right, strict=True))
        assert not same, f"{one} and {two} are the same"


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_distribution_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} has no distribution 'modle'"):
        draw(name, Case(SMALL[name], "modle"))


@pytest.mark.parametrize("name", NAMES)
def test_every_distribution_but_the_events_is_tested(name):
    tested = {case.distribution for case in cases_tested(name)}
    assert tested == set(problem(name).distribution_names) - {"hackathon-2026"}


@pytest.mark.parametrize("name", [name for name in NAMES if "tiny" in problem(name).distribution_names])
def test_tiny_outputs_are_hidden_from_the_elementwise_tolerance(name):
    """The reason for the relative cap: without it, zeros would pass."""
    case = Case(SMALL[name], "tiny")
    out = expected(name, case, draw(name, case))[-1]  # the values' output comes last in every problem
    if name != "fp8_quant":  # its scale is compared without an absolute tolerance
        assert out.abs().max() < 0.01


# --- what gated inputs promise ---


@pytest.mark.parametrize("name", CHUNKED)
def test_log_decays_fall_from_the_start_of_each_chunk(name):
    for distribution in problem(name).distribution_names:
        g = draw(name, Case(SMALL[name], distribution))[-1].unflatten(1, (-1, 64))
        assert (g[:, :, 0] <= 0).all()
        assert (g.diff(dim=2) <= 0).all()


@pytest.mark.parametrize("name", CHUNKED)
def test_model_gates_have_heads_that_remember_and_heads_that_forget(name):
    """Per input, not on average: a seed must not be able to draw a problem without a recurrence."""
    shape = {"B": 1, "T": 128, "H": 3, "K": 16, "V": 16}
    for seed in range(50):
        g = draw(name, Case(shape, "model"), seed)[-1]
        kept_over_a_chunk = g[0, 63].exp()
        assert kept_over_a_chunk.max() > 0.02
        assert kept_over_a_chunk.min() < 1e-3


@pytest.mark.parametrize("name", CHUNKED)
def test_keys_have_length_one(name):
    k = draw(name, Case(SMALL[name], "model"))[[tensor.name for tensor in problem(name).inputs].index("k")]
    assert torch.allclose(k.norm(dim=-1), torch.tensor(1.0))


def test_states_of_the_output_pass_are_never_zero_by_default():
    h = draw("chunk_fwd_o", Case(SMALL["chunk_fwd_o"], "model"))[3]
    assert (h.flatten(3).norm(dim=3) > 1).all()


def gates(name, distribution, H=4):
    """Each step's log-decay, (chunks, steps, heads)."""
    shape = {"B": 1, "T": 128, "H": H, "K": 16, "V": 16}
    g = draw(name, Case(shape, distribution))[-1][0].unflatten(0, (-1, 64)).double()
    return torch.cat([g[:, :1], g.diff(dim=1)], dim=1)


@pytest.mark.parametrize("name", GATED)
def test_gates_at_their_limits(name):
    assert (gates(name, "ungated") == 0).all()
    mixed = gates(name, "mixed").flatten(0, 1)
    assert sorted(int((head < -0.9).sum()) for head in mixed.T) == [0, 0, 128, 128]
    assert (mixed < 0).all()
    shut = gates(name, "shut").flatten(0, 1)
    assert sorted(int((head <= -99).sum()) for head in shut.T) == [0, 0, 128, 128]
    assert ((shut == 0) | (shut <= -99)).all()
    assert (gates(name, "shut", H=1) == 0).all()  # one head alone is not shut: nothing would be left to compute


def test_betas_near_their_limits():
    beta = draw("recompute_w_u", Case(SMALL["recompute_w_u"], "edges"))[2]
    assert ((beta <= 1e-3) | (beta >= 1 - 1.1e-3)).all()
    assert 0.3 < (beta > 0.5).double().mean() < 0.7
    assert ((beta > 0) & (beta < 1)).all()


@pytest.mark.parametrize("distribution", ["model", "slow", "ungated", "mixed"])
def test_a_state_reaches_every_chunk_after_the_first(distribution):
    case = Case({"B": 1, "T": 256, "H": 2, "K": 64, "V": 64}, distribution)
    h = expected("chunk_fwd_h", case, draw("chunk_fwd_h", case))[0]
    assert (h[:, 1:].flatten(3).norm(dim=3) > 1).all()


@pytest.mark.parametrize("name", ["recompute_w_u", "gdn_forward"])
def test_given_matrix_is_unit_lower_triangular(name):
    for distribution in problem(name).distribution_names:
        A = draw(name, Case(SMALL[name], distribution))[-2]
        chunks = A.unflatten(1, (-1, 64)).movedim(3, 1)
        assert torch.equal(chunks, chunks.tril())
        assert (chunks.diagonal(dim1=-2, dim2=-1) == 1).all()


# --- what fp8_quant's promise ---


def test_some_groups_are_zero_and_some_are_below_the_least_scale():
    case = Case(SMALL["fp8_quant"], "zero_groups")
    zero = draw("fp8_quant", case)[0].unflatten(1, (-1, 64)).abs().amax(2) == 0
    assert 0 < zero.sum() < zero.numel()
    largest = draw("fp8_quant", Case(SMALL["fp8_quant"], "below_eps"))[0].unflatten(1, (-1, 64)).abs().amax(2)
    assert (largest < 1e-10).any()
    assert (largest > 1e-10).any()


# --- what softmax's promise ---


def logits(distribution):
    return draw("softmax", Case({"M": 16, "N": 96}, distribution))[0]


def test_exponentials_leave_float32s_range_in_some_distributions():
    for distribution, largest in (("shifted", torch.inf), ("negative", 0.0), ("large", torch.inf)):
        assert logits(distribution).float().exp().amax() == largest, distribution


def test_every_other_row_is_of_equal_values():
    x = logits("equal")
    assert (x[::2] == x[::2, :1]).all()
    assert (x[1::2].amax(1) > x[1::2].amin(1)).all()


def test_a_mask_leaves_half_of_each_row_but_nothing_of_its_first_tile():
    seen = logits("masked") > -60000
    assert not seen[:, :32].any()
    assert seen[:, -1].all()
    assert 0.4 < seen.float().mean() < 0.6


def test_the_running_maximum_grows_in_every_tile():
    x = draw("softmax", Case({"M": 64, "N": 512}, "ascending"))[0].float()
    largest = torch.stack([tile.amax(1) for tile in x.split(128, dim=1)])
    assert (largest.diff(dim=0) > 0).float().mean() > 0.9


def groups(distribution, seed=0):
    return draw("fp8_quant", Case(SMALL["fp8_quant"], distribution), seed)[0].unflatten(1, (-1, 64))


def test_every_second_group_holds_denormal_numbers():
    largest = groups("denormals").abs().amax(2).flatten()
    least_normal = torch.finfo(torch.float32).smallest_normal
    assert ((largest[1::2] > 0) & (largest[1::2] < least_normal)).all()
    assert (largest[::2] > 0.1).all()


def test_largest_magnitudes_are_those_of_fp8_formats():
    largest = torch.cat([groups("at_limit", seed).abs().amax(2).flatten() for seed in range(4)])
    limits = torch.tensor([448.0, 240.0, 57344.0])
    near = torch.isclose(largest[:, None], limits, rtol=1e-6)
    assert near.any(1).all()
    assert near.any(0).all()


def test_outliers_stay_in_their_columns():
    x = draw("fp8_quant", Case({"tokens": 64, "hidden": 1024, "group": 64}, "channels"))[0]
    loud = x.abs().mean(0) > 30
    assert 0 < loud.sum() < 40
    assert x[:, ~loud].abs().max() < 10


def test_impulses_are_apart_and_reach_the_first_and_the_last_step():
    x, _, bias = draw("causal_conv1d", Case({"B": 8, "D": 64, "S": 64, "W": 4}, "impulses"))
    assert not bias.any()
    assert ((x == 0) | (x == 1)).all()
    assert (x.sum(2) == 8).all()
    when = x.nonzero()[:, 2].view(8, 64, 8)
    assert (when.diff(dim=2) == 8).all()
    assert when.min() == 0
    assert when.max() == 63
