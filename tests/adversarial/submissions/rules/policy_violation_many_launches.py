"""More launches than anybody needs, to hold the GPU.

How: a loop on the host. Seen: follows from free compute. Defence: caps on launches, steps, tensors and memory.
"""
# expected: POLICY_VIOLATION too_many_launches

from forging import decoy, scale


def custom_kernel(data):
    y = scale(*data)
    for _ in range(130):
        decoy(y)
    return y
