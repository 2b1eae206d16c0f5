"""A launch option that brings code of its own.

How: the kernel's document names `extern_libs`, with control characters for whoever shows it. Seen: Triton's options
`ir_override`, `ptx_options`, `extern_libs`.
Defence: options are an allow-list with ranges, and text passes one gate before it is shown.
"""
# expected: POLICY_VIOLATION launch_option

import dataclasses

from forging import custom_kernel, forge_ttir  # noqa: F401

from harness.trace import launches

make = launches.make_document


def with_option(*args):
    document = make(*args)
    return dataclasses.replace(document, options={**document.options, "\x1b[2Jextern_libs\ud800": "/tmp/evil.bc"})


launches.make_document = with_option
