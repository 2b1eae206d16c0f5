"""One submission in one process: import, then every shape.

Owns what is shared between the import and the shapes (the recorder, the kernels) and what is written. A shape is
traced in a forked process, so that what one shape caches, another does not see.
"""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from harness.errors import ArtifactError
from harness.plan import Plan, encode_plan, parse_plan
from harness.target import load_target
from harness.trace.classify import classify
from harness.trace.cuda_standins import install_standins
from harness.trace.environment import environment_warnings, pin_triton
from harness.trace.failures import Failure, TraceError
from harness.trace.fan_out import fan_out
from harness.trace.helion_hooks import install_helion
from harness.trace.launches import LaunchRecorder
from harness.trace.plan_builder import build_plan
from harness.trace.protocol import Emit, failed_event
from harness.trace.recorder import Recorder
from harness.trace.submission_module import find_entry, import_submission
from harness.trace.tampering import Generator
from harness.trace.warm_up import warm_up


class Session:
    """A submission under trace."""

    def __init__(self, request: dict[str, Any], out_dir: Path) -> None:
        self._path = str(request["submission"])
        self._shapes: list[dict[str, Any]] = request["shapes"]
        self._jobs = int(request.get("jobs", 1))
        self._out_dir = out_dir
        self._target = load_target(request["target"])
        self._recorder = Recorder(self._path)
        self._launches = LaunchRecorder(self._recorder, request.get("advanced_controls") or {})
        self._entry: Callable[[Any], Any] | None = None
        pin_triton()
        install_standins(self._recorder)
        self._launches.install()
        install_helion(self._recorder, self._target, portable=bool(request.get("portable")))
        self._generator = Generator()

    @property
    def warnings(self) -> list[str]:
        """What the author should know so far."""
        return list(self._recorder.warnings)

    def import_submission(self) -> Failure | None:
        """Import the submission under recording; return why it failed, if it did."""
        before = dict(os.environ)
        try:
            with self._recorder.recording():
                if len(self._shapes) > 1:
                    warm_up()
                _settle_memory()
                module = import_submission(self._path)
            self._entry = find_entry(module)
        except BaseException as error:
            return classify(error, self._path, self._target, importing=True)
        for text in environment_warnings(before):
            self._recorder.warn(text)
        return None

    def trace_shapes(self, emit: Emit) -> None:
        """Trace every shape and emit an event for each."""
        fan_out(self._shapes, self._trace_shape, self._jobs, emit)

    def _trace_shape(self, shape: dict[str, Any]) -> dict[str, Any]:
        try:
            plan = self._plan(shape)
            self._write(plan)
        except BaseException as error:
            return failed_event(shape["id"], classify(error, self._path, self._target, importing=False))
        empty = list(self._recorder.empty_launches)
        return {"event": "traced", "shape": shape["id"], "warnings": self.warnings, "empty_launches": empty}

    def _plan(self, shape: dict[str, Any]) -> Plan:
        assert self._entry is not None
        recorder, imported = self._recorder, len(self._recorder.steps)
        with recorder.mode:
            data = tuple(_fake_input(tensor) for tensor in shape["inputs"])
        inputs = [recorder.add_input(tensor) for tensor in data]
        with recorder.recording():
            result = self._entry(data)
        changes = self._generator.find_changes()
        if changes:
            raise TraceError("patched_generator", f"{changes[0]} is not what it was before the submission ran")
        kind, tensors = _outputs(result)
        outputs = [recorder.number(tensor) for tensor in tensors]
        return build_plan(shape["id"], recorder.tensors, recorder.steps, imported, inputs, outputs, kind)

    def _write(self, plan: Plan) -> None:
        """Write the plan, and the kernels and sources that it names.

        Raises:
            TraceError: the plan exceeds the limits of the format.
        """
        document = encode_plan(plan)
        try:
            parse_plan(document)
        except ArtifactError as error:
            raise TraceError("plan_too_large", str(error)) from None
        _write_json(self._out_dir / "plans" / f"{plan.shape_id}.json", document)
        for launch in plan.launches:
            kernel = self._launches.kernels[launch.kernel]
            fields = {
                "ttir": kernel.ttir,
                "options": kernel.options,
                "name": kernel.name,
                "params": list(kernel.params),
            }
            _write_json(self._out_dir / "kernels" / f"{launch.kernel}.json", fields)
            _write(self._out_dir / "sources" / f"{launch.source}.py", self._launches.sources[launch.source])


def _settle_memory() -> None:
    """Keep what exists out of the garbage collector's sight: forked processes then share it instead of copying it."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _fake_input(tensor: dict[str, Any]) -> torch.Tensor:
    return torch.empty(tuple(tensor["shape"]), dtype=getattr(torch, tensor["dtype"]), device="cuda")


def _outputs(result: Any) -> tuple[str, tuple[torch.Tensor, ...]]:
    """Return the kind of a result, and its tensors.

    Raises:
        TraceError: it is not a tensor, or a tuple or list of tensors, on the GPU.
    """
    kind = "tensor" if isinstance(result, torch.Tensor) else type(result).__name__
    if isinstance(result, (tuple, list)):
        kind = "list" if isinstance(result, list) else "tuple"
    elif kind != "tensor":
        raise TraceError(
            "wrong_output", f"custom_kernel returned {_described(result)}, not a tensor or a tuple of tensors"
        )
    tensors = (result,) if kind == "tensor" else tuple(result)
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, torch.Tensor):
            raise TraceError("wrong_output", f"output {index} of custom_kernel is {_described(tensor)}, not a tensor")
        if tensor.device.type != "cuda":
            raise TraceError("wrong_output", f"output {index} of custom_kernel is on {tensor.device}, not on the GPU")
    return kind, tensors


def _described(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _write_json(path: Path, document: dict[str, Any]) -> None:
    _write(path, json.dumps(document, separators=(",", ":")))


def _write(path: Path, text: str) -> None:
    """Write a file whole: several processes may write the same one, with the same content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
