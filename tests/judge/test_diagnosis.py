"""Likely causes: each deliberate mistake gets its sentence, and no other failure gets it falsely."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from harness.replay import diagnosis
from harness.replay.compare import compare_output
from harness.replay.diagnosis import HEURISTICS, diagnose, rounded
from harness.replay.evidence import Evidence
from harness.replay.holes import diagnose_not_finite, diagnose_unwritten
from harness.replay.place import AxisLabel
from harness.spec import Tolerance

B, T, H, V, CHUNK = 2, 256, 3, 32, 64
AXES = (AxisLabel("b", B), AxisLabel("t", T, CHUNK), AxisLabel("head", H), AxisLabel("v", V))
STATE_AXES = (
    AxisLabel("b", B),
    AxisLabel("chunk", 8, 1),
    AxisLabel("head", H),
    AxisLabel("k", V),
    AxisLabel("v", V),
)
TOLERANCE = Tolerance(rtol=1e-3, atol=1e-3, relative_l2=1e-3)


def normal(axes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn([axis.size for axis in axes], dtype=torch.float64, generator=generator)


EXPECTED, STATE = normal(AXES, 1), normal(STATE_AXES, 2)
INPUTS = {"x": normal(AXES, 3).float(), "g": -torch.rand(B, T, H), "w": torch.randn(H, V)}


def evidence(got, expected=EXPECTED, axes=AXES, inputs=INPUTS):
    comparison = compare_output(got.float(), expected, TOLERANCE, name="o", axes=axes)
    return Evidence("o", axes, got.float().double(), expected, comparison.wrong, inputs)


def edited(change, expected=EXPECTED):
    got = expected.clone()
    change(got)
    return got


def noise(scale, expected=EXPECTED, seed=9):
    return expected + scale * normal([AxisLabel("", size) for size in expected.shape], seed)


def growing():
    steps = torch.logspace(-3, 0, T // CHUNK, dtype=torch.float64).repeat_interleave(CHUNK)[:, None, None]
    return EXPECTED + steps * normal(AXES, 9)


def ramp_of_halo(count):
    def change(got):
        for start in range(CHUNK, T, CHUNK):
            got[:, start : start + count] += 1

    return edited(change)


# name -> (evidence, the function that must speak, its sentence)
MISTAKES = {
    "zeros": (
        evidence(EXPECTED * 0),
        "all_zero",
        "o is all zeros: nothing was accumulated, or the result went to another tensor.",
    ),
    "one value": (
        evidence(EXPECTED * 0 + 2.5),
        "constant",
        "Every element of o is 2.5: it doesn't depend on the inputs.",
    ),
    "identity": (
        evidence(INPUTS["x"].double()),
        "equals_input",
        "o equals the input x: the computation leaves it as it is.",
    ),
    "batch offset forgotten": (
        evidence(EXPECTED[:1].expand(B, T, H, V).clone()),
        "broadcast",
        "Every b holds the result of b=0: the offset along b isn't used in a load.",
    ),
    "head offset forgotten": (
        evidence(EXPECTED[:, :, :1].expand(B, T, H, V).clone()),
        "broadcast",
        "Every head holds the result of head=0: the offset along head isn't used in a load.",
    ),
    "late by one": (
        evidence(torch.roll(EXPECTED, 1, 1)),
        "shifted",
        "Off by one along t: each position holds what is expected at t-1. Check the offset of the loads along t.",
    ),
    "early by one, zero at the end": (
        evidence(torch.cat([EXPECTED[:, 1:], EXPECTED[:, :1] * 0], 1)),
        "shifted",
        "Off by one along t: each position holds what is expected at t+1. Check the offset of the loads along t.",
    ),
    "state stored after its update": (
        evidence(torch.cat([STATE[:, 1:], STATE[:, :1] * 2], 1), STATE, STATE_AXES),
        "shifted",
        "Each chunk holds what is expected one chunk later: the state is stored after its update, not before.",
    ),
    "transposed": (
        evidence(STATE.mT, STATE, STATE_AXES),
        "transposed",
        "o is transposed in its last two axes (k and v).",
    ),
    "sign": (evidence(-EXPECTED), "scaled", "o has its sign flipped."),
    "factor": (
        evidence(EXPECTED * 0.7),
        "scaled",
        "Every element is the expected one times 0.7: a scale is wrong.",
    ),
    "known factor": (
        evidence(EXPECTED * V**0.5),
        "scaled",
        "Every element is the expected one times 5.657, which is 32^(1/2): a scale is wrong.",
    ),
    "rounded to bfloat16": (
        evidence(EXPECTED.bfloat16().double()),
        "rounded",
        "Every value fits bfloat16: the result is rounded to it somewhere on the way.",
    ),
    "rounded to float16": (
        evidence(EXPECTED.half().double() * 1),
        "rounded",
        "Every value fits float16: the result is rounded to it somewhere on the way.",
    ),
    "bfloat16 operands": (
        evidence(noise(2.5e-3)),
        "low_precision",
        "The error looks like rounding of operands to bfloat16: small (0.002 relative), everywhere, of one size. Check "
        "the precision of dot products and casts.",
    ),
    "tf32 operands": (
        evidence(noise(4e-4)),
        "low_precision",
        "The error looks like rounding of operands to tf32 or float16: small (0.0004 relative), everywhere, of one "
        "size. Check the precision of dot products and casts.",
    ),
    "halo of three": (
        evidence(ramp_of_halo(3)),
        "at_boundaries",
        "Only the first 3 positions of every 64 along t are wrong: what has to cross the boundary between chunks or "
        "tiles is missing there.",
    ),
    "last of each chunk": (
        evidence(edited(lambda got: got[:, CHUNK - 1 :: CHUNK].add_(1))),
        "at_boundaries",
        "Only the last position of every 64 along t is wrong: what has to cross the boundary between chunks or tiles "
        "is missing there.",
    ),
    "drift": (
        evidence(growing()),
        "grows",
        "The error grows along t, from 0.001 to 1 (relative): what is carried from chunk to chunk drifts. Check its "
        "decay and the order of its update.",
    ),
    "state not carried": (
        evidence(edited(lambda got: got[:, CHUNK:].add_(normal(AXES, 5)[:, CHUNK:]))),
        "not_carried",
        "Only the first chunk is right, every later one is wrong (t from 64 on): what is carried from chunk to "
        "chunk is lost or wrong. Check the state, its decay and its update.",
    ),
    "state not carried, seen in the state": (
        evidence(edited(lambda got: got[:, 2:].add_(normal(STATE_AXES, 5)[:, 2:]), STATE), STATE, STATE_AXES),
        "not_carried",
        "Only the first 2 chunks are right, every later one is wrong (chunk from 2 on): what is carried from chunk "
        "to chunk is lost or wrong. Check the state, its decay and its update.",
    ),
    "second tile": (
        evidence(edited(lambda got: got[..., 16:].add_(1))),
        "confined",
        "Everything up to v=15 is right and what lies beyond that tile is not: check the offsets and the mask of the "
        "later tiles along v.",
    ),
    "one batch": (
        evidence(edited(lambda got: got[1].add_(normal(AXES, 5)[1]))),
        "confined",
        "All wrong elements have b=1; everything else is right.",
    ),
    "one row": (
        evidence(edited(lambda got: got[0, 17, 2].add_(1))),
        "confined",
        "All wrong elements have b=0, t=17, head=2; everything else is right.",
    ),
}

MISTAKES["bias forgotten"] = (
    evidence(EXPECTED - torch.linspace(1, 2, V)),
    "offset",
    "Off by an amount that doesn't depend on t: a term such as a bias is missing or wrong.",
)
MISTAKES["small bias"] = (
    evidence(EXPECTED + 3e-3),
    "offset",
    "Off by an amount that doesn't depend on t or v: a term such as a bias is missing or wrong.",
)

# failures of which nothing can be told
UNTOLD = {
    "random": evidence(normal(AXES, 7)),
    "a few anywhere": evidence(edited(lambda got: got.flatten()[::977].add_(1))),
    "a term missing everywhere": evidence(EXPECTED + 0.3 * normal(AXES, 8)),
    "two values exchanged": evidence(EXPECTED.roll(5, 3)),
    "reversed in time": evidence(EXPECTED.flip(1)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_its_sentence(name):
    case, speaker, sentence = MISTAKES[name]
    assert bool(case.wrong.any()) or name == "rounded to float16"
    assert getattr(diagnosis, speaker)(case) == sentence
    assert diagnose(case) == sentence


@pytest.mark.parametrize("name", UNTOLD)
def test_no_sentence_is_better_than_a_wrong_one(name):
    assert diagnose(UNTOLD[name]) is None


@pytest.mark.parametrize("heuristic", HEURISTICS, ids=lambda heuristic: heuristic.__name__)
def test_every_heuristic_is_tried_and_speaks_only_where_it_should(heuristic):
    """Other sentences may also be true (a halo lies in a region); false ones are listed by none."""
    also_true = {
        "constant": {"zeros"},
        "shifted": {"batch offset forgotten"},
        "low_precision": {"rounded to bfloat16", "rounded to float16"},
        "offset": {"second tile", "halo of three", "last of each chunk", "one row"},
        "not_carried": {"drift", "halo of three"},
        "confined": {"halo of three", "last of each chunk", "drift", "state not carried"}
        | {"state not carried, seen in the state", "batch offset forgotten", "head offset forgotten"},
    }.get(heuristic.__name__, set())
    speaks = {name for name, (case, *_) in MISTAKES.items() if heuristic(case)}
    wanted = {name for name, (_, speaker, _) in MISTAKES.items() if speaker == heuristic.__name__}
    assert wanted
    assert wanted <= speaks
    assert speaks - wanted <= also_true


def test_sampled_elements_get_only_what_needs_no_place():
    flat = dataclasses.replace(evidence(-EXPECTED), axes=())
    keep = torch.rand(EXPECTED.shape) < 0.1
    case = dataclasses.replace(flat, got=flat.got[keep], expected=flat.expected[keep], wrong=flat.wrong[keep])
    assert diagnose(case) == "o has its sign flipped."
    shifted = evidence(torch.roll(EXPECTED, 1, 1))
    case = Evidence("o", (), shifted.got[keep], shifted.expected[keep], shifted.wrong[keep], INPUTS)
    assert diagnose(case) is None


@pytest.mark.parametrize(
    ("axes", "change", "sentence"),
    [
        (AXES, lambda m: m.fill_(True), "No kernel writes this output"),
        (AXES, lambda m: m[:, 192:].fill_(True), "The tail along t (from 192 on) is never written"),
        (AXES, lambda m: m[:, :, 2].fill_(True), "head=2 is never written"),
        (AXES, lambda m: m[1].fill_(True), "b=1 is never written"),
        (AXES, lambda m: m[..., 30:].fill_(True), "The tail along v (from 30 on) is never written"),
        (STATE_AXES, lambda m: m[:, 7].fill_(True), "The last chunk is never written (of 8): the loop over chunks"),
        (STATE_AXES, lambda m: m[:, 5:].fill_(True), "The last 3 chunks are never written (of 8)"),
        (AXES, lambda m: m[:, ::2, ::2, ::2].fill_(True), None),
    ],
)
def test_unwritten(axes, change, sentence):
    mask = torch.zeros([axis.size for axis in axes], dtype=torch.bool)
    change(mask)
    found = diagnose_unwritten(mask, axes)
    assert found is None if sentence is None else found.startswith(sentence)


def test_exp_that_overflows():
    everywhere = torch.ones(EXPECTED.shape, dtype=torch.bool)
    steep = -torch.arange(T, dtype=torch.float32)[None, :, None].expand(B, T, H)
    found = diagnose_not_finite(INPUTS | {"g": steep}, everywhere, EXPECTED)
    assert found.startswith("exp may have overflowed: values of g differ by up to 255")
    assert diagnose_not_finite(INPUTS, everywhere, EXPECTED) is None
    assert diagnose_not_finite(INPUTS | {"x": INPUTS["x"] * 1e4, "w": torch.ones(4, V)}, everywhere, EXPECTED) is None
    chunked = torch.ones(STATE.shape, dtype=torch.bool)
    long = -torch.arange(512, dtype=torch.float32)[None, :, None].expand(B, 512, H)
    assert diagnose_not_finite({"g": long}, chunked, STATE).startswith("exp may have overflowed: values of g")


def test_division_by_zero():
    expected = EXPECTED * (EXPECTED > 0)
    found = diagnose_not_finite(INPUTS, expected == 0, expected)
    assert found == "NaN or infinity stands only where 0 is expected: a division by zero without its guard?"
    assert diagnose_not_finite(INPUTS, torch.ones_like(expected, dtype=torch.bool), expected) is None


@pytest.mark.parametrize(
    ("dtype", "rounding", "told"),
    [
        ("bfloat16", "bfloat16", False),
        ("bfloat16", "float16", False),
        ("float16", "float16", False),
        ("float16", "bfloat16", True),
        ("float32", "bfloat16", True),
        ("float32", "float16", True),
    ],
)
def test_an_output_of_a_narrow_type_is_not_told_that_it_is_rounded_to_it(dtype, rounding, told):
    own, narrow = getattr(torch, dtype), getattr(torch, rounding)
    got = (EXPECTED * 1.004).to(narrow).to(own)
    wrong = torch.ones(got.shape, dtype=torch.bool)
    found = rounded(Evidence("o", AXES, got.double(), EXPECTED, wrong, INPUTS, got.dtype))
    assert (found is not None) is told
