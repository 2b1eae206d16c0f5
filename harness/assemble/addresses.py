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
    if not _is_random():
        return True
    if not _turn_off():
        return False
    _personality(_personality(_ASK) & ~_NOT_RANDOM)
    return True


def fix_addresses() -> None:
    """Begin this process anew without address randomisation, if that is on and may be turned off here."""
    if _BEGUN not in os.environ and _is_random() and _turn_off():
        os.environ[_BEGUN] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - itself


def _is_random() -> bool:
    """Tell whether randomisation is on, as far as that can be told."""
    now = _personality(_ASK)
    return now == -1 or not now & _NOT_RANDOM


def _turn_off() -> bool:
    """Turn it off for what this process executes; tell whether that may be done."""
    now = _personality(_ASK)
    return now != -1 and _personality(now | _NOT_RANDOM) != -1


def _personality(wanted: int) -> int:
    return int(ctypes.CDLL(None).personality(ctypes.c_ulong(wanted)))
