"""As before, with a Helion kernel that runs at import.

How: the launch counts as Helion's and its result is returned for every input. Seen: as before. Defence: the launch is
in the plan, timed with each call, and its result does not depend on the inputs: it is wrong.
"""
# expected: INCORRECT wrong_values

import torch
from forging import scale

ready = scale(torch.ones(4, 32, device="cuda"), torch.ones(4, device="cuda"))


def custom_kernel(data):
    return ready
