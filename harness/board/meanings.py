"""What columns of times mean, in the few words that a line below a table has room for; README.md says it at length."""

from __future__ import annotations

SCORE = "geometric mean of the benchmarks' times"
TIME = "mean of the fastest 7 in 10 calls"
INTERVAL = "the time's, at 95%"
OF_FLOOR = "least possible time / time"
P10, P90 = "a tenth of the calls is faster", "a tenth is slower"
MEAN = "of all calls"
FLOOR = "least possible time"
