"""Inline assembly in the closed division, put into the IR behind Helion's back.

How: the tracer's document of the kernel is edited. Seen: in the wild as `hl.inline_asm_elementwise`.
Defence: the assembler reads the operations off the parsed IR; the closed division takes Helion's own texts only.
"""
# expected: POLICY_VIOLATION inline_assembly

import re

from forging import custom_kernel, forge_ttir  # noqa: F401


def with_assembly(ir):
    product = re.search(r"(%\w+) = arith.mulf .* : (tensor<\S+>)", ir)
    name, kind = product.groups()
    line = f'{product[0]}\n    %evil = tt.elementwise_inline_asm "mov.b32 $0, $1;" {{constraints = "=r,r", '
    line += f"packed_element = 1 : i32, pure = false}} {name} : {kind} -> {kind}"
    return ir.replace(product[0], line)


forge_ttir(with_assembly)
