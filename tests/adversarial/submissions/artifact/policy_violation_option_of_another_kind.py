"""A launch option that is equal to an allowed one, and is another kind of number.

How: `num_warps` is 4.0, which is among {1, 2, 4, ...} for Python. Seen: here, 2026-11, as an attempt: it passed the
list, and Triton failed. Defence: numbers of options are integers.
"""
# expected: POLICY_VIOLATION launch_option

import dataclasses

from forging import custom_kernel  # noqa: F401

from harness.trace import launches

make = launches.make_document


def with_option(*args):
    document = make(*args)
    return dataclasses.replace(document, options={**document.options, "num_warps": 4.0})


launches.make_document = with_option
