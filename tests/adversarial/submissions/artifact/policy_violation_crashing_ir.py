"""IR that makes LLVM abort: a symbol with PTX in its name.

How: the IR is edited after it was made. Seen: here, 2026-11.
Defence: symbols must be names; and a process per kernel, whose death would be the kernel's result.
"""
# expected: POLICY_VIOLATION refused_operation

from forging import custom_kernel, forge_ttir  # noqa: F401

forge_ttir(lambda ir: ir.replace("@_helion_scale", '@"a b\\0A.visible .entry x() { ret; }"'))
