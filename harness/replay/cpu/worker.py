"""The worker: reads requests, executes plans, writes raw tensors. Nothing here knows what is right.

Requests come from the judge's side and are trusted in form; plans and sources come from an artifact and are
not. Every exception becomes a response, and the worker goes on with the next request.

Request:  {"id": 7, "shape_id": "...", "inputs": "in-7.safetensors", "outputs": "out-7.safetensors",
           "programs": null | {"sample": 64, "seed": 5}, "workers": 2, "seed": 11, "time_limit_s": 20}
Response: {"id": 7, "status": "done" | "out_of_bounds" | "unsupported" | "fault" | "timeout", "seconds": ...,
           "programs_run": ..., "programs_total": ..., "reason": "...", "where": {...}, "outputs": [...]}
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

import torch
from safetensors.torch import load_file, save_file

from harness.errors import ArtifactError
from harness.plan import Plan, TensorMeta, parse_plan
from harness.replay.cpu.execute import Execution, Settings, describe
from harness.replay.cpu.faults import Fault, Unsupported
from harness.replay.cpu.kernels import Kernel, make_kernels
from harness.strict_json import parse_strict

_FILE = re.compile(r"[A-Za-z0-9_=.-]{1,200}")


class Worker:
    """Serves requests on the plans of one artifact.

    Where `refusal` says why nothing can be interpreted here, every request is answered with that.
    """

    def __init__(self, scratch: Path, artifact: Path, refusal: str = "") -> None:
        self._scratch, self._artifact, self._refusal = scratch, artifact, refusal
        self._kernels: dict[str, dict[str, Kernel]] = {}

    def serve(self, requests: Iterable[str], responses: TextIO) -> None:
        """Answer each line of `requests` with a line of `responses`."""
        for line in requests:
            if line.strip():
                responses.write(json.dumps(self.answer(json.loads(line))) + "\n")
                responses.flush()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Execute one request and return its response."""
        started = time.monotonic()
        response: dict[str, Any] = {"id": request.get("id"), "status": "done", "reason": "", "where": {}}
        execution: Execution | None = None
        try:
            execution = self._prepare(request)
            execution.run()
            response["outputs"] = self._save(request, execution)
        except Fault as fault:
            response.update(status=fault.status, reason=fault.reason, where=fault.where)
        except ArtifactError as error:
            response.update(status="fault", reason=str(error))
        except Exception as error:
            detail = " ".join(str(error).split())[:300]
            response.update(status="unsupported", reason=f"CPU replay failed: {type(error).__name__} {detail}")
        response["programs_run"] = execution.programs_run if execution else 0
        response["programs_total"] = execution.programs_total if execution else 0
        response["seconds"] = time.monotonic() - started
        return response

    def _prepare(self, request: dict[str, Any]) -> Execution:
        if self._refusal:
            raise Unsupported(self._refusal)
        plan = self._load_plan(request["shape_id"])
        loaded = load_file(self._path(request["inputs"]))
        if set(loaded) != {str(i) for i in range(len(plan.inputs))}:
            raise Fault(f"the inputs file holds {len(loaded)} tensors, the plan takes {len(plan.inputs)}")
        tensors = {}
        for index, number in enumerate(plan.inputs):
            tensors[number] = _place_input(loaded[str(index)], plan.tensors[number], index)
        sampling = request.get("programs") or {}
        settings = Settings(
            workers=int(request.get("workers", 1)),
            seed=int(request.get("seed", 0)),
            time_limit_s=float(request["time_limit_s"]),
            sample=sampling.get("sample"),
            sample_seed=int(sampling.get("seed", 0)),
        )
        return Execution(plan, self._find_kernel, settings, tensors)

    def _load_plan(self, shape_id: str) -> Plan:
        path = self._artifact / "plans" / f"{_plain_name(shape_id)}.json"
        try:
            return parse_plan(parse_strict(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise ArtifactError(f"the plan of {shape_id} cannot be read: {type(error).__name__}") from None

    def _find_kernel(self, source: str, function: str) -> Kernel:
        if source not in self._kernels:
            path = self._artifact / "sources" / f"{_plain_name(source)}.py"
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                raise Fault(f"the kernel's source cannot be read: {type(error).__name__}") from None
            self._kernels[source] = make_kernels(text, f"<{source}>")
        kernel = self._kernels[source].get(function)
        if kernel is None:
            raise Unsupported(f"the source has no kernel {function}")
        return kernel

    def _save(self, request: dict[str, Any], execution: Execution) -> list[dict[str, Any]]:
        inputs, outputs = execution.inputs(), execution.outputs()
        named = {str(i): tensor for i, tensor in enumerate(outputs)}
        named |= {f"input-{i}": tensor for i, tensor in enumerate(inputs)}
        if execution.settings.sample is not None:
            named |= {f"stored-{i}": mask for i, mask in enumerate(execution.stored())}
        plain = {name: tensor.clone(memory_format=torch.contiguous_format) for name, tensor in named.items()}
        strides = {f"strides-{i}": json.dumps(list(tensor.stride())) for i, tensor in enumerate(outputs)}
        save_file(plain, self._path(request["outputs"]), metadata=strides)
        return [describe(output, inputs) for output in outputs]

    def _path(self, name: str) -> Path:
        return self._scratch / _plain_name(name)


def _plain_name(name: str) -> str:
    if not isinstance(name, str) or not _FILE.fullmatch(name) or name.startswith("."):
        raise Fault("a request names a file outside of the scratch directory")
    return name


def _place_input(values: torch.Tensor, meta: TensorMeta, index: int) -> torch.Tensor:
    """Return an input with the strides that the plan was traced with."""
    if values.dtype != getattr(torch, meta.dtype) or tuple(values.shape) != meta.shape:
        raise Fault(f"input {index} is {values.dtype} {list(values.shape)}, not {meta.dtype} {list(meta.shape)}")
    if meta.contiguous and meta.offset == 0:
        return values
    placed = torch.empty_strided(meta.shape, meta.strides, dtype=values.dtype)
    placed.copy_(values)
    return placed
