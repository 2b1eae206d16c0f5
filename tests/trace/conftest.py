"""Fixtures of the trace's tests: real traces, in processes forked from one that has Helion imported."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.kernel import kernel_key
from harness.plan import LaunchStep, OpStep, Plan, parse_plan

SUBMISSIONS = Path(__file__).parents[1] / "submissions"


@dataclass(frozen=True)
class Traced:
    """What a trace left behind."""

    events: list[dict[str, Any]]
    out: Path
    order: list[str | None]

    def plan(self, shape: str = "S") -> Plan:
        failures = [event for event in self.events if event["event"] == "failed"]
        assert not failures, failures
        return parse_plan(json.loads((self.out / "plans" / f"{shape}.json").read_text()))

    def kernel(self, launch: LaunchStep) -> dict[str, Any]:
        document = json.loads((self.out / "kernels" / f"{launch.kernel}.json").read_text())
        assert kernel_key(document["ttir"], document["options"]) == launch.kernel
        return document

    def source(self, launch: LaunchStep) -> str:
        return (self.out / "sources" / f"{launch.source}.py").read_text()

    def failure(self, shape: str | None = "S") -> dict[str, Any]:
        (event,) = (e for e in self.events if e["event"] == "failed" and e["shape"] == shape)
        return event

    @property
    def warnings(self) -> list[str]:
        """Every warning once, by shape (shapes are traced side by side and end in any order)."""
        events = sorted(self.events, key=lambda event: self.order.index(event.get("shape")))
        return list(dict.fromkeys(text for event in events for text in event.get("warnings", [])))


def ops(plan: Plan) -> list[str]:
    """Name the steps: operators by name, launches by function."""
    return [
        s.op if isinstance(s, OpStep) else f"launch {s.function}" if isinstance(s, LaunchStep) else "constant"
        for s in plan.steps
    ]


Trace = Callable[..., Traced]


@pytest.fixture(scope="session")
def warm_tracer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    folder = tmp_path_factory.mktemp("tracer")
    log = (folder / "log").open("w")
    command = [sys.executable, "-m", "tests.trace.warm_tracer", str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    yield process
    process.stdin.close()
    process.wait(timeout=20)


@pytest.fixture
def trace(warm_tracer: subprocess.Popen[str], tmp_path: Path) -> Trace:
    """Trace a submission: a file of tests/submissions by name, or a text. Shapes: name -> list of (sizes, dtype)."""

    def run(submission: str, *inputs: Any, shapes: dict[str, Any] | None = None, **request: Any) -> Traced:
        path = SUBMISSIONS / f"{submission}.py"
        if "\n" in submission:
            path = tmp_path / "submission.py"
            path.write_text(submission, errors="surrogateescape")
        out, events = tmp_path / "out", tmp_path / "events"
        shapes = shapes or {"S": inputs or ([256],)}
        document = request_document(path, shapes, **request)
        print(
            json.dumps({"request": document, "out": str(out), "events": str(events)}),
            file=warm_tracer.stdin,
            flush=True,
        )
        assert warm_tracer.stdout.readline() == "done\n"
        return Traced([json.loads(line) for line in events.read_text().splitlines()], out, [None, *shapes])

    return run


def request_document(path: Path, shapes: dict[str, Any], **request: Any) -> dict[str, Any]:
    """Write a request; an input is a list of sizes (float32) or a pair of sizes and dtype."""

    def tensor(item: Any) -> dict[str, Any]:
        sizes, dtype = item if isinstance(item, tuple) else (item, "float32")
        return {"shape": list(sizes), "dtype": dtype}

    described = [{"id": name, "inputs": [tensor(item) for item in inputs]} for name, inputs in shapes.items()]
    defaults = {"target": "b200", "jobs": 2, "portable": False, "advanced_controls": None}
    return {"submission": str(path), "shapes": described} | defaults | request
