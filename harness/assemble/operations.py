"""The TTIR operations that may be assembled.

An operation that can carry text for another compiler (inline assembly), name a file or a symbol of another library, or
talk to the host is refused by name. What is left computes on tensors and touches memory through pointers only. The
walk is over the parsed module, so no spelling trick in the text can hide an operation. Attributes of the dialects that
come later are refused too, since they are handed on: `llvm.module_asm` can be a whole kernel in PTX. The bindings list
no attributes, so those are read off the module as MLIR prints it, with strings escaped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

# Inline assembly that Helion's own code generator writes: two proxy fences around asynchronous bulk copies.
HELION_ASSEMBLY = frozenset(
    {
        "cp.async.bulk.wait_group 0; fence.proxy.async.global; mov.u32 $0, $1;",
        "fence.proxy.async.global; mov.u32 $0, $1;",
    }
)

_TRITON = """
    addptr advance assert atomic_cas atomic_poll atomic_rmw bitcast broadcast call cat clampf descriptor_gather
    descriptor_load descriptor_reduce descriptor_scatter descriptor_store dot dot_scaled expand_dims
    extern_elementwise fp_to_fp func gather get_num_programs get_program_id histogram int_to_ptr join load
    make_range make_tensor_descriptor make_tensor_ptr map_elementwise map_elementwise.return mulhiui permute
    precise_divf precise_sqrt ptr_to_int reduce reduce.return reshape return scan scan.return split splat store
    trans unsplat
""".split()

_STORES = frozenset(
    "tt.store tt.atomic_rmw tt.atomic_cas tt.descriptor_store tt.descriptor_scatter tt.descriptor_reduce".split()
)

_OTHER_DIALECTS = {
    "arith": None,  # None: every operation of the dialect is pure arithmetic
    "math": None,
    "scf": {"condition", "for", "if", "while", "yield", "execute_region"},
    "cf": {"assert", "br", "cond_br"},
    "ub": {"poison"},
    "gpu": {"barrier"},
    "ttg": {"barrier", "warp_id"},
    "builtin": {"module", "unrealized_conversion_cast"},
}

_MODULES = re.compile(r"^\s*(?:module\b|\"builtin\.module\").*$", re.MULTILINE)
_FUNCTION_ATTRIBUTES = re.compile(r"^\s*tt\.func\b.*\battributes (\{.*\}) \{$", re.MULTILINE)
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"( =)?')
_LATER_DIALECTS = re.compile(
    r"\b(?:(?:llvm|nvvm|rocdl)\.[\w.-]+|(?:ttg|ttng|nvg|nvws|gpu)\.[\w.-]+(?=\"? = )|dialect_resources)"
)


@dataclass(frozen=True)
class Operations:
    """What a module's operations say about it.

    Attributes:
        refused: operations and attributes outside the allow-list, sorted.
        assembly: texts of inline assembly, Helion's own not counted.
        libraries: symbols of external functions that are not CUDA's libdevice.
        stores: whether anything is stored.
    """

    refused: tuple[str, ...]
    assembly: tuple[str, ...]
    libraries: tuple[str, ...]
    stores: bool


def _allowed(name: str) -> bool:
    dialect, _, operation = name.partition(".")
    if dialect == "tt":
        return operation in _TRITON
    if dialect not in _OTHER_DIALECTS:
        return False
    members = _OTHER_DIALECTS[dialect]
    return members is None or operation in members


def inspect_operations(module: Any) -> Operations:
    """Walk a parsed TTIR module (Triton's `ir.module`) and sort its operations."""
    refused: set[str] = set()
    assembly: set[str] = set()
    libraries: set[str] = set()
    stores = False

    def visit(operation: Any) -> None:
        nonlocal stores
        name = operation.get_name()
        if name == "tt.elementwise_inline_asm":
            text = " ".join((operation.get_str_attr("asm_string") or "").split())
            if text not in HELION_ASSEMBLY:
                assembly.add(text)
        elif not _allowed(name):
            refused.add(name)
        if name == "tt.extern_elementwise":
            symbol, path = operation.get_str_attr("symbol") or "", operation.get_str_attr("libpath") or ""
            if path or not symbol.startswith("__nv_"):
                libraries.add(f"{symbol} of {path or 'no library'}")
        stores = stores or name in _STORES

    module.walk(visit)
    refused |= _find_attributes(module.str_nodebug())
    return Operations(tuple(sorted(refused)), tuple(sorted(assembly)), tuple(sorted(libraries)), stores)


def _find_attributes(text: str) -> set[str]:
    """Return what a printed module says to later stages of the compiler."""
    bare = _STRINGS.sub(lambda found: found[0] if found[1] else "''", text)  # an attribute's name may be in quotes
    found = set(_LATER_DIALECTS.findall(bare))
    if [line.strip() for line in _MODULES.findall(bare)] != ["module {"]:
        found.add("attributes of a module")
    if set(_FUNCTION_ATTRIBUTES.findall(bare)) - {"{noinline = false}", "{noinline = true}"}:
        found.add("attributes of a function")
    return found
