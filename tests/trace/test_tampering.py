"""A submission that changes the code generator is refused, where it leaves the change to be seen."""

from __future__ import annotations

import pytest

from harness.trace.failures import REASONS
from harness.verdict import Kind, judge_trace

from .conftest import SUBMISSIONS, Trace

HONEST = (SUBMISSIONS / "vector_add.py").read_text()
PATCHES = {
    "a method of the code generator": (
        "from helion._compiler.generate_ast import GenerateAST\n"
        "old = GenerateAST.generic_visit\n"
        "GenerateAST.generic_visit = lambda self, node: old(self, node)\n",
        "helion._compiler.generate_ast.GenerateAST.generic_visit",
    ),
    "how an operation is written": (
        "import helion.language as hl\n"
        "old_store = hl.store._codegen['triton']\n"
        "hl.store._codegen['triton'] = lambda state: old_store(state)\n",
        "helion.language.memory_ops.store",
    ),
    "the code of Triton's front end": (
        "from triton.compiler.code_generator import CodeGenerator\n"
        "def visit_Assert(self, node):\n    return 7\n"
        "CodeGenerator.visit_Assert.__code__ = visit_Assert.__code__\n",
        "triton.compiler.code_generator.CodeGenerator.visit_Assert",
    ),
}


@pytest.mark.parametrize("name", PATCHES)
def test_a_patched_generator_is_refused(trace: Trace, name: str) -> None:
    patch, told = PATCHES[name]
    failure = trace(patch + HONEST).failure()
    assert failure["reason"] == "patched_generator", failure
    assert told in failure["message"]
    assert judge_trace(failure["reason"], failure["message"]).kind is Kind.POLICY_VIOLATION
    assert REASONS["patched_generator"] in failure["message"]


def test_what_is_patched_elsewhere_is_its_own_business(trace: Trace) -> None:
    """An honest habit: a stand-in where a version lacks something, and a wrapper of one's own."""
    added = (
        "import triton.language as tl\nimport helion.language as hl\nif not hasattr(tl, 'mine'):\n    tl.mine = abs\n"
    )
    assert trace(added + HONEST).plan().launches
