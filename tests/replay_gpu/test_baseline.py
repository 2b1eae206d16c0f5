"""What the baselines compute is what the problem asks for, in float32. How fast is a GPU's business (test_gpu.py)."""

import shutil
from pathlib import Path

import pytest
import torch

from harness.case import load_cases
from harness.replay.inputs import Request, make_sample
from harness.replay.node.baseline import compiled_call, eager_call, recorded_call
from harness.replay.reference import load_reference
from harness.spec import load_problem

ROOT = Path(__file__).parents[2]
PROBLEMS = ("causal_conv1d", "fp8_quant", "chunk_fwd_h", "chunk_fwd_o", "recompute_w_u")


def smallest(name):
    """A problem's reference, and a sample of its smallest test case."""
    reference = load_reference(load_problem(ROOT / "problems" / name))
    case = next(case for case in load_cases(reference.problem) if case.role == "test")
    request = Request(tuple(sorted(case.sizes.items())), case.distribution, 7)
    sample = make_sample(reference, request)
    inputs = tuple(t for t, spec in zip(sample.inputs, reference.problem.inputs, strict=True) if not spec.buffer)
    return reference, case, sample, inputs


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_reference_in_float32_is_near_the_one_in_float64(name):
    reference, case, sample, inputs = smallest(name)
    eager = eager_call(reference, case.sizes)
    recorded = recorded_call(eager, inputs)
    for call in (eager, recorded):
        outputs = call(*inputs)
        for spec, got, expected in zip(reference.problem.outputs, outputs, sample.expected, strict=True):
            assert got.dtype is torch.float32
            tolerance = reference.problem.tolerance_of(spec.name)
            error = (got.double() - expected).abs()
            # Quantised values may fall on the other side of an edge of a step.
            wrong = error > 10 * (tolerance.atol + tolerance.rtol * expected.abs())
            assert wrong.float().mean() < 0.01, spec.name


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler on a CPU")
def test_torch_compiles_it():
    reference, case, sample, inputs = smallest("chunk_fwd_h")
    outputs = compiled_call(eager_call(reference, case.sizes), inputs)(*inputs)
    for got, expected in zip(outputs, sample.expected, strict=True):
        assert torch.allclose(got.double(), expected, rtol=1e-3, atol=1e-3)
