"""What the judge's tests share: problems of their own, a judge per problem, and a stand-in for a runner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import safetensors.torch
import torch

from harness.replay.judge_client import JudgeProcess
from harness.replay.judgement import Judgement

PROBLEMS = Path(__file__).parent / "problems"
SHAPE = {"B": 2, "T": 64, "D": 8}

Tensors = dict[str, torch.Tensor]


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Small tensors only: more threads than idle cores make them a hundred times slower."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def toy() -> Iterator[JudgeProcess]:
    with JudgeProcess(PROBLEMS / "toy", timeout_s=60) as judge:
        yield judge


@pytest.fixture(scope="session")
def broken() -> Iterator[JudgeProcess]:
    with JudgeProcess(PROBLEMS / "broken", timeout_s=60) as judge:
        yield judge


def replay(inputs: Tensors) -> Tensors:
    """What an honest runner hands back for the toy problem; its own implementation, in float32."""
    x, g = inputs["0"], inputs["1"]
    state, y, states = torch.zeros(x.shape[0], x.shape[2]), torch.empty_like(x), []
    for start in range(0, x.shape[1], 16):
        chunk = slice(start, start + 16)
        states.append(state)
        y[:, chunk] = x[:, chunk] * g[:, chunk].exp()[..., None] + state[:, None]
        state = 0.9 * state + x[:, chunk].sum(1)
    outputs = {"0": y, "1": torch.stack(states, 1), "2": (x > 0).sum((1, 2)).to(torch.int32)}
    return outputs | {f"input-{name}": tensor.clone() for name, tensor in inputs.items()}


@pytest.fixture
def judged(toy: JudgeProcess, tmp_path: Path) -> Callable[..., Judgement]:
    """Make inputs, hand back what an honest runner would after `change` has been at it, and compare."""

    def run(
        change: Callable[[Tensors], object] = lambda tensors: None,
        *,
        seed: int = 1,
        distribution: str = "normal",
        metadata: dict[str, str] | None = None,
        sampled: bool = False,
    ) -> Judgement:
        made = toy.make_inputs(SHAPE, distribution, seed, tmp_path / "in.safetensors")
        tensors = replay(safetensors.torch.load_file(made.file))
        change(tensors)
        out = tmp_path / "out.safetensors"
        safetensors.torch.save_file({name: t.contiguous() for name, t in tensors.items()}, out, metadata)
        return toy.compare(SHAPE, distribution, seed, out, sampled=sampled)

    return run
