"""The result is looked up by the seed that the inputs were made from.

How: the random generator's state is the key, and with a known seed even the inputs could be made at import. Seen:
follows from harnesses that seed in the same process. Defence: seeds are in the judge's process only.
"""
# expected: CHECKED checked

import torch
from forging import scale

results = {}


def custom_kernel(data):
    key = torch.initial_seed()
    if key not in results:
        results[key] = scale(*data)
    return results[key]
