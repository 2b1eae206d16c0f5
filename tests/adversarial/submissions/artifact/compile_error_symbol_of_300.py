"""A kernel with a name that compiles, but that no launch takes.

How: the facts were refused after the assembler's process had reported success, as a fault of the harness.
Seen: here, 2026-11. Defence: the assembler refuses them itself, as the kernel's fault.
"""
# expected: COMPILE_ERROR compiler_error

from forging import custom_kernel, forge_ttir  # noqa: F401

forge_ttir(lambda ir: ir.replace("@_helion_scale", "@" + "n" * 300))
