"""What the attacks here have in common: the ways from a submission into the tracer that runs it.

A submission shares its process with the tracer, so that whatever the tracer writes may be forged. Files that begin with
`from forging import ...` find this module beside them.
"""

import dataclasses
import hashlib
import json
import os
import sys

import helion
import helion.language as hl
import torch

from harness.kernel import kernel_key
from harness.plan import LaunchStep
from harness.trace import session


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] * s[rows][:, None]
    return y


@helion.kernel(config=helion.Config(block_sizes=[4, 16]), static_shapes=True)
def decoy(y: torch.Tensor) -> torch.Tensor:
    for rows, columns in hl.tile(y.shape):
        y[rows, columns] = y[rows, columns]
    return y


def custom_kernel(data):
    return scale(*data)


def processes():
    """Return the numbers of the processes that can be seen, or else those that there may be."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return list(range(1, 5000))


def tracer():
    """Return the tracer's emit function, its request and its output folder, found on the stack."""
    frame = sys._getframe()
    while not (frame.f_code.co_name == "trace" and "emit" in frame.f_locals):
        frame = frame.f_back
    return tuple(frame.f_locals[name] for name in ("emit", "request", "out_dir"))


def claim_all_traced(warnings=()):
    emit, request, _ = tracer()
    emit({"event": "imported", "cpu_s": 0, "wall_s": 0, "warnings": list(warnings)})
    for shape in request["shapes"]:
        emit({"event": "traced", "shape": shape["id"], "cpu_s": 0, "wall_s": 0, "warnings": []})


def forge_plan(change):
    """Have `change` edit the plan's document before it is written."""
    real = session.encode_plan

    def encode(plan):
        document = real(plan)
        change(document)
        return document

    session.encode_plan, session.parse_plan = encode, lambda document: None


def forge_text(change):
    """Have `change` edit the text of the plan's document."""

    def write(path, document):
        text = json.dumps(document)
        session._write(path, change(text) if path.parent.name == "plans" else text)

    session._write_json, session.parse_plan = write, lambda document: None


def forge_ttir(change):
    """Have `change` edit the kernels' IR; keys are made to fit."""
    real = session.Session._write

    def write(self, plan):
        steps = list(plan.steps)
        for index, step in enumerate(steps):
            if isinstance(step, LaunchStep):
                kernel = self._launches.kernels[step.kernel]
                changed = dataclasses.replace(kernel, ttir=change(kernel.ttir))
                key = kernel_key(changed.ttir, changed.options)
                self._launches.kernels[key], steps[index] = changed, dataclasses.replace(step, kernel=key)
        real(self, dataclasses.replace(plan, steps=tuple(steps)))

    session.Session._write = write


def forge_source(change):
    """Have `change` edit the Triton source that CPU replay executes; its name is made to fit."""
    real = session.Session._write

    def write(self, plan):
        steps = list(plan.steps)
        for index, step in enumerate(steps):
            if isinstance(step, LaunchStep):
                text = change(self._launches.sources[step.source])
                digest = hashlib.sha256(text.encode()).hexdigest()
                self._launches.sources[digest], steps[index] = text, dataclasses.replace(step, source=digest)
        real(self, dataclasses.replace(plan, steps=tuple(steps)))

    session.Session._write = write
