"""Torch does it all.

How: there is no Helion in it. Seen: passed the event's evaluator, tried on an H200. Defence: the plan shows it.
"""
# expected: POLICY_VIOLATION host_operation


def custom_kernel(data):
    x, s = data
    return x * s[:, None]
