"""As a lazy output, but no tensor at all: an object that claims to be one.

How: `__class__` says torch.Tensor, and attributes compute on demand. Seen: as lazy outputs. Defence: outputs must be
tensors that the recorder has numbered.
"""
# expected: INCORRECT wrong_output

import torch
from forging import scale


class Claims:
    def __init__(self, data):
        self.data = data

    def __getattr__(self, name):
        return getattr(scale(*self.data), name)


def custom_kernel(data):
    torch.cuda.synchronize()
    return Claims(data)
