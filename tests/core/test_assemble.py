"""Assembly for real: TTIR in, machine code and its facts out, for GPUs that are not here."""

import dataclasses
import io
import json
import string
import subprocess
import sys
from pathlib import Path

import pytest

from harness.assemble.cubin import read_resources
from harness.assemble.inline_ptx import find_fault
from harness.assemble.last_words import read_last_words
from harness.assemble.ptxas import read_complaints
from harness.errors import ArtifactError
from harness.kernel import kernel_key, parse_facts
from harness.target import load_target

COPY = (Path(__file__).parent / "copy.ttir").read_text()


def assemble(tmp_path, texts, architecture=100, jobs=2, kernel_wall_s=60, timeout_s=120):
    kernels = [
        {"key": kernel_key(text, options), "ttir": text, "options": options, "ptx_options": None}
        for text, options in texts
    ]
    request = {"architecture": architecture, "jobs": jobs, "kernel_wall_s": kernel_wall_s, "kernels": kernels}
    (tmp_path / "request.json").write_text(json.dumps(request))
    command = [sys.executable, "-I", "-m", "harness.assemble", str(tmp_path / "request.json"), str(tmp_path / "out")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s)
    assert result.returncode == 0, result.stderr[-2000:]
    events = [json.loads(line) for line in result.stdout.splitlines()]
    ends = {event["kernel"]: event for event in events if event["event"] != "start"}
    return [ends[kernel["key"]] for kernel in kernels], tmp_path / "out"


def facts_of(out, end):
    return parse_facts(json.loads((out / f"{end['kernel']}.json").read_text()))


def test_the_same_ir_gives_the_same_machine_code(tmp_path):
    """With randomised addresses, NVIDIA's assembler comes to two results for this kernel, each in half of the runs."""
    text, found = Path(__file__).with_name("ordered_by_address.ttir").read_text(), set()
    for number in range(6):
        (tmp_path / str(number)).mkdir()
        (end,), out = assemble(tmp_path / str(number), [(text, {"num_warps": 4, "num_stages": 1})])
        found.add((out / f"{end['kernel']}.cubin").read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize("target", ["b200", "h200"])
def test_a_kernel_and_its_facts(tmp_path, target):
    (end,), out = assemble(tmp_path, [(COPY, {"num_warps": 8})], load_target(target).architecture)
    assert end["event"] == "assembled"
    assert end["cpu_s"] > 0
    facts = facts_of(out, end)
    assert (facts.name, facts.params, facts.threads, facts.warps) == ("copy", ("*f32", "*f32", "i32"), 256, 8)
    assert facts.stack_bytes == 0
    assert 8 <= facts.registers <= 64
    assert facts.stores
    assert 0 < facts.occupancy(load_target(target)) <= 1
    cubin = (out / f"{end['kernel']}.cubin").read_bytes()
    assert read_resources(cubin, "copy").registers == facts.registers


def test_the_same_input_gives_the_same_machine_code(tmp_path):
    cubins = set()
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        (end,), out = assemble(folder, [(COPY, {"num_warps": 4})])
        cubins.add((out / f"{end['kernel']}.cubin").read_bytes())
    assert len(cubins) == 1


def with_line(text):
    return COPY.replace("    tt.return", f"    {text}\n    tt.return")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('tt.print ": " {hex = false, isSigned = array<i32: 1>} : %n : i32', "tt.print"),
        (
            '%z = tt.extern_elementwise %v {libname = "x", libpath = "/tmp/evil.bc", pure = true, symbol = "f"}'
            " : (tensor<256xf32>) -> tensor<256xf32>",
            "f of /tmp/evil.bc",
        ),
        (
            '%z = tt.extern_elementwise %v {libname = "", libpath = "", pure = true, symbol = "system"}'
            " : (tensor<256xf32>) -> tensor<256xf32>",
            "system of no library",
        ),
        ('%z = "nvgpu.warp_id"() : () -> i32', "nvgpu"),
    ],
)
def test_operations_outside_the_list_are_refused(tmp_path, line, told):
    (end,), _ = assemble(tmp_path, [(with_line(line), {})])
    assert end["event"] == "failed"
    assert told in end["message"] or end["message"] == "Parse MLIR file failed."
    if told != "nvgpu":
        assert end["reason"] == "refused_operation", end


def with_assembly(text, constraints="=r,r", operand="%i"):
    return with_line(
        f'%seven = arith.constant dense<7> : tensor<256xi32>\n    %z = tt.elementwise_inline_asm "{text}" '
        f'{{constraints = "{constraints}", packed_element = 1 : i32, pure = false}}'
        f" {operand} : tensor<256xi32> -> tensor<256xi32>"
    )


@pytest.mark.parametrize(
    "text",
    [
        "mov.u32 $0, 1;",
        "{ .reg .u32 t; mov.u32 t, ${1}; shr.u32 $0, t, 1; }",
        "{ .reg .u64 a; cvt.u64.u32 a, $1; ld.volatile.global.u32 $0, [a]; ld.volatile.shared.u32 $0, [$1]; }",
        "{ .reg .pred p; setp.eq.u32 p, $1, 0; mov.u32 $0, 2; @p bra L${:uid}; mov.u32 $0, 1; L${:uid}: }",
        "{ .reg .pred p; setp.eq.u32 p, $1, 0; mov.u32 $0, 2; @p bra $$L${:uid}; mov.u32 $0, 1; $$L${:uid}: }",
        "{ .reg .u64 a; cvt.u64.u32 a, $1; ld .global.u32 $0, [a]; } /* .visible */ // .global .u32 k; }",
        "mov.u32 $0, 1; // .global .u32 k;\\0Aadd.u32 $0, $0, 1;",
    ],
)
def test_inline_assembly_is_reported(tmp_path, text):
    (end,), out = assemble(tmp_path, [(with_assembly(text), {})])
    assert end["event"] == "assembled", end
    assert facts_of(out, end).assembly == (text.replace("\\0A", " "),)
    assert b".nv.global" not in (out / f"{end['kernel']}.cubin").read_bytes()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{ .global .align 4 .u32 k; mov.u32 $0, 1; }", ".global: it may declare registers only, since"),
        ("{.global.align 4 .u32 k; mov.u32 $0, 1; }", ".global"),
        ("mov.u32 $0, 1; .shared .u32 k;", "what lies in .shared outlives a call"),
        ("// \\0A.const .u32 k = 1; mov.u32 $0, 1;", ".const"),
        ("/* */.const .u32 k = 1; mov.u32 $0, 1;", ".const"),
        ("label:.local .u32 k; mov.u32 $0, 1;", ".local"),
        ("} .visible .func f() { ret;", "closes a block which it did not open"),
        ("mov.u32 $0, 1; /*", "cannot be read from '/*' on"),
        ("{ .glo$(bal|bal$) .u32 k; mov.u32 $0, 1; }", "a $ that is no operand"),
        ("mov.u32 $0, 1; ${:comment}", "a $ that is no operand"),
        ("{ .loc 1 1 1U.global .align 4 .u32 k = 1; mov.u32 $0, k; }", ".loc: it may declare registers only"),
        ("{ .loc 1 1 0x1.shared .u32 k; mov.u32 $0, 1; }", ".loc: it may declare registers only"),
        ("{ .loc 1 1 1; mov.u32 $0, 1; }", ".loc: it may declare registers only"),
        ("mov.u32 $0, 1; /* *debug,/ .shared .align 4 .u32 mine; /* */", "a comma beside 'debug'"),
        ("{ .reg .b32 %05; mov.u32 $0, ${1}5; }", "an operand as a part of a word"),
        ("{ .reg .b32 %r0; mov.u32 $0, %r${:uid}; }", "names %r${:uid}, which"),
        ("{ .reg .b32 %r<010>; mov.u32 $0, %r9; }", "that declares %r<010"),
        ("mov.u32 $0, $3;", "with $3, an operand that it has not: its constraints give $0 to $1"),
    ],
)
def test_inline_assembly_declares_nothing(tmp_path, text, told):
    """A variable of a module's own outlives calls, where no poison is written; `test_inline_ptx` has all spellings."""
    (end,), _ = assemble(tmp_path, [(with_assembly(text), {})])
    assert (end["event"], end["reason"]) == ("failed", "refused_operation"), end
    assert told in end["message"]


TAKEN = """
import os, resource, string, sys
from triton._C.libtriton import llvm
llvm.init_targets()
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
for letter in string.ascii_letters:
    if not (process := os.fork()):
        call = f'asm "mov.b32 $0, ${{1:{letter}}};", "=r,%s"(i32 %s)'
        text = f"define i32 @f(i32 %%x) {{ %%r = call i32 {call} ret i32 %%r }}"
        llvm.translate_to_asm(text, "nvptx64-nvidia-cuda", "sm_100a", "", [], True, False)
        os._exit(0)
    if os.waitpid(process, 0)[1] == 0:
        print(letter)
"""


@pytest.mark.parametrize(("constraint", "value", "operand"), [("r", "%x", "%i"), ("n", "7", "%seven")])
def test_modifiers_are_those_that_llvm_takes(tmp_path, constraint, value, operand):
    """What is refused ends the process: each letter is tried, on a register and on a number."""
    command = [sys.executable, "-c", TAKEN % (constraint, value)]
    taken = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.split()
    texts = {letter: f"mov.b32 $0, ${{1:{letter}}};" for letter in string.ascii_letters}
    assert taken == [letter for letter, text in texts.items() if not find_fault(text, ["=r", constraint])]
    tried = {letter: (with_assembly(texts[letter], f"=r,{constraint}", operand), {}) for letter in [*taken, "z"]}
    *ends, last = assemble(tmp_path, list(tried.values()))[0]
    assert [end["event"] for end in ends] == ["assembled"] * len(taken), ends
    told = "inline assembly with ${1:z}, whose modifier z does not exist for this GPU: leave :z out"
    assert (last["reason"], last["message"]) == ("refused_operation", told)


@pytest.mark.parametrize(
    ("constraints", "told"),
    [
        ("=r,C", "Triton's compiler ended with exit code 1: unknown asm constraint 'C'"),
        ("=r,n", "Triton's compiler ended with exit code 1: constraint 'n' expects an integer constant expression"),
        (
            "=r,r,r",
            "Triton's compiler ended with SIGABRT: number of input constraints does not match number of parameters",
        ),
        ("=r,{r0}", "Triton's compiler ended with SIGABRT"),  # a failed assertion says nothing to anybody
    ],
)
def test_what_ends_the_compiler_is_told_where_it_says_so(tmp_path, constraints, told):
    (end,), out = assemble(tmp_path, [(with_assembly("mov.b32 $0, $1;", constraints), {})])
    assert (end["reason"], end["message"]) == ("compiler_crash", told)
    assert {path.suffix for path in out.iterdir()} == {".ttir"}


def test_last_words_are_one_line_that_can_be_printed():
    def read(said):
        return read_last_words(io.BytesIO(said.encode()))

    assert read("module {\n}\n/tmp/x.ttir:3:4: error: 'a\x1b[1m' op\nerror: later\n") == "'a?[1m' op"
    assert read("error: early\n" + "x\n" * 9000 + "LLVM ERROR: " + "y" * 999) == "y" * 120
    assert read("") == read("python: X.h:8: f(): Assertion `error' failed.\n") == ""


@pytest.mark.parametrize("architecture", [90, 100])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mvo.u32 $0, $1;", "Not a name of any known instruction: 'mvo'"),
        (
            ".reg .f32 t; mov.u32 $0, $1;",
            "Duplicate definition of variable 't': put it in { }: it is pasted once for each element",
        ),
    ],
)
def test_what_the_assembler_says_of_inline_assembly_is_told(tmp_path, architecture, text, told):
    (end,), _ = assemble(tmp_path, [(with_assembly(text), {})], architecture)
    assert end["reason"] == "assembler_error"
    assert end["message"] == f"NVIDIA's assembler refuses its code:\n  {told}"


def test_the_assemblers_words_are_a_few_and_can_be_printed():
    told = ("error   : It says 'a;\x1b[1m: b'", "error : twice", "fatal   : Ptx assembly aborted due to errors")
    log = "error: not its\n" + "".join(f"ptxas /tmp/x.ptx, line {n}; {words}\n" for n, words in enumerate(told * 99))
    assert read_complaints(log) == ("It says 'a;?[1m: b'", "twice")
    many = "".join(f"ptxas-blackwell x, line 1; error : {number}{'x' * 999}\n" for number in range(9))
    assert read_complaints(many) == (*(f"{number}{'x' * 119}" for number in range(4)), "and 5 more")
    assert read_complaints("ptxas fatal   : Value 'sm_1' is not defined\n") == ("Value 'sm_1' is not defined",)
    assert read_complaints("`ptxas` raised SIGSEGV\nptxas info    : 0 bytes gmem\n") == ()


def test_a_kernel_that_takes_too_long_says_what_its_limit_is(tmp_path):
    kernels = [(COPY, {"num_warps": 8}), (COPY, {"num_stages": 2})]
    ends, _ = assemble(tmp_path, kernels, kernel_wall_s=0.001)
    for end, options in zip(ends, ("num_warps=8, num_stages=3", "num_warps=4, num_stages=2"), strict=True):
        assert end["reason"] == "kernel_timeout"
        assert end["message"] == (
            f"its assembly, with {options}, took longer than the 0.001 s that a kernel has (kernel_wall_s in "
            "shapes.yaml): use fewer elements a program, or more warps"
        )


@pytest.mark.parametrize(("constraints", "told"), [("=r,r,~{memory}", "$0 to $1"), ("=r,~{memory},~{cc}", "$0 only")])
def test_operands_are_counted_by_the_constraints(tmp_path, constraints, told):
    text = with_assembly("mov.u32 $0, $2;").replace("=r,r", constraints)
    (end,), _ = assemble(tmp_path, [(text, {})])
    assert end["message"] == f"inline assembly with $2, an operand that it has not: its constraints give {told}"


def test_a_failing_kernel_takes_nothing_else_with_it(tmp_path):
    ends, out = assemble(tmp_path, [("module {", {}), (COPY, {}), (COPY, {"num_ctas": 2})])
    assert [end["event"] for end in ends] == ["failed", "assembled", "assembled"]
    assert ends[0]["reason"] == "compiler_error"
    assert len(ends[0]["message"]) <= 500
    assert facts_of(out, ends[2]).ctas == 2


def test_too_much_shared_memory_is_told(tmp_path):
    line = (
        "%big = arith.constant dense<1.0> : tensor<1024x1024xf32>\n"
        "    %t = tt.trans %big {order = array<i32: 1, 0>} : tensor<1024x1024xf32> -> tensor<1024x1024xf32>\n"
        "    %q = tt.dot %big, %t, %big : tensor<1024x1024xf32> * tensor<1024x1024xf32> -> tensor<1024x1024xf32>\n"
        '    %sum = "tt.reduce"(%q) <{axis = 1 : i32}> ({\n    ^bb0(%a1: f32, %b1: f32):\n'
        "      %s1 = arith.addf %a1, %b1 : f32\n      tt.reduce.return %s1 : f32\n"
        "    }) : (tensor<1024x1024xf32>) -> tensor<1024xf32>\n"
        "    %k = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>\n"
        "    %ks = tt.splat %b : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>\n"
        "    %kp = tt.addptr %ks, %k : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>\n"
        "    tt.store %kp, %sum : tensor<1024x!tt.ptr<f32>>"
    )
    (end,), _ = assemble(tmp_path, [(with_line(line), {"num_warps": 8})], kernel_wall_s=20)
    assert end["event"] == "failed"
    assert end["reason"] in (
        "out_of_resources",
        "compiler_error",
        "kernel_timeout",
        "compiler_crash",
        "assembler_error",
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"shared_bytes": 387 << 10}, "needs 388 KiB of shared memory; b200 has 227 KiB for a block"),
        ({"shared_bytes": 231_425}, "227 KiB"),
        ({"threads": 1024, "registers": 128}, "needs 131,072 registers; b200 has 65,536 for a block"),
        ({"tensor_memory_columns": 1024}, "needs 1024 columns of tensor memory; b200 has 512"),
        ({"shared_bytes": 231_424}, None),
        ({"threads": 1024, "registers": 64}, None),
        ({"tensor_memory_columns": 512}, None),
    ],
)
def test_what_a_target_cannot_launch(tmp_path, changes, told):
    (end,), out = assemble(tmp_path, [(COPY, {})])
    excess = dataclasses.replace(facts_of(out, end), **changes).find_excess(load_target("b200"))
    assert (excess or "") == "" if told is None else told in excess


def test_what_is_no_cubin():
    for content in (b"", b"\x7fELF", b"\x7fELF" + b"\0" * 200, Path(sys.executable).resolve().read_bytes()[:100_000]):
        with pytest.raises(ArtifactError, match="cubin"):
            read_resources(content, "copy")
