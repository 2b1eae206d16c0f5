"""The mean of any measurements is nothing.

How: `statistics`, `math` and `sum` are replaced at import, for a harness that averages in the same process. Seen: tried
here on the event's evaluator. Defence: scores are made in a process that never saw the submission.
"""
# expected: CHECKED checked

import builtins
import statistics

from forging import custom_kernel  # noqa: F401

for name in ("mean", "fmean", "median", "geometric_mean", "stdev", "quantiles"):
    setattr(statistics, name, lambda *values, **options: 1e-9)
real = builtins.sum
builtins.sum = lambda values, *start: 0 if isinstance(values, list) and len(values) > 50 else real(values, *start)
