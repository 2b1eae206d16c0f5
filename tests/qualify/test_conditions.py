"""Each condition by a problem that is weak in that one way; a sound problem meets them all."""

import math

import pytest

from harness.errors import SpecError
from harness.qualify.asked import ask_suite, decode_suites, encode_suites
from harness.qualify.margins import Margin, measure_margins
from harness.qualify.table import cell_text, markdown, rows, summary
from harness.spec import load_problem

from .conftest import AFFINE, qualify_here


def only_fault(result, condition):
    """The message of the one fault of the default suite."""
    faults = result.suites[0].faults
    assert [fault.condition for fault in faults] == [condition], [fault.message for fault in faults]
    assert not result.qualified
    return faults[0].message


def test_a_sound_problem_qualifies():
    result = qualify_here(AFFINE, ("default", "weak"))
    assert result.qualified
    assert [suite.faults for suite in result.suites] == [(), ()]
    assert summary(result.suites[0]) == "ranks; every mutant is refused and every condition met."
    assert {c.name: c.expected for c in result.measured.candidates if not c.mutant} == {
        "float32": "accept", "tf32_rounded": "either", "tf32": "either", "float16": "either", "bfloat16": "refuse",
    }  # fmt: skip


def test_a_tolerance_that_honest_kernels_miss(weakened):
    tight = weakened(task=("{rtol: 1.0e-3, atol: 1.0e-3, relative_l2: 1.0e-3}", "{rtol: 1.0e-9, atol: 1.0e-9}"))
    told = only_fault(qualify_here(tight), "honest")
    assert told.startswith(
        "float32 is honest where the precision is float32, and is refused in 6 of 6 calls, the worst "
    )
    assert " times the tolerance (wrong_values) in " in told
    assert told.endswith(": allow more, or draw tamer inputs")


def test_a_tolerance_that_lets_bfloat16_pass(weakened):
    loose = weakened(task=("rtol: 1.0e-3, atol: 1.0e-3, relative_l2: 1.0e-3", "rtol: 1.0e-2, atol: 1.0e-2"))
    told = only_fault(qualify_here(loose), "precision")
    assert told.startswith("bfloat16 operands pass every case of suite default (at most 0.")
    assert "a kernel gains by computing less precisely: tighten a tolerance" in told


def test_inputs_that_hide_a_mistake(weakened):
    same = weakened(reference=("    return x, scale,", "    return x, scale[:1].repeat(M),"))
    told = only_fault(qualify_here(same), "mutant")
    assert told.startswith("scale_of_the_first_row passes every case of suite default (at most ")
    assert "add a distribution or a shape that shows its mistake" in told
    assert told.endswith("Uses the first row's factor for all.")


def test_a_term_that_hardly_counts(weakened):
    faint = weakened(reference=("return x, scale, offset", "return x, scale, offset * 1e-3"))
    faults = {fault.condition: fault for fault in qualify_here(faint).suites[0].faults}
    assert faults["term"].subject == "the offset"
    assert faults["term"].message.startswith("leaving out the offset (offset_missing) costs ")
    assert faults["term"].message.endswith("it must cost more than 10 times somewhere")


def test_a_term_must_count_in_every_output_that_it_enters(weakened):
    """A second output, where the offset is worth half a tolerance at most; in the first it still counts."""
    two = weakened(
        task=("relative_l2: 1.0e-3}", "relative_l2: 1.0e-3}\n  z: {rtol: 1.0e-3, atol: 1.0e-3}"),
        reference=("return (y,)", "return y, y - (1 - 5e-4) * offset[:, None]"),
        mutants=("+ offset[:, None],)", "+ offset[:, None], x * scale[:, None] + 5e-4 * offset[:, None])"),
    )
    task = two / "task.yml"
    y = "  - {name: y, shape: [M, N], dtype: float32}\n"
    task.write_text(task.read_text().replace(y, y + y.replace("y,", "z,")))
    told = only_fault(qualify_here(two), "term")
    assert told.startswith("leaving out the offset (offset_missing) costs output z ")


def margins_of(result):
    return measure_margins(result.suites[0].measured, result.measured)


MARGINS = "relative_l2: 1.0e-3, accepted: 1.0e-4, refused: 7.0}"


def test_margins_as_they_are_measured(weakened):
    written = weakened(task=("relative_l2: 1.0e-3}", MARGINS))
    [margin] = margins_of(qualify_here(written))
    assert (margin.accepted_by, margin.refused_by) == ("float32", "bfloat16")
    assert margin.accepted < 0.01 < 1 < margin.refused < 100
    right = MARGINS.replace("accepted: 1.0e-4, refused: 7.0", margin.written())
    task = written / "task.yml"
    task.write_text(task.read_text().replace(MARGINS, right))
    assert qualify_here(written).qualified


@pytest.mark.parametrize(("accepted", "refused", "side"), [(0.5, None, "accepted"), (None, 500.0, "refused")])
def test_margins_that_are_not_those_measured(weakened, accepted, refused, side):
    [margin] = margins_of(qualify_here(AFFINE))
    wrong = f"accepted: {accepted or margin.accepted}, refused: {refused or margin.refused}"
    told = only_fault(
        qualify_here(weakened(task=("relative_l2: 1.0e-3}", f"relative_l2: 1.0e-3, {wrong}}}"))), "margin"
    )
    assert told.startswith(f"task.yml says {side}: {accepted or refused:g}, measured is ")
    assert told.endswith(f": write {margin.written()} beside the tolerance of y")


def test_margins_are_written_no_better_than_they_are():
    assert Margin("y", 0.7512, "tf32", "slow", 1.2988, "bfloat16", "slow").written() == "accepted: 0.76, refused: 1.2"
    assert Margin("y", 2.01e-5, "tf32", "slow", 391.7, "zero", "slow").written() == "accepted: 2.1e-05, refused: 390"
    assert Margin("y", 0.0, "", "", math.inf, "", "").written() == "accepted: 0, refused: inf"


def test_suites_rank_may_rank_or_never_do():
    problem = load_problem(AFFINE)
    assert ask_suite(problem, "default").standing == "ranks"
    assert ask_suite(problem, "default", ranking=("other",)).standing == "may rank"
    assert ask_suite(problem, "weak").standing == "never ranks"
    asked = [ask_suite(problem, "weak"), ask_suite(problem, "default", roles=("test",))]
    assert list(decode_suites(encode_suites(asked))) == asked
    assert {case.role for case in asked[1].cases} == {"test"}


def test_a_suite_that_may_rank_must_qualify_too(weakened):
    """A season could choose it tomorrow."""
    folder = weakened(
        task=("weak: {distribution: normal, gameable: true}", "weak: {distribution: zero}"),
        reference=("x = x * 10", "x = x * 10\n    if distribution == 'zero':\n        offset = offset * 0"),
    )
    task = folder / "task.yml"
    task.write_text(task.read_text().replace("  wide: x", "  zero: no offset\n  wide: x"))
    result = qualify_here(folder, ("default", "weak"))
    assert not result.qualified
    assert summary(result.suites[1]).startswith("may rank; 1 mutant passes: offset_missing; ")


def test_a_gradient_is_believed_where_a_change_confirms_it(weakened):
    """Many outputs moved by a tenth of a tolerance each add up to a gradient, and to no influence."""
    faint = weakened(
        reference=("y = x *", "y = 3e-4 * x.mean() + 0 * x *"),
        mutants=("return (arithmetic", "return (3e-4 * x.mean() + 0 * arithmetic"),
    )
    faults = [fault for fault in qualify_here(faint).suites[0].faults if fault.condition == "influence"]
    assert "32 of 32 elements of x influence no output" in " ".join(fault.message for fault in faults)


def test_a_reference_that_is_not_finite(weakened):
    broken = weakened(reference=("return (y,)", "return (y.log(),)"))
    told = qualify_here(broken).suites[0].faults[0].message
    assert told.startswith("reference output y holds ")
    assert " NaN or infinite elements in test/M4_N8/" in told
    assert told.endswith("choose inputs that stay finite")


def test_a_reference_that_is_constant_under_a_distribution(weakened):
    flat = weakened(reference=("x = x * 10", "x, scale, offset = x * 0, scale * 0, offset * 0 + 1"))
    told = only_fault(qualify_here(flat), "reference")
    assert told == (
        "reference output y is constant in test/M4_N8/wide: a kernel need not read its inputs to pass there"
    )


def test_inputs_that_nothing_depends_on(weakened):
    """Reference and mutants agree on leaving the first column of x out."""
    deaf = weakened(
        reference=("y = x *", "x = x * (torch.arange(x.shape[1]) > 0)\n    y = x *"),
        mutants=("    return (arithmetic", "    x = x * (torch.arange(x.shape[1]) > 0)\n    return (arithmetic"),
    )
    mutants = deaf / "mutants.py"
    mutants.write_text("import torch\n" + mutants.read_text())
    told = only_fault(qualify_here(deaf), "influence")
    assert told.startswith("4 of 32 elements of x influence no output beyond its tolerance at M4_N8 under any ")
    assert "the first x[row=0, column=0]: a kernel need not read them" in told

    mutants.write_text(mutants.read_text() + "\nUNUSED = {'x': (slice(None), slice(0, 1))}\n")
    assert qualify_here(deaf).qualified


def test_what_is_declared_unused_and_is_not(weakened):
    declared = weakened(mutants=("MUTANTS = Mutants()", "MUTANTS = Mutants()\nUNUSED = {'offset': (slice(0, 2),)}"))
    told = only_fault(qualify_here(declared), "influence")
    assert told.startswith("2 of 4 elements of offset are declared in mutants.py as unused or fixed, but they count")


def test_outputs_that_depend_on_nothing(weakened):
    fixed = weakened(reference=("return (y,)", "return (y * (torch.arange(y.shape[1]) > 0),)"))
    told = {(f.condition, f.subject): f.message for f in qualify_here(fixed).suites[0].faults}
    assert told["influence", "y"].startswith(
        "4 of 32 elements of y do not vary with the inputs beyond their tolerance at M4_N8"
    )
    assert "declare them in mutants.py's FIXED if the formula fixes them" in told["influence", "y"]


def test_a_reference_without_a_gradient_is_changed_block_by_block(weakened):
    stepped = weakened(reference=("(t.double() for t in inputs)", "(t.detach().double() for t in inputs)"))
    assert qualify_here(stepped).qualified


def test_a_suite_that_does_not_rank_does_not_decide(weakened):
    folder = weakened(
        task=("weak: {distribution: normal, gameable: true}", "weak: {distribution: zero, gameable: true}"),
        reference=("x = x * 10", "x = x * 10\n    if distribution == 'zero':\n        offset = offset * 0"),
    )
    task = folder / "task.yml"
    task.write_text(task.read_text().replace("  wide: x", "  zero: no offset\n  wide: x"))
    result = qualify_here(folder, ("default", "weak"))
    assert result.qualified
    assert result.suites[1].passing_mutants == ("offset_missing",)
    assert summary(result.suites[1]).startswith("never ranks; 1 mutant passes: offset_missing; ")
    assert not qualify_here(folder, ("weak",)).qualified


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("MUTANTS.add(all_zero(compute))", "del compute", "defines no function compute(), the honest kernel"),
        (
            "MUTANTS = Mutants()",
            "MUTANTS = Mutants()\n1 / 0",
            "importing it raised ZeroDivisionError: division by zero",
        ),
        ("MUTANTS.add(all_zero(compute))", "MUTANTS = {}", "defines no MUTANTS, a dict of name -> function"),
        ("def offset_missing", "def tf32", "a mutant cannot be called tf32: that is the name of a precision"),
        (
            "def scale_of_the_first_row",
            "def offset_missing",
            "raised ValueError: two mutants are called offset_missing",
        ),
        ("MUTANTS = Mutants()", "MUTANTS = Mutants()\nUNUSED = {'z': ()}", "UNUSED names z, which is not one of x, "),
        ("offset * 0), shape)", "offset * 0), shape)[0].nope", "offset_missing raised AttributeError: "),
        (
            "offset * 0), shape)",
            "offset * 0), shape)[0][:2]",
            "offset_missing returned shapes (2, 8); task.yml declares",
        ),
    ],
)
def test_faults_of_mutants_py(weakened, old, new, told):
    with pytest.raises(SpecError) as caught:
        qualify_here(weakened(mutants=(old, new)))
    assert told in str(caught.value)
    assert "mutants.py" in str(caught.value)


def test_a_problem_without_mutants(weakened):
    folder = weakened()
    (folder / "mutants.py").unlink()
    with pytest.raises(
        SpecError, match="no such file; a problem needs compute\\(\\) and MUTANTS there to be qualified"
    ):
        qualify_here(folder)


def test_the_table_as_markdown():
    result = qualify_here(AFFINE)
    text = markdown(result)
    assert text.startswith("`harness qualify affine` tries the honest kernel in several precisions")
    assert "\n- Suite `default` ranks; every mutant is refused and every condition met.\n" in text
    assert "\n| | normal | wide | |\n|---|---|---|---|\n| **float32** | 0 | 0 | must be accepted |\n" in text
    assert "✗ | Adds no offset. Drops the offset. |\n" in text
    cells = {candidate.name: [cell_text(cell) for cell in found] for candidate, found in rows(*pair(result))}
    assert cells["float32"] == ["0", "0"]
    assert all(cell.endswith("✗") for cell in cells["all_zero"])
    assert all(len(cell) <= 5 for found in cells.values() for cell in found)


def pair(result):
    return result.suites[0], result.measured
