"""What makes two artifacts one program: the same steps, launching the same machine code. Pure; hashes only.

A name, a comment, a docstring, a file that nothing imports, a line that moved: none of these reach a GPU, so none makes
another program. What a GPU would do otherwise does, and so does what idles on purpose: this tells runs that are the
same, not programs that are worth the same.

Artifacts may be hostile: a cubin that cannot be read stands for itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from harness.artifact.cubin import read_code
from harness.artifact.storing import Artifact, Kernel
from harness.errors import ArtifactError
from harness.plan import LaunchStep, Plan, encode_plan

_FACTS_OF_NO_LAUNCH = ("name", "stages", "assembly", "stores", "cpu_s")
_OF_NO_EFFECT = ("line", "source", "function", "origin")


def identify_program(artifact: Artifact) -> str:
    """Return the hash of what an artifact has a GPU do, over all of its shapes."""
    codes = {key: _identify_kernel(kernel) for key, kernel in artifact.kernels.items()}
    return _hash({shape: _canonical_plan(plan, codes) for shape, plan in artifact.plans.items()})


def _identify_kernel(kernel: Kernel) -> str:
    """Return the hash of a kernel's machine code, its constants, and what a launch of it takes."""
    try:
        code = read_code(kernel.cubin)
    except ArtifactError:
        code = (kernel.cubin,)
    facts = {name: value for name, value in asdict(kernel.facts).items() if name not in _FACTS_OF_NO_LAUNCH}
    return _hash({"code": [hashlib.sha256(part).hexdigest() for part in code], "facts": facts})


def _canonical_plan(plan: Plan, codes: Mapping[str, str]) -> dict[str, Any]:
    """Return a plan's document with each kernel by its code, without what says only where a step was written."""
    document = encode_plan(plan)
    for step, encoded in zip(plan.steps, document["steps"], strict=True):
        for name in _OF_NO_EFFECT:
            encoded.pop(name, None)
        if isinstance(step, LaunchStep):
            encoded["launch"] = codes[step.kernel]
            # A launch passes what is no constexpr, by place; types are the compiled kernel's.
            encoded["args"] = [value for _, kind, value in encoded["args"] if kind != "constexpr"]
    return document


def _hash(document: Any) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
