"""Inline assembly: what is refused before it is assembled, and what NVIDIA's assembler makes of the rest."""

import dataclasses
import random
import re
import subprocess
from pathlib import Path

import pytest
import triton

from harness.artifact import Kernel, find_own_memory
from harness.assemble.cubin import read_resources
from harness.assemble.inline_ptx import find_fault
from harness.kernel import KernelSource
from tests.core.test_artifact import FACTS, TTIR

ASSEMBLER = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas-blackwell"
AROUND = """.version 8.7
.target sm_100a
.address_size 64
%s
.visible .entry k(.param .u64 p) {
    .reg .b32 %%r<9>; .reg .b64 %%rd<4>;
    ld.param.u64 %%rd1, [p];
    mov.u32 %%r2, %%tid.x;
    // begin inline asm
    %s
    // end inline asm
    st.global.u32 [%%rd1], %%r1;
    ret;
}
"""

RESERVED_BYTES = 1024  # of a block for Blackwell that has any

HONEST = [
    "mov.u32 $0, 1;",
    "{ .reg .u32 t; mov.u32 t, ${1}; shr.u32 $0, t, 1; }",
    "{ .reg .u64 a; cvt.u64.u32 a, $1; ld.volatile.global.u32 $0, [a]; }",
    "{ .reg .u64 a; cvt.u64.u32 a, $1; ld .global /* or .shared */ .u32 $0, [a + 4]; }",
    "{ .reg .pred p; setp.eq.u32 p, $1, 0; mov.u32 $0, 2; @!p bra L${:uid}; mov.u32 $0, 1; L${:uid}: }",
    "{ .reg .pred p, q; setp.eq.u32 p|q, $1, 0; @p bra $$L_1; mov.u32 $0, 1; $$L_1: mov.u32 $0, %laneid; }",
    "// .global .u32 x;\n mov.u32 $0, $1; /* .visible\n .const \" { */ // .shared",
    "{ .reg .f32 a<3>, b; mov.f32 a2, 1.5; mov.f32 b, 0f3F800000; add.f32 a0, a2, b; mov.b32 $0, a0; }",
    "{ .reg .b16 lo, hi; mov.b32 {lo, hi}, $1; { .reg .b16 t; mov.b16 t, lo; } mov.b32 $0, {hi, lo}; }",
    "{ .reg .b32 %t; mov.u32 %t, %ctaid.x; ld.shared::cta.u32 $0, [%t]; .pragma \"nounroll\"; }",
    "{ .reg .b32 t${:uid}, u<8>; mov.f32 t${:uid}, .5; mov.b32 u7, t${:uid}; vadd4.u32.u32.u32 $0, $1.b3210, u7, 0; }",
    "{ all: .branchtargets A, B; brx.idx $1, all; A: mov.u32 $0, 2; B: }",
]  # fmt: skip
REFUSED = [
    ("{ .global .align 4 .u32 k; mov.u32 $0, 1; }", "directive .global: it may declare registers only, since"),
    ("{.global.align 4 .u32 k; mov.u32 $0, 1; }", "directive .global"),
    ("{ .global .v4 .u32 k; }", "directive .global"),
    ("{ .global .attribute(.managed) .u32 k; }", "directive .global"),
    ("{ .pragma \"nounroll\" .global .u32 k; }", "with .global in a .pragma"),
    ("{ .reg .b32 r .global .u32 k; }", "directive .global"),
    ("{ .reg .global .u32 k; }", "directive .global"),
    ("@$1 .global .u32 k;", "directive .global"),
    ("mov.u32 $0, 1 .global .u32 k;", "directive .global"),
    ("mov.u32 $0, $1 .shared .u32 k;", "directive .shared"),
    ("mov.u32 $0, 1\n;\n.shared\n.u32 k;", "what lies in .shared outlives a call"),
    ("/* */.const .u32 k = 1; mov.u32 $0, 1;", "directive .const"),
    ("// */\n.const .u32 k = 1; mov.u32 $0, 1;", "directive .const"),
    ("/* // */.const .u32 k = 1; mov.u32 $0, 1;", "directive .const"),
    ("label:.local .u32 k; mov.u32 $0, 1;", "what lies in .local outlives a call"),
    ("$$label: { .param .b32 k; }", "what lies in .param outlives a call"),
    ("} .visible .func f() { ret;", "closes a block which it did not open"),
    (".extern .func f; call f;", "directive .extern: it may declare registers only"),
    ("{ .loc 1 1 1U.global .align 4 .u32 k = 1; mov.u32 $0, k; }", "directive .loc"),
    ("{ .section .debug { } }", "directive .section"),
    ("{ mov.u32 $0, 1;", "leaves a block open"),
    ("mov.u32 $0, 1", "ends within a statement"),
    ("mov.b64 $0, {$1, $1;", "with ; among operands"),
    ("mov.b64 $0, $1};", "with } among operands"),
    ("mov.u32 $0, 1; /* the next one's", "cannot be read from"),
    ("mov.u32 $0, 1; */ .u32", "with * where a statement begins"),
    ("@@DWARF .byte 1;", "with @ for a predicate"),
    ("@$1 { }", "with { behind a predicate"),
    ("# 1 \"file\"\nmov.u32 $0, 1;", "cannot be read from"),
    ("mov.u32 $0, 1; // \0", "cannot be read from"),
    (".pragma \"/*\"; .pragma \"*/\";", "cannot be read from"),
    (".pragma \"nounroll\", x;", "with x in a .pragma"),
    ("mov.u32 $0, \"x\";", "among operands"),
    (".reg .b32 4;", "with 4 where it declares registers"),
    (".reg .b32 r = 4;", "with = where it declares registers"),
    (".reg .b32 r<99999>;", "that declares r<99999"),
    ("{ .glo$(bal|bal$) .u32 k; mov.u32 $0, 1; }", "a $ that is no operand"),
    ("mov.u32 $0, 1; ${:comment}", "a $ that is no operand"),
    ("mov.u64 $0, __cudart_i2opi_f;", "names __cudart_i2opi_f, which is no register of its own"),
    ("ld.global.u32 $0, [%rd9];", "names %rd9"),
    ("{ .reg .b64 table; } mov.u64 $0, table;", "names table"),
    ("mov.u64 $0, table; .reg .b64 table;", "names table"),
    ("table: mov.u64 $0, table;", "names table"),
    (".reg .b64 table<2>; mov.u64 $0, table2;", "names table2"),
    ("@table mov.u64 $0, 1;", "names table"),
    # What Triton cuts out of the assembler's text, within comments too, before it is read.
    ("{ .reg .b64 a; /* *debug,/ mov.u64 a, kept; /* */ atom.global.add.u32 $0, [a], 1; }", "beside 'debug'"),
    ("mov.u32 $0, 1; /* *,\n debug/ .shared .align 4 .u32 mine; /* */", "beside 'debug'"),
    # Operands are numbers at times, and registers of the code around.
    ("{ .reg .b64 a, __cudart_i; mov.u64 a, __cudart_i${1}opi_f; }", "an operand as a part of a word"),
    ("{ .reg .b32 %05; mov.u32 $0, ${1}5; }", "an operand as a part of a word"),
    ("{ .reg .b32 %r; mov.u32 $0, %r$1; }", "an operand as a part of a word"),
    ("mov.u32 $0, $$$1;", "an operand as a part of a word"),
    ("mov.u32 $0, ${:uid}$1;", "an operand as a part of a word"),
    ("{ .reg .b32 _operand_; }", "with _operand_: choose another name"),
    ("{ .reg .b32 _uid_; }", "with _uid_: choose another name"),
    ("{ .reg .b32 %r0; mov.u32 $0, %r${:uid}; }", "names %r${:uid}, which"),
    ("{ .reg .b32 %r<${:uid}>; }", "that declares %r<${:uid}"),
    ("mov.u32 $0, $\N{ARABIC-INDIC DIGIT ONE};", "a $ that is no operand"),
    # A zero in front makes it octal: eight, not ten.
    ("{ .reg .b32 %r<010>; mov.u32 $0, %r9; }", "that declares %r<010"),
    (".reg .b32 r<0>;", "that declares r<0"),
    ("{ .reg .b32 r; mov.u32 $0, r .5; }", "with the directive .5"),
]  # fmt: skip


@pytest.mark.parametrize("text", HONEST)
def test_what_declares_and_names_registers_is_fine(tmp_path, text):
    assert find_fault(text) == ""
    assert b".nv.global" not in assemble(tmp_path, text)


@pytest.mark.parametrize(("text", "told"), REFUSED)
def test_the_rest_is_refused_and_says_why(text, told):
    assert find_fault(text).startswith("inline assembly ")
    assert told in find_fault(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{ .reg .b32 a; mov.u32 a, $1; # $0; }", "that cannot be read from '# $0; }' on"),
        ("mov.u32 $0, \\$1, ${:uid};\n", "that cannot be read from '\\\\$1, ${:uid};\\n' on"),
        ("mov.u32 $0, $1; $$$$ `${1}", "that cannot be read from '`${1}' on"),
        (".reg .b32 ${0}, u;4", "with 4 where a statement begins"),
        (".pragma ${1};", "with ${1} in a .pragma"),
        (".reg .b32 r<${1}>;", "that declares r<${1}"),
        ("@$1 ${0} + ;; .a${:uid} b;", "with the directive .a${:uid}: it may declare registers only"),
        ("mov.u32 $0, " + "n" * 1000 + ";", f"that names {'n' * 60}, which"),
        (
            "add.u32 t${:uid}, $1, 1;",
            "that names t${:uid}, which is no register of its own: declare it within braces, as in "
            "{ .reg .b32 t${:uid}; ... }",
        ),
    ],
)
def test_what_a_message_quotes_is_the_authors_text(text, told):
    assert find_fault(text).startswith(f"inline assembly {told}")


@pytest.mark.parametrize(
    ("text", "operands", "told"),
    [
        ("mov.u32 $0, $1;", 2, ""),
        ("mov.u32 $0, ${1:r};", 2, ""),
        ("mov.u32 $0, $3;", None, ""),
        ("mov.u32 $0, $$3;", 1, "names $$3"),
        ("mov.u32 $0, $3;", 2, "with $3, an operand that it has not: its constraints give $0 to $1"),
        ("mov.u32 $0, $2; // $1", 2, "with $2, an operand that it has not"),
        ("mov.u32 $0, 1; // ${1}", 1, "with ${1}, an operand that it has not: its constraints give $0 only"),
        ("mov.u32 $0, 1;", 0, "with $0, an operand that it has not: its constraints give none"),
        ("mov.u32 $0, $" + "9" * 9000 + ";", 2, "with $" + "9" * 59 + ", an operand that it has not"),
    ],
)
def test_operands_are_those_of_the_constraints(text, operands, told):
    fault = find_fault(text, None if operands is None else ["=r", "r"][:operands])
    assert told in fault
    assert bool(told) == bool(fault)


@pytest.mark.parametrize(
    ("text", "constraint", "told"),
    [
        ("${1:r}", "r", ""),
        ("${1:n}", "n", ""),
        ("${1:c}", "i", ""),
        ("${1:n}", "ri", ""),
        ("${1:n}", "r", "with ${1:n}, whose modifier n is for numbers, and it is a register: leave :n out"),
        ("${1:a}", "l", "with ${1:a}, whose modifier a is for numbers, and it is a register: leave :a out"),
        ("${1:z}", "r", "with ${1:z}, whose modifier z does not exist for this GPU: leave :z out"),
        ("${1:R}", "n", "with ${1:R}, whose modifier R does not exist for this GPU: leave :R out"),
        ("$0, ${1:z}", "r", "with ${1:z}, whose modifier z "),
        ("${0:n}", "n", "with ${0:n}, whose modifier n is for numbers"),
        ("${2:z}", "r", "with ${2:z}, an operand that it has not"),
        ("${1:rr}", "r", "with a $ that is no operand"),
    ],
)
def test_modifiers_are_those_that_the_compiler_takes(text, constraint, told):
    fault = find_fault(f"mov.u32 $0, {text};", ["=r", constraint])
    assert fault.startswith(f"inline assembly {told}" if told else "")
    assert bool(told) == bool(fault)


def test_modifiers_are_known_where_constraints_are_not():
    assert find_fault("mov.u32 $0, ${1:n};") == ""
    assert find_fault("mov.u32 $0, ${1:z};").startswith("inline assembly with ${1:z}, whose modifier z does not exist")


def assemble(tmp_path, text, before=""):
    """Return the machine code around an assembly's text, as LLVM and Triton would write it; b"" if there is none."""
    for written, meant in (("$$", "\1"), ("${:uid}", "7"), ("${1}", "%r2"), ("$0", "%r1"), ("$1", "%r2"), ("\1", "$")):
        text = text.replace(written, meant)
    text = re.sub(r",\s*debug|debug,\s*", "", text)
    source, out = tmp_path / "a.ptx", tmp_path / "a.cubin"
    out.unlink(missing_ok=True)
    source.write_bytes((AROUND % (before, text)).encode())
    subprocess.run([ASSEMBLER, "-arch=sm_100a", "-o", out, source], capture_output=True, timeout=60)
    return out.read_bytes() if out.exists() else b""


@pytest.mark.parametrize("declared", [".global .align 4 .u32 kept;", ".global .v2 .u32 kept = {1, 2};"])
@pytest.mark.parametrize("around", ["%s", "L: %s", "mov.u32 $0, 1;%s", "/* */%s// }\n", "{ } %s"])
def test_what_the_assembler_would_keep_is_refused(tmp_path, declared, around):
    text = "{ .reg .b64 a; %s mov.b64 a, kept; atom.global.add.u32 $0, [a], $1; }" % (around % declared)
    assert find_fault(text)
    assert b".nv.global" in assemble(tmp_path, text)


def test_what_the_assembler_would_share_is_seen(tmp_path):
    text = "{ .shared .align 4 .u32 kept; mov.u32 $0, kept; }"
    assert find_fault(text)
    assert read_resources(assemble(tmp_path, text), "k").static_shared_bytes == RESERVED_BYTES + 4


WORDS = (
    '{ } ; L: $$L: @p @!$1 /* */ // " 1U 1. , + # ret ld .loc .reg bra call .visible .weak .global .shared .b32 kept a'
)
PIECES = [
    *WORDS.split(),
    "{ .reg .b64 a; .reg .pred p;",
    "{ .reg .b64 kept; }",
    ".reg .b64 kept;",
    ".reg .b64 kept<2>;",
    "mov.b64 a, kept;",
    "atom.global.add.u32 $0, [a], 1;",
    "ld.global.u32 $0, [kept];",
    "mov.u32 $0, 1",
    ".branchtargets L",
    '.pragma "x"',
    ".global .align 4 .u32 kept;",
    ".global.align 4 .u32 kept = 7;",
    ".shared .u32 kept;",
    ".local .u32 kept;",
    "/* *debug,/",
    ".glodebug,bal .align 4 .u32 kept;",
    "mov.b64 a, k${1}ept;",
    ".reg .b64 kept<08>;",
    "mov.b64 a, kept${:uid};",
]


def test_what_goes_through_keeps_nothing(tmp_path):
    """Pieces of hostile texts, put together at random: what is not refused has no variable, and names none outside."""
    draw, assembled = random.Random(8), 0
    for _ in range(2_500):
        text = draw.choice(["", " ", "\n"]).join(draw.choices(PIECES, k=draw.randint(1, 6)))
        if "kept" in text and not find_fault(text):
            machine_code = assemble(tmp_path, text)
            assembled += bool(machine_code)
            assert b".nv.global" not in machine_code, text
            assert not machine_code or read_resources(machine_code, "k").static_shared_bytes == 0, text
            there = assemble(tmp_path, text, ".global .align 4 .b32 kept;")
            assert bool(there) == bool(machine_code), text
    assert assembled > 10


def kernel(machine_code, *assembly, static=0):
    facts = dataclasses.replace(FACTS, assembly=assembly, static_shared_bytes=static)
    return Kernel(KernelSource(TTIR, {}, ""), machine_code, facts)


def test_machine_code_with_memory_of_its_own_is_refused(tmp_path):
    """The wall behind this one."""
    honest, store = "mov.u32 $0, $1;", "mov.u64 %rd2, own; atom.global.add.u32 $0, [%rd2], $1;"
    plain = assemble(tmp_path, honest)
    assert find_own_memory(kernel(plain, honest), 0) == ""
    table = assemble(tmp_path, store, ".global .align 4 .b8 own[4] = {1, 2, 3, 4};")
    assert find_own_memory(kernel(table), 0) == ""  # a library's, which nothing names
    assert "has inline assembly beside a library's tables" in find_own_memory(kernel(table, honest), 0)
    kept = assemble(tmp_path, store, ".global .align 4 .b32 own;")
    assert "has variables that outlive a call" in find_own_memory(kernel(kept), 0)
    shared = kernel(plain, honest, static=1028)
    assert "has inline assembly that declares shared memory" in find_own_memory(shared, 1024)
    assert find_own_memory(kernel(plain, honest, static=1024), 1024) == find_own_memory(shared) == ""
