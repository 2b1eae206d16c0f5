"""A term of the formula is left out.

How: terms that the usual inputs make vanish: here the factor is taken for one. Seen: the event's gates decay so fast
that kernels without any recurrence pass. Defence: qualification: every term is worth ten tolerances in every ranking
suite, and every problem has mutants without each of its terms.
"""
# expected: INCORRECT wrong_values

import torch
from forging import scale


def custom_kernel(data):
    x, s = data
    return scale(x, torch.ones(s.shape, device="cuda"))
