"""The files that a trace leaves: plans, kernels and sources, read as hostile data.

Read after the trace, and before its end too: what is read then may be another thing later, and decides nothing but
that the trace need not go on.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.artifact import MAX_SOURCE_BYTES
from harness.errors import ArtifactError
from harness.kernel import KernelSource, parse_kernel_source
from harness.plan import Plan, parse_plan
from harness.sandbox import read_result
from harness.spec import Problem
from harness.strict_json import parse_strict

MAX_PLAN_BYTES = 2 << 20  # in memory a document takes up to twenty times that
MAX_KERNEL_BYTES = 8 << 20
MAX_RESULT_BYTES = 64 << 20  # of all files together


@dataclass
class TraceResults:
    """The files that the worker left, whose sizes it chose: what is read of them all is bounded.

    All methods raise ArtifactError or WorkerError for a file that is missing, too large, or not what it should be.
    """

    scratch: Path
    left_bytes: int = MAX_RESULT_BYTES

    def read_plan(self, shape: str, problem: Problem) -> Plan:
        """Read the plan of a shape."""
        plan = parse_plan(self._read_json(f"out/plans/{shape}.json", MAX_PLAN_BYTES))
        if plan.shape_id != shape or len(plan.inputs) != len(problem.inputs):
            raise ArtifactError(f"the plan of {shape} is not that shape's")
        return plan

    def read_kernel(self, key: str) -> KernelSource:
        """Read the kernel that has a key, which says what is in it."""
        return parse_kernel_source(key, self._read_json(f"out/kernels/{key}.json", MAX_KERNEL_BYTES))

    def read_source(self, digest: str) -> str:
        """Read the Triton source that has a digest."""
        content = self.read(f"out/sources/{digest}.py", MAX_SOURCE_BYTES)
        if hashlib.sha256(content).hexdigest() != digest:
            raise ArtifactError(f"source {digest[:12]} does not hash to its name")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise ArtifactError(f"source {digest[:12]} is not UTF-8 text") from None

    def read(self, name: str, most_bytes: int) -> bytes:
        """Read a file of at most so many bytes."""
        content = read_result(self.scratch, name, most_bytes)
        self.left_bytes -= len(content)
        if self.left_bytes < 0:
            raise ArtifactError(f"plans, kernels and sources together have more than {MAX_RESULT_BYTES >> 20} MiB")
        return content

    def _read_json(self, name: str, most_bytes: int) -> Any:
        try:
            return parse_strict(self.read(name, most_bytes).decode("utf-8"))
        except ValueError:
            raise ArtifactError(f"{name} is not JSON") from None
