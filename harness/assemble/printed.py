"""The attributes, types and constants that TTIR may have: allow-lists, read off the module as MLIR prints it.

The bindings list neither attributes nor types, so they are taken from the printed text. That text is MLIR's, not the
tracer's: one operation a line, strings escaped, one spelling for each thing; and what is assembled is this text, parsed
again, so that what is not printed (locations, comments) is not there. What is looked at:

- attributes in braces, by operation and name, with plain values: numbers, flags, arrays of numbers;
- types: pointers and tensor descriptors of Triton's, tensors of at most as many elements as Triton allows, without
  a layout, pointers to global memory only;
- constants: one value for a whole tensor, never a table;
- functions: each with a body and a name that an assembler takes for one; what has none is another library's.

Anything else that begins like an attribute (`#`), a type (`!`) or a resource is refused by being unknown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

MOST_ELEMENTS = 1 << 20
"""Triton's own limit for one tensor."""

_LOOP = frozenset(
    "tt.disallow_acc_multi_buffer tt.flatten tt.loop_unroll_factor tt.num_stages tt.warp_specialize".split()
)
_HINTS = frozenset({"tt.constancy", "tt.contiguity", "tt.divisibility"})
"""What Triton may assume of an operation's result; allowed everywhere."""

ATTRIBUTES: dict[str, frozenset[str]] = {
    name: frozenset(attributes.split())
    for name, attributes in {
        "tt.cat": "can_reorder",
        "tt.dot": "maxNumImpreciseAcc",
        "tt.dot_scaled": "fastMath lhs_k_pack rhs_k_pack",
        "tt.elementwise_inline_asm": "constraints packed_element pure",
        "tt.expand_dims": "axis",
        "tt.extern_elementwise": "libname libpath pure symbol",
        "tt.func": "noinline",
        "tt.gather": "axis efficient_layout",
        "tt.load": "boundaryCheck isVolatile padding",
        "tt.make_range": "end start",
        "tt.make_tensor_descriptor": "padding",
        "tt.make_tensor_ptr": "order",
        "tt.map_elementwise": "pack",
        "tt.reduce": "axis",
        "tt.reshape": "allow_reorder efficient_layout",
        "tt.scan": "axis reverse",
        "tt.store": "boundaryCheck",
        "tt.trans": "order",
    }.items()
}
"""Attributes by operation, beside the hints; an operation that is not named has no others."""

_TEXTS = frozenset({"constraints", "libname", "libpath", "symbol"})
"""Attributes that hold text; `operations` looks at what it says."""

_TYPES = frozenset({"tt.ptr", "tt.tensordesc"})

_STRING = re.compile(r'"((?:[^"\\]|\\.?)*)(?:"|$)')
_NAME = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
_SYMBOL = re.compile(r"[\w$.<>()\[\], +-]+")
_OPERATION = re.compile(r"^(?:%[^=]* = )?([a-z_]+(?:\.[a-z_0-9]+)+|module)\b")
_VALUE = re.compile(
    r"(?:-?\d+ : i\d+|true|false|array<i\d+(?:: -?\d+(?:, -?\d+)*)?>"
    r"|dense<(?:-?\d+|\[-?\d+(?:, -?\d+)*\])> : tensor<\d+xi\d+>)"
)
_TABLE = re.compile(r"dense(?:_resource)?<(?!(?:true|false|-?\d[\d.]{0,40}(?:[Ee][+-]\d{1,4})?|0x[0-9A-F]{1,16})>)")
_ASSUMPTION = re.compile(r"llvm\.intr\.assume %[\w#]+ : i1")


def find_foreign(text: str) -> set[str]:
    """Return what a printed module holds that TTIR may not, each in a few words."""
    found: set[str] = set()
    for number, line in enumerate(text.split("\n")):
        plain = _STRING.sub(_blank, line).strip()
        contents, rest = _take_dictionaries(plain)
        for content in contents:
            found |= _check_dictionary(plain, content)
        found |= _check_rest(rest)
        if plain.startswith("tt.func") and not plain.endswith("{"):
            found.add("a function without a body")
        if plain.startswith(("module", "builtin.module")) and (number or plain != "module {"):
            found.add("attributes of a module")
    return found


def _blank(found: re.Match[str]) -> str:
    """Keep a string that names an operation or an attribute; of any other, keep that it is one."""
    content, after = found[1], found.string[found.end() :]
    if found.string[: found.start()].endswith("@"):
        return content if _SYMBOL.fullmatch(content) else "#symbol"
    if after.startswith("(") and _NAME.fullmatch(content):
        return content
    if after.startswith(" = "):
        return re.sub(r"[^\w.-]", "?", content)
    return "''"


def _take_dictionaries(line: str) -> tuple[list[str], str]:
    """Return what stands in braces, and the line without it; an open brace at the end of a line begins a region."""
    depth, start, kept = 0, 0, 0
    contents, rest = [], []
    for match in re.finditer(r"[{}]", line.rstrip("{ ")):
        if match[0] == "{":
            depth += 1
            start = match.start() if depth == 1 else start
        elif depth:
            depth -= 1
            if not depth:
                contents.append(line[start + 1 : match.start()])
                rest.append(line[kept:start])
                kept = match.end()
    if depth:
        contents.append("{")
    return contents, "".join([*rest, line[kept:]])


def _check_dictionary(line: str, content: str) -> set[str]:
    owner = _OPERATION.match(line)
    name = owner[1] if owner else ""
    allowed = _HINTS | (_LOOP if line.startswith("}") else ATTRIBUTES.get(name, frozenset()))
    found = set()
    for entry in _split(content):
        key, _, value = entry.partition(" = ")
        if key not in allowed or not (not value or _VALUE.fullmatch(value) or (key in _TEXTS and value == "''")):
            what = {"tt.func": "attributes of a function:", "module": "attributes of a module:"}.get(name, "attribute")
            found.add(f"{what} {key[:60]}")
    return found


def _split(content: str) -> Iterator[str]:
    """Yield the entries of a dictionary: parts between commas that no bracket holds."""
    depth, start = 0, 0
    for place, sign in enumerate(content):
        depth += (sign in "<[({") - (sign in ">])}")
        if sign == "," and depth <= 0:
            yield content[start:place].strip()
            start = place + 1
    yield content[start:].strip()


def _check_rest(line: str) -> set[str]:
    """Check a line without its dictionaries: types, constants, and what begins like an attribute."""
    found = {f"type !{name}" for name in re.findall(r"!([\w.]+)", line) if name not in _TYPES}
    found |= {f"type {name}" for name in re.findall(r"\b(memref|vector|complex|tuple|opaque)<", line)}
    if re.search(r"#(?!\d)", line):
        found.add("a layout, an alias or a symbol that is no name")
    if re.search(r", (?:\d+|'')>", line):
        found.add("a pointer or tensor with a memory space of its own")
    if _TABLE.search(line):
        found.add("a constant written out element by element")
    if any(not _is_small(sizes) for sizes in re.findall(r"tensor<([\d?*x]{0,200})", line)):
        found.add(f"a tensor of unknown size, or of more than {MOST_ELEMENTS:,} elements")
    if "''" in line and not line.partition(" = ")[2].startswith("tt.elementwise_inline_asm ''"):
        found.add("text where none belongs")
    if "llvm.intr.assume" in line and not _ASSUMPTION.fullmatch(line):
        found.add("an assumption with more to it")
    return found


def _is_small(sizes: str) -> bool:
    parts = sizes.removesuffix("x").split("x")
    return all(part.isdigit() for part in parts) and math.prod(map(int, parts)) <= MOST_ELEMENTS
