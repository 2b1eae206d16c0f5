"""What the driver reports of a GPU beside CUDA's error codes: Xid numbers, and whose fault each is. Pure.

A kernel that faults raises an Xid too (31 for an address that does not exist), so most say nothing new. But where
memory was lost to an ECC error, or the GPU fell off the bus, CUDA's code alone would blame the submission.

Source: NVIDIA, "Xid Errors" (GPU deployment documentation).
"""

from __future__ import annotations

from collections.abc import Iterable

# Errors of the hardware, the driver or the machine, whatever ran.
_MACHINE = {
    48: "double-bit ECC error",
    56: "display engine error",
    61: "internal microcontroller breakpoint",
    62: "internal microcontroller halt",
    63: "memory row remapped",
    64: "memory row remapping failed",
    74: "NVLink error",
    79: "the GPU has fallen off the bus",
    92: "high rate of single-bit ECC errors",
    94: "contained ECC error",
    95: "uncontained ECC error",
    119: "the GPU's system processor timed out",
    120: "error of the GPU's system processor",
    121: "chip-to-chip link error",
    140: "unrecovered ECC error",
    143: "GPU initialisation failed",
    154: "the GPU needs a reset",
}

DOUBLE_BIT_ECC = 48

LOST = {15: 79, 16: 154}
"""The Xid that an answer of NVML stands for: the GPU is lost, or must be reset."""


def encode_xids(xids: Iterable[int]) -> str:
    """Return Xid numbers as a report has them: "31,48"."""
    return ",".join(str(xid) for xid in sorted(set(xids)))


def find_machine_fault(xids: str) -> str:
    """Return what the machine is to blame for among a report's Xid numbers, "" if nothing."""
    numbers = [int(part) for part in xids.split(",") if part.isdigit() and len(part) < 6]
    told = [f"Xid {number}, {_MACHINE[number]}" for number in numbers if number in _MACHINE]
    return "; ".join(told)
