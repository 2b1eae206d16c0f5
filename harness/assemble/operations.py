"""The TTIR operations that may be assembled: an allow-list, by full name.

It is what Triton's front end can build (the `create_*` methods of its IR builder) without what carries text for another
compiler, names a file or a symbol of another library, talks to the host, or stops the GPU: `tt.print`, `tt.assert` and
`cf.assert` are refused by being left out, and so is every dialect of the later stages. What is left computes on tensors
and touches memory through pointers only. The walk is over the parsed module, so no spelling trick in the text can hide
an operation. Attributes, types and constants, which the bindings do not list, are `printed`'s.

Inline assembly is text for another compiler, and the open division allows it; what it may say is `inline_ptx`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.assemble.inline_ptx import find_fault
from harness.assemble.printed import find_foreign

# Inline assembly that Helion's own code generator writes: fences around asynchronous bulk copies, and what loops that
# overlap wait with. By its text and constraints; white space made single.
HELION_ASSEMBLY = frozenset(
    {
        ("cp.async.bulk.wait_group 0; fence.proxy.async.global; mov.u32 $0, $1;", "=r,r"),
        ("fence.proxy.async.global; mov.u32 $0, $1;", "=r,r"),
        ("bar.warp.sync 0xffffffff; mov.u32 $0, $1;", "=r,r"),
        ("redux.sync.min.s32 $0, $1, 0xffffffff;", "=r,r"),
        ("ld.acquire.gpu.global.u32 $0, [$1];", "=r,l"),
    }
)

INLINE_ASSEMBLY = "tt.elementwise_inline_asm"
LIBRARY_CALL = "tt.extern_elementwise"

_DIALECTS = {
    "tt": """
        addptr advance atomic_cas atomic_rmw bitcast broadcast call cat clampf descriptor_gather descriptor_load
        descriptor_reduce descriptor_scatter descriptor_store dot dot_scaled elementwise_inline_asm expand_dims
        extern_elementwise fp_to_fp func gather get_num_programs get_program_id histogram int_to_ptr join load
        make_range make_tensor_descriptor make_tensor_ptr map_elementwise map_elementwise.return mulhiui
        precise_divf precise_sqrt ptr_to_int reduce reduce.return reshape return scan scan.return split splat store
        trans unsplat
    """,
    "arith": """
        addf addi andi bitcast ceildivsi ceildivui cmpf cmpi constant divf divsi divui extf extsi extui floordivsi
        fptosi fptoui index_cast index_castui maximumf maxnumf maxsi maxui minimumf minnumf minsi minui mulf muli negf
        ori remf remsi remui select shli shrsi shrui sitofp subf subi truncf trunci uitofp xori
    """,
    "math": """
        absf absi acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 floor fma
        log log10 log1p log2 powf round roundeven rsqrt sin sinh sqrt tan tanh trunc
    """,
    "scf": "condition for if while yield",
    "cf": "br cond_br",
    "ub": "poison",
    "gpu": "barrier",
    "ttg": "barrier",
    "llvm": "intr.assume",
    "builtin": "module",
}
OPERATIONS = frozenset(f"{dialect}.{name}" for dialect, names in _DIALECTS.items() for name in names.split())

_STORES = frozenset(
    "tt.store tt.atomic_rmw tt.atomic_cas tt.descriptor_store tt.descriptor_scatter tt.descriptor_reduce".split()
)
_LIBRARIES = ("", "libdevice")


@dataclass(frozen=True)
class Operations:
    """What a module says about itself.

    Attributes:
        refused: operations, attributes, types and constants outside the allow-lists, sorted.
        assembly: texts of inline assembly, Helion's own not counted.
        libraries: symbols of external functions that are not CUDA's libdevice.
        stores: whether anything is stored.
    """

    refused: tuple[str, ...]
    assembly: tuple[str, ...]
    libraries: tuple[str, ...]
    stores: bool


def inspect_operations(module: Any) -> Operations:
    """Walk a parsed TTIR module (Triton's `ir.module`) and sort its operations."""
    refused: set[str] = set()
    assembly: set[str] = set()
    libraries: set[str] = set()
    stores = False

    def visit(operation: Any) -> None:
        nonlocal stores
        name = operation.get_name()
        if name not in OPERATIONS:
            refused.add(name)
        elif name == INLINE_ASSEMBLY:
            text, constraints = (_text(operation, key) for key in ("asm_string", "constraints"))
            if (text, constraints) not in HELION_ASSEMBLY:
                assembly.add(text)
                fault = find_fault(operation.get_str_attr("asm_string") or "", _operands(constraints))
                refused.update([fault] if fault else [])
        elif name == LIBRARY_CALL:
            symbol, library, path = (_text(operation, key) for key in ("symbol", "libname", "libpath"))
            if path or library not in _LIBRARIES or not symbol.startswith("__nv_"):
                libraries.add(f"{symbol} of {path or library or 'no library'}")
        stores = stores or name in _STORES

    module.walk(visit)
    refused |= find_foreign(module.str_nodebug())
    return Operations(tuple(sorted(refused)), tuple(sorted(assembly)), tuple(sorted(libraries)), stores)


def _text(operation: Any, attribute: str) -> str:
    return " ".join((operation.get_str_attr(attribute) or "").split())


def _operands(constraints: str) -> tuple[str, ...]:
    """Return the constraint of each operand of inline assembly: results, then arguments.

    A `~` tells of what it changes besides.
    """
    return tuple(part for part in map(str.strip, constraints.split(",")) if part and not part.startswith("~"))
