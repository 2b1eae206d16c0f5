"""Whatever TTIR a trace hands over, the allow-lists give an answer, and each kernel's assembly ends with a result."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.assemble.printed import find_foreign
from tests.core.test_allow_lists import NEUTRAL, REFUSED
from tests.core.test_assemble import COPY, assemble
from tests.fuzz.cases import CASES, SEED, TRIED, fuzzed
from tests.fuzz.watched import MAX_CPU_S

TEXTS = [COPY, *NEUTRAL.values(), *(text for text, _ in REFUSED.values())]
LINES = sorted({line for text in TEXTS for line in text.splitlines()})
TOKENS = [
    "{", "}", "<", ">", "(", ")", "[", "]", '"', "\\", "#", "!", "%n", "^bb0", "@copy", "//", "{-#", "#-}", "\0", "é",
    "tt.print", "tt.assert", "llvm.inline_asm", '"llvm.inline_asm"()', "llvm.func @x()", "gpu.module", "{evil.x}",
    "tensor<256xf32>", "tensor<99999999xf32>", "!llvm.ptr", "loc(unknown)", 'loc("/etc/passwd":1:1)', "dense<1>",
    "dense<[1, 2]>", "attributes {a}", ": i32", "i1000000", "= 1 : i32", "array<i32: 1>", "affine_map<(a) -> (a)>",
]  # fmt: skip
BATCH = 16
REASONS = {"refused_operation", "compiler_error", "compiler_crash", "assembler_error", "out_of_resources",
           "kernel_timeout"}  # fmt: skip


def spoil(text: str, pick: random.Random) -> str:
    """Change one to three lines or tokens of an IR."""
    lines = text.splitlines()
    for _ in range(pick.randint(1, 3)):
        place = pick.randrange(len(lines))
        deed = pick.choice(("drop", "double", "foreign line", "token", "token", "swap", "cut"))
        line = lines[place]
        if deed == "drop" and len(lines) > 1:
            del lines[place]
        elif deed == "double":
            lines.insert(place, line)
        elif deed == "foreign line":
            lines.insert(place, pick.choice(LINES))
        elif deed == "swap":
            other = pick.randrange(len(lines))
            lines[place], lines[other] = lines[other], line
        else:
            at = pick.randint(0, len(line))
            lines[place] = line[:at] + (pick.choice(TOKENS) + line[at:] if deed != "cut" else "")
    return "\n".join(lines) + "\n"


@fuzzed(0.05)
@given(st.sampled_from(TEXTS), st.randoms(use_true_random=False), st.sampled_from([1, 1, 1, 50]))
def test_the_lists_have_an_answer_to_any_text(text: str, pick: random.Random, times: int) -> None:
    started = time.thread_time()
    found = find_foreign(spoil(text, pick) * times)
    assert time.thread_time() - started < MAX_CPU_S
    TRIED[f"printed text: {'refused' if found else 'passed'}"] += 1


LONG = ["{", '"', "tensor<", "dense<", "%", "{a = ", "#", "\\", '"\\', "{a}", "''", "(", "!x", "1x", ", 1>", "dense<1"]


@pytest.mark.parametrize("text", LONG)
def test_no_text_takes_long(text: str) -> None:
    started = time.thread_time()
    find_foreign(text * 20_000)
    assert time.thread_time() - started < MAX_CPU_S


def test_the_assembler_ends_every_kernel(tmp_path: Path) -> None:
    """Real parsing and compiling, a process for each: whatever dies in one, the others have their results."""
    pick = random.Random(SEED or "0")
    count = max(32, CASES // 20)
    for start in range(0, count, BATCH):
        texts = list(dict.fromkeys(spoil(pick.choice(TEXTS), pick) for _ in range(min(BATCH, count - start))))
        folder = tmp_path / str(start)
        folder.mkdir()
        ends, out = assemble(folder, [(text, {}) for text in texts])
        for end, text in zip(ends, texts, strict=True):
            TRIED[f"assembler: {end.get('reason', 'assembled')}"] += 1
            assert end["event"] == "assembled" or end["reason"] in REASONS, (end, text)
            assert (out / f"{end['kernel']}.cubin").exists() == (end["event"] == "assembled")
