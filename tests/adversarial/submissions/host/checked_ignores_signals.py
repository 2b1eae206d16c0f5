"""No signal ends it.

How: every handler is set to ignore, so that a polite timeout is not heard. Seen: common way round timeouts. Defence:
processes are killed, not asked.
"""
# expected: CHECKED checked

import signal

from forging import custom_kernel  # noqa: F401

for number in range(1, signal.NSIG):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        continue
