"""Memory of a module's own: what is in its machine code that a kernel could remember something in. Pure.

Variables outlive calls, and lie in memory of the driver's where no poison is written; shared memory holds what the last
kernel left there. Triton declares neither for a submission, and inline assembly may not (`assemble.inline_ptx`). This
is the wall behind that one.
"""

from __future__ import annotations

from harness.artifact.storing import Kernel

_KEPT = b".nv.global\0"
_INITIALISED = b".nv.global.init"  # tables of CUDA's own functions are there, which only assembly could write to


def find_own_memory(kernel: Kernel, shared_bytes: int | None = None) -> str:
    """Return what a kernel has that could outlive a call, and what to do, "" if it has nothing.

    Args:
        kernel: after assembly.
        shared_bytes: how much shared memory each kernel of its target has besides what it asks for, None if unknown.
    """
    facts = kernel.facts
    if _KEPT in kernel.cubin:
        return "has variables that outlive a call: keep nothing from one call to the next"
    if facts.assembly and _INITIALISED in kernel.cubin:
        return (
            "has inline assembly beside a library's tables (sin, pow and others have some), which it could write to: "
            "leave one of the two out"
        )
    if facts.assembly and shared_bytes is not None and facts.static_shared_bytes > shared_bytes:
        return "has inline assembly that declares shared memory: use registers, or Triton's own operations"
    return ""
