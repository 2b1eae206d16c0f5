"""IR that makes LLVM abort: a symbol with PTX in its name.

Defence: a process per kernel; its death is the kernel's result.
"""
# expected: COMPILE_ERROR compiler_crash

from forging import custom_kernel, forge_ttir  # noqa: F401

forge_ttir(lambda ir: ir.replace("@_helion_scale", '@"a b\\0A.visible .entry x() { ret; }"'))
