#!POPCORN leaderboard scale_py
#!POPCORN gpu B200
"""As the event's submissions begin."""
# expected: CHECKED checked

from forging import scale
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    x, s = data
    return scale(x, s)
