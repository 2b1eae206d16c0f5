"""A CPU replay process and an artifact to try it on, as the engine would have them (but without the sandbox)."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from harness.plan import Argument, LaunchStep, OpStep, Plan, Step, Tensor, TensorMeta, encode_plan, row_major

KERNELS = Path(__file__).parent / "kernels"
HEADER = "import triton\nimport triton.language as tl\n\n"
POINTER = {
    torch.float32: "*fp32",
    torch.float64: "*fp64",
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.float8_e4m3fn: "*fp8e4nv",
    torch.float8_e5m2: "*fp8e5",
    torch.int64: "*i64",
    torch.int32: "*i32",
    torch.int16: "*i16",
    torch.int8: "*i8",
    torch.uint8: "*u8",
    torch.bool: "*i1",
}


class Child:
    """A running CPU replay process with a scratch directory and an artifact of its own."""

    def __init__(self, root: Path) -> None:
        self.scratch, self.artifact = root / "scratch", root / "artifact"
        for folder in (self.scratch, self.artifact / "plans", self.artifact / "sources"):
            folder.mkdir(parents=True)
        command = [sys.executable, "-m", "harness.replay.cpu", str(self.scratch), str(self.artifact)]
        self.errors = (root / "stderr").open("w+")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True
        )
        self._count = 0

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)

    def add_source(self, text: str) -> str:
        """Store a Triton source; return its hash."""
        name = hashlib.sha256(text.encode()).hexdigest()
        (self.artifact / "sources" / f"{name}.py").write_text(text)
        return name

    def add_plan(self, plan: Plan) -> None:
        self.add_document(plan.shape_id, encode_plan(plan))

    def add_document(self, shape_id: str, document: Any) -> None:
        (self.artifact / "plans" / f"{shape_id}.json").write_text(json.dumps(document))

    def add_fixture(self, name: str) -> None:
        """Add one of the stored Helion kernels with its plan."""
        self.add_source((KERNELS / f"{name}.py").read_text())
        self.add_document(name, json.loads((KERNELS / f"{name}.json").read_text()))

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request as it is; return the response."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise AssertionError(f"the child ended: {self.errors.read()[-2000:]}")
        return json.loads(line)  # type: ignore[no-any-return]

    def replay(self, shape_id: str, inputs: Sequence[torch.Tensor], **options: Any) -> tuple[dict[str, Any], Any]:
        """Replay a plan; return the response and the tensors of the outputs file, by name."""
        self._count += 1
        names = {"inputs": f"in-{self._count}.safetensors", "outputs": f"out-{self._count}.safetensors"}
        tensors = {str(i): t.contiguous() for i, t in enumerate(inputs)}
        save_file(tensors, self.scratch / names["inputs"])
        request = {"id": self._count, "shape_id": shape_id, "programs": None, "workers": 2, "seed": 3}
        response = self.ask(request | {"time_limit_s": 60} | names | options)
        assert response["id"] == self._count
        results = load_file(self.scratch / names["outputs"]) if response["status"] == "done" else {}
        for name in names.values():
            (self.scratch / name).unlink(missing_ok=True)
        return response, results

    def launch(
        self,
        body: str,
        inputs: Sequence[torch.Tensor],
        outputs: Sequence[torch.Tensor] = (),
        scalars: Sequence[tuple[str, str, Any]] = (),
        grid: tuple[int, int, int] = (1, 1, 1),
        header: str = HEADER,
        **options: Any,
    ) -> tuple[dict[str, Any], Any]:
        """Replay one launch of a hand-written kernel `k`.

        Its parameters are `x0`, `x1`... for the inputs, `y0`, `y1`... for the outputs, which the plan allocates,
        and the scalars, given as (name, type, value); those in capitals are annotated `tl.constexpr`.
        """
        names = [f"x{i}" for i in range(len(inputs))] + [f"y{i}" for i in range(len(outputs))]
        parameters = names + [f"{n}: tl.constexpr" if n.isupper() else n for n, _, _ in scalars]
        lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
        source = self.add_source(f"{header}@triton.jit\ndef k({', '.join(parameters)}):\n{lines}\n")
        tensors = [*inputs, *outputs]
        named = enumerate(zip(names, tensors, strict=True))
        arguments = [Argument(name, POINTER[t.dtype], Tensor(i)) for i, (name, t) in named]
        arguments += [Argument(*scalar) for scalar in scalars]
        steps: list[Step] = [
            OpStep("aten.empty.memory_format", (tuple(t.shape),), empty_keywords(t), (Tensor(len(inputs) + i),), 4)
            for i, t in enumerate(outputs)
        ]
        steps.append(LaunchStep("0" * 64, source, "k", grid, tuple(arguments), "triton", 7))
        numbers = range(len(tensors))
        returned = tuple(numbers[len(inputs) :]) or (0,)
        name = f"hand-{source[:16]}-{'x'.join(map(str, grid))}"
        self.add_plan(Plan(name, metas(tensors), tuple(numbers[: len(inputs)]), returned, "tuple", tuple(steps)))
        return self.replay(name, inputs, **options)


def metas(tensors: Sequence[torch.Tensor]) -> tuple[TensorMeta, ...]:
    """Describe contiguous tensors for a plan."""
    return tuple(
        TensorMeta(tuple(t.shape), row_major(tuple(t.shape)), str(t.dtype).removeprefix("torch.")) for t in tensors
    )


def empty_keywords(tensor: torch.Tensor) -> tuple[tuple[str, Any], ...]:
    """Return the keywords of `aten.empty` for a tensor like this one."""
    from harness.plan import Named

    return (("dtype", Named("dtype", str(tensor.dtype).removeprefix("torch."))), ("device", Named("device", "cuda")))
