"""Variables of a module's own in its machine code. Standard library only.

They outlive calls, and lie in memory of the driver's where no poison is written. Inline assembly declares none and
names none (`assemble.inline_ptx`). This is the wall behind that one, and what it cannot read it takes for a variable.
"""

from __future__ import annotations

import re

from harness.artifact import Kernel
from harness.artifact.cubin import read_variables
from harness.errors import ArtifactError
from harness.replay.gpu.faults import GpuError

_KEPT = b".nv.global\0"  # nothing that Triton writes has such a section
_INITIALISED = ".nv.global.init"
# Tables of CUDA's own functions, and the text by which they ask how they are compiled.
_CUDAS_OWN = re.compile(r"__cudart_\w+|_\$_str[\w$]*", re.ASCII)


def refuse_variables(kernel: Kernel) -> None:
    """Refuse a kernel that could remember something from call to call in a variable of its module's.

    Raises:
        GpuError: it could.
    """
    name = kernel.facts.name
    # Without assembly of its author's nothing could store to what is initialised.
    if _KEPT in kernel.cubin or (kernel.facts.assembly and not _are_cudas_own(kernel.cubin)):
        raise GpuError("unsupported_kernel", f"{name} has variables that outlive a call", name)


def _are_cudas_own(cubin: bytes) -> bool:
    """Tell whether all that is initialised is CUDA's own."""
    if _INITIALISED.encode() not in cubin:
        return True
    try:
        names = [name for section, name in read_variables(cubin) if section == _INITIALISED]
    except ArtifactError:
        return False
    return bool(names) and all(_CUDAS_OWN.fullmatch(name) for name in names)
