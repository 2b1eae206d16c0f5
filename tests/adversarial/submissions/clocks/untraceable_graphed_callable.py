"""A CUDA graph through torch's convenience.

How: `torch.cuda.make_graphed_callables` captures at import. Seen: as own graphs. Defence: as there.
"""
# expected: UNTRACEABLE cuda_graph

import torch
from forging import scale


def custom_kernel(data):
    return torch.cuda.make_graphed_callables(scale, data)(*data)
