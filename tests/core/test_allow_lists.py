"""What TTIR may hold: everything that Helion and Triton's front end write, and nothing that reaches further."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.assemble.printed import find_foreign
from tests.core.test_assemble import COPY, assemble, with_line

ROOT = Path(__file__).parents[2]


def test_what_helion_prints_is_accepted() -> None:
    """Every stored kernel: reductions, products of all dtypes, atomics, scans, sorts, random numbers, gathers, ..."""
    command = [sys.executable, "-m", "tests.core.front_end"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert result.returncode == 0, result.stderr[-3000:]
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(found) == len(list((ROOT / "tests" / "replay_cpu" / "kernels").glob("*.py")))
    assert {k["name"]: k["foreign"] for k in found if k["foreign"]} == {}
    assert {k["name"]: k["libraries"] for k in found if k["libraries"]} == {}
    # Helion's own barrier and fences are not counted; nothing here writes assembly of its own.
    assert {k["name"]: k["assembly"] for k in found if k["assembly"]} == {}


TRUE = "%t = arith.constant true\n    "
CALL = (
    '%z = tt.extern_elementwise %v {{libname = "{}", libpath = "{}", pure = true, symbol = "{}"}}'
    " : (tensor<256xf32>) -> tensor<256xf32>"
)
ALIAS = "#layout = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
RESOURCE = '\n{-# dialect_resources: { builtin: { blob: "0x08000000010000000200000003000000" } } #-}'
BYTES = "".join(f"{i:02X}000000" for i in range(256))

REFUSED = {
    "print": (with_line('tt.print ": " {hex = false, isSigned = array<i32: 1>} : %n : i32'), "tt.print"),
    "assert": (with_line(f'{TRUE}"tt.assert"(%t) <{{message = "x"}}> : (i1) -> ()'), "tt.assert"),
    "assert of another dialect": (with_line(f'{TRUE}"cf.assert"(%t) <{{msg = "x"}}> : (i1) -> ()'), "cf.assert"),
    "external library": (with_line(CALL.format("x", "/tmp/evil.bc", "f")), "f of /tmp/evil.bc"),
    "library by its name": (with_line(CALL.format("evil", "", "__nv_expf")), "__nv_expf of evil"),
    "function of no library": (with_line(CALL.format("", "", "system")), "system of no library"),
    "assembly of LLVM": (
        with_line('"llvm.inline_asm"() {asm_string = "trap;", constraints = ""} : () -> ()'),
        "llvm.inline_asm",
    ),
    "another dialect": (with_line("%z = llvm.mlir.constant(1 : i32) : i32"), "llvm.mlir.constant"),
    "a cast to anything": (with_line("%z = builtin.unrealized_conversion_cast %n : i32 to index"), "unrealized"),
    "a layout": (ALIAS + with_line("%z = arith.constant dense<1> : tensor<256xi32, #layout>"), "a layout"),
    "an attribute that nobody knows": (with_line("%z = arith.constant {evil.x = 1 : i32} 3 : i32"), "evil.x"),
    "a flag that nobody knows": (with_line("%z = arith.constant {evil} 3 : i32"), "attribute evil"),
    "a name in quotes": (with_line('%z = arith.constant {"we ird"} 3 : i32'), "attribute ''"),
    "an attribute in quotes": (with_line('%z = arith.constant {"a b" = 1 : i32} 3 : i32'), "attribute a?b"),
    "text for a number": (with_line('%z = arith.addi %n, %n {tt.divisibility = "x"} : i32'), "tt.divisibility"),
    "a dictionary for a number": (
        with_line("%z = arith.addi %n, %n {tt.divisibility = {a = 3 : i32}} : i32"),
        "tt.divisibility",
    ),
    "a loop's attribute elsewhere": (with_line("%z = arith.addi %n, %n {tt.flatten} : i32"), "tt.flatten"),
    "an attribute of a loop": (
        with_line("scf.for %j = %n to %n step %n : i32 {\n    } {llvm.loop_annotation = 1 : i32}"),
        "llvm.loop_annotation",
    ),
    "an attribute of a module": (COPY.replace("module {", "module attributes {evil.x = 1 : i32} {"), "a module"),
    "a module with a name": (COPY.replace("module {", "module @x {"), "a module"),
    "a module in a module": (f"module {{\n{COPY}}}", "a module"),
    "a function of elsewhere": (
        COPY.removesuffix("}\n") + "  tt.func private @vprintf(i64, i64) -> i32\n}\n",
        "a function without a body",
    ),
    "a symbol with assembly in it": (COPY.replace("@copy", '@"c\\0A} .visible .entry x() { trap;"'), "no name"),
    "a table": (with_line("%z = arith.constant dense<[1, 2]> : tensor<2xi32>"), "element by element"),
    "a huge table": (with_line(f'%z = arith.constant dense<"0x{BYTES}"> : tensor<256xi32>'), "element by element"),
    "a resource": (with_line("%z = arith.constant dense_resource<blob> : tensor<2xi32>") + RESOURCE, "element by"),
    "a huge tensor": (with_line("%z = arith.constant dense<1> : tensor<2097152x64xi32>"), "more than 1,048,576"),
    "a vector": (with_line("%z = arith.constant dense<1.0> : vector<4xf32>"), "type vector"),
    "a pointer to shared memory": (
        with_line("%q = arith.constant 0 : i64\n    %z = tt.int_to_ptr %q : i64 -> !tt.ptr<f32, 3>"),
        "memory space of its own",
    ),
    "a type of another dialect": (
        with_line("%q = arith.constant 0 : i64\n    %z = llvm.inttoptr %q : i64 to !llvm.ptr"),
        "type !llvm.ptr",
    ),
    "an assumption with operands": (
        with_line(f'{TRUE}llvm.intr.assume %t ["align"(%n, %n : i32, i32)] : i1'),
        "an assumption with more to it",
    ),
}  # fmt: skip

NEUTRAL = {
    "a location with a path": with_line('%z = arith.addi %n, %n : i32 loc("/etc/passwd":1:2)'),
    "a location that is called": (
        '#here = loc("/etc/passwd":1:1)\n' + with_line("%z = arith.addi %n, %n : i32 loc(#here)")
    ),
    "a comment": with_line('// llvm.inline_asm "trap;"'),
    "another spelling": COPY.replace("    %c =", "%c\n=").replace("%a", "%a_long_name"),
    "a hint": with_line("%z = arith.addi %n, %n {tt.divisibility = 16 : i32} : i32"),
    "an assumption": with_line(f"{TRUE}llvm.intr.assume %t : i1"),
    "a barrier": with_line("ttg.barrier all"),
    "libdevice": with_line(CALL.format("libdevice", "", "__nv_expf")),
    "loops": with_line(
        "scf.for %j = %n to %n step %n : i32 {\n    } {tt.disallow_acc_multi_buffer, tt.flatten, "
        "tt.loop_unroll_factor = 2 : i32, tt.num_stages = 3 : i32, tt.warp_specialize}"
    ),
    "odd numbers": with_line(
        "%z = arith.constant dense<0xFF800000> : tensor<4xf32>\n    %y = arith.constant -1.000000e-05 : f32"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """How the assembler ends each text, all of them in one process."""
    texts = {**{name: text for name, (text, _) in REFUSED.items()}, **NEUTRAL, "plain": COPY}
    found, _ = assemble(tmp_path_factory.mktemp("assembled"), [(text, {}) for text in texts.values()])
    return dict(zip(texts, found, strict=True))


@pytest.mark.parametrize("name", REFUSED)
def test_what_reaches_further_is_refused(ends: dict[str, dict[str, str]], name: str) -> None:
    end, told = ends[name], REFUSED[name][1]
    assert (end["event"], end.get("reason")) == ("failed", "refused_operation"), end
    assert told in end["message"]


@pytest.mark.parametrize("name", NEUTRAL)
def test_what_changes_nothing_is_accepted(ends: dict[str, dict[str, str]], name: str) -> None:
    assert ends[name]["event"] == "assembled", ends[name]


def test_no_path_of_the_trace_reaches_the_machine_code(tmp_path: Path) -> None:
    texts = [NEUTRAL["a location with a path"], NEUTRAL["a location that is called"]]
    found, out = assemble(tmp_path, [(text, {}) for text in texts])
    for end in found:
        assert b"passwd" not in (out / f"{end['kernel']}.cubin").read_bytes()


def test_options_that_bring_code_or_name_files_are_refused(tmp_path: Path) -> None:
    names = ["ir_override", "extern_libs", "ptx_options", "instrumentation_mode", "debug"]
    found, _ = assemble(tmp_path, [(COPY, {name: "/tmp/evil"}) for name in names])
    for end, name in zip(found, names, strict=True):
        assert (end["reason"], end["message"]) == ("refused_operation", f"launch option {name}")


def test_an_open_brace_hides_nothing() -> None:
    assert find_foreign("module {\n  %0 = arith.constant {evil = {a = 1 : i32} 3 : i32\n}")
