"""The right kernel for the CPU's eyes, a wrong one for the GPU.

How: the IR that is assembled adds where the source multiplies. Seen: follows from this design. Defence: CHECKED is a
courtesy to the author and never ranked; a GPU runs what was assembled, and the judge sees it.
"""
# expected: CHECKED checked
# effect: own plan
# gpu: INCORRECT

from forging import custom_kernel, forge_ttir  # noqa: F401

forge_ttir(lambda ir: ir.replace("arith.mulf", "arith.addf"))
