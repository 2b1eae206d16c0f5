"""Mistakes of `affine`."""

from harness.qualify.arithmetic import FLOAT32
from harness.qualify.mistakes import Mutants, all_zero, first_call_again, input_returned

MUTANTS = Mutants()


def compute(inputs, shape, arithmetic=FLOAT32):
    x, scale, offset = inputs
    return (arithmetic.operand(x) * arithmetic.operand(scale)[:, None] + offset[:, None],)


@MUTANTS.drops("the offset")
def offset_missing(inputs, shape):
    """Adds no offset."""
    x, scale, offset = inputs
    return compute((x, scale, offset * 0), shape)


@MUTANTS.add
def scale_of_the_first_row(inputs, shape):
    """Uses the first row's factor for all."""
    x, scale, offset = inputs
    return compute((x, scale[:1].expand_as(scale), offset), shape)


MUTANTS.add(first_call_again(compute))
MUTANTS.add(input_returned(compute, given=0, output=0))
MUTANTS.add(all_zero(compute))
