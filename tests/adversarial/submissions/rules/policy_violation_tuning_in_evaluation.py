"""The configs are tuned where they are evaluated.

How: `kernel.autotune` would take hours of the harness's GPU, or nanoseconds by a patched clock. Seen: the event's rules
forbid it. Defence: searches are refused.
"""
# expected: POLICY_VIOLATION autotuning_refused

from forging import scale
from helion.autotuner import PatternSearch


def custom_kernel(data):
    bound = scale.bind(data)
    bound.set_config(PatternSearch(bound, data).autotune())
    return bound(*data)
