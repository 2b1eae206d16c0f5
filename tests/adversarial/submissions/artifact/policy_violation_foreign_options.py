"""Options of the compiler that carry code.

How: `ir_override`, `ptx_options`, `extern_libs` and whatever else Triton's options have. Seen: they are Triton's own.
Defence: options are an allow-list with ranges.
"""
# expected: POLICY_VIOLATION launch_option

import dataclasses

from forging import custom_kernel  # noqa: F401

from harness.trace import launches

make = launches.make_document


def with_options(*args):
    document = make(*args)
    return dataclasses.replace(document, options={"ir_override": "/scratch/mine.ptx", "ptx_options": "-lineinfo"})


launches.make_document = with_options
