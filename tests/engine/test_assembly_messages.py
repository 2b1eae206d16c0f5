"""What is told of a kernel that does not assemble: its name, the assembler's words, the line that launches it."""

import pytest

from harness.engine.assembly import run_assembly
from harness.engine.budget import CompileBudget
from harness.engine.kernel_cache import KernelCache
from harness.engine.rules import quote_lines
from harness.frame import Frame
from harness.sandbox import best_level
from harness.spec import load_season
from harness.submission import Submission
from harness.target import load_target
from harness.verdict import Verdict, judge_assembly
from tests.engine.conftest import TEMPLATE
from tests.engine.forged import COPY, variant
from tests.engine.test_early_end import traced


def with_assembly(starter, text):
    """Return the starter with inline assembly, two elements a thread."""
    assembly = f'"{text}", "=r,r", [x[rows, columns]], torch.float32, True, 1'
    source = starter.replace("x[rows, columns] *", f"hl.inline_asm_elementwise({assembly}) *")
    return source.replace("block_sizes=[4, 16]", "block_sizes=[4, 16], num_warps=1")


@pytest.fixture
def open_too(workspace):
    """A season with both divisions."""
    shapes = workspace.root / "shapes.yaml"
    shapes.write_text(shapes.read_text().replace("  targets:", "  divisions: [closed, open]\n  targets:"))
    return workspace


def test_a_fault_of_inline_assembly_is_told_with_the_line_that_launches_it(open_too, starter):
    source = with_assembly(starter, ".reg .b32 t; mov.b32 $0, $1;")
    verdict = open_too.submit(source, "--division", "open", "--case", "M4_N32", code=1)["verdict"]
    assert (verdict["kind"], verdict["stage"], verdict["case"]) == ("COMPILE_ERROR", "assemble", "M4_N32"), verdict
    assert verdict["message"] == (
        "kernel _helion_scale: NVIDIA's assembler refuses its code:\n"
        "  Duplicate definition of variable 't': put it in { }: it is pasted once for each element"
    )
    line = 1 + source.splitlines().index("    return scale(x, s)")
    assert [(frame["line"], frame["text"]) for frame in verdict["traceback"]] == [(line, "return scale(x, s)")]


def test_an_assembly_that_takes_too_long_is_told_with_its_limit(tmp_path):
    found, season, budget = traced(COPY, variant(0), variant(1)), load_season(TEMPLATE), CompileBudget(120, 240)
    hasty = season.model_copy(update={"budgets": season.budgets.model_copy(update={"kernel_wall_s": 0.001})})
    cache = KernelCache(tmp_path)
    verdict = run_assembly(found, load_target("b200"), hasty, best_level().level, cache, budget, lambda _: None)
    assert isinstance(verdict, Verdict)
    assert (verdict.kind, verdict.reason, verdict.case) == ("TIMEOUT", "kernel_timeout", "M4")
    assert verdict.message == (
        "kernel kernel: its assembly, with num_warps=4, num_stages=3, took longer than the 0.001 s that a kernel has "
        "(kernel_wall_s in shapes.yaml): use fewer elements a program, or more warps"
    )


def test_lines_are_quoted_where_only_their_numbers_were_known(tmp_path):
    submission = Submission("acme", tmp_path, (("submission.py", b"import x\n  f()\n"),), ())
    frames = (Frame(2, "", ""), Frame(9, "f", ""), Frame(0, "g", "known"), Frame(1, "h", "known"))
    quoted = quote_lines(judge_assembly("compiler_error", "it fails", "M4", frames), submission)
    assert quoted.traceback == (Frame(2, "", "f()"), Frame(9, "", ""), *frames[2:])
    assert (quoted.kind, quoted.message) == ("COMPILE_ERROR", "it fails")
