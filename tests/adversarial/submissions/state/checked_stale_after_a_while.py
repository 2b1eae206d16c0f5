"""Right for some calls, then the last result for ever.

How: a counter; harnesses check the first calls only. Seen: tensara's pull request 238 (2026-07) as warm-up replay.
Defence: the plan is of one call; every output of every timed call is checked.
"""
# expected: CHECKED checked

from forging import scale

calls, last = 0, None


def custom_kernel(data):
    global calls, last
    calls += 1
    if calls < 10:
        last = scale(*data)
    return last
