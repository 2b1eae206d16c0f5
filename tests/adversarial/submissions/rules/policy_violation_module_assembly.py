"""A kernel in PTX, in an attribute of the IR's module.

How: MLIR hands `llvm.module_asm` on to LLVM, which writes it into the PTX as it stands; no operation holds it, so a
walk over the operations sees nothing. Seen: here, 2026-11 (assembled, and in the PTX).
Defence: a module has no attributes, a function only its own, and no attribute belongs to a later dialect.
"""
# expected: POLICY_VIOLATION refused_operation

from forging import custom_kernel, forge_ttir  # noqa: F401

forge_ttir(lambda ir: ir.replace("module {", 'module attributes {llvm.module_asm = [".global .u32 mine;"]} {'))
