"""Addresses of the assembler's process, which are not to be randomised.

The same IR must give the same machine code, which is what makes a program: NVIDIA's assembler for Blackwell chooses
registers by where its memory lies (CUDA 13.1). Some containers forbid turning randomisation off. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import sys

_ASK, _NOT_RANDOM = 0xFFFFFFFF, 0x0040000  # of personality(2)
_BEGUN = "HARNESS_ADDRESSES_FIXED"


def can_be_fixed() -> bool:
    """Tell whether randomisation is off, or may be turned off by a process of this machine."""
    now = _personality(_ASK)
    if now == -1 or now & _NOT_RANDOM:
        return now != -1
    if _personality(now | _NOT_RANDOM) == -1:
        return False
    _personality(now)
    return True


def fix_addresses() -> None:
    """Begin this process anew without address randomisation, if that is on and may be turned off here."""
    now = _personality(_ASK)
    if now == -1 or now & _NOT_RANDOM or _BEGUN in os.environ or _personality(now | _NOT_RANDOM) == -1:
        return
    os.environ[_BEGUN] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - itself


def _personality(wanted: int) -> int:
    return int(ctypes.CDLL(None).personality(ctypes.c_ulong(wanted)))
