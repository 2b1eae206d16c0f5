"""A function of another library, by path.

How: `tt.extern_elementwise` names a file for the linker. Seen: Triton's `extern_libs`.
Defence: no path, and no symbol but libdevice's.
"""
# expected: POLICY_VIOLATION refused_operation

import re

from forging import custom_kernel, forge_ttir  # noqa: F401


def with_library(ir):
    product = re.search(r"(%\w+) = arith.mulf .* : (tensor<\S+>)", ir)
    name, kind = product.groups()
    call = (
        '%evil = tt.extern_elementwise {} {{libname = "x", libpath = "/etc/passwd", pure = true, symbol = "__nv_sinf"}}'
    )
    return ir.replace(product[0], f"{product[0]}\n    {call.format(name)} : ({kind}) -> {kind}")


forge_ttir(with_library)
