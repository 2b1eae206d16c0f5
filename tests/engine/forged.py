"""Artifacts made by hand from IR that is really assembled, and what a forger makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.artifact import Artifact, BuildCost, Kernel, save_artifact
from harness.kernel import KernelSource, kernel_key, parse_facts
from harness.plan import Argument, LaunchStep, Plan, Tensor
from harness.toolchain import installed_versions
from tests.core.test_artifact import MANIFEST, META, SOURCE, TEXT
from tests.core.test_assemble import COPY, assemble


def assembled(folder: Path, texts: Mapping[str, str], architecture: int = 100) -> dict[str, Kernel]:
    """Assemble IR texts, by name."""
    ends, out = assemble(folder, [(text, {"num_warps": 4}) for text in texts.values()], architecture)
    kernels = {}
    for (name, text), end in zip(texts.items(), ends, strict=True):
        assert end["event"] == "assembled", end
        facts = parse_facts(json.loads((out / f"{end['kernel']}.json").read_text()))
        source = KernelSource(end["kernel"], text, (("num_warps", 4),))
        kernels[name] = Kernel(source, (out / f"{end['kernel']}.cubin").read_bytes(), facts)
    return kernels


def with_source(kernel: Kernel, ttir: str, **options: Any) -> Kernel:
    """Pass a kernel off as another IR's."""
    options = {"num_warps": 4, **options}
    return replace(kernel, source=KernelSource(kernel_key(ttir, options), ttir, tuple(sorted(options.items()))))


def save(folder: Path, kernels: Mapping[str, Kernel], **manifest: Any) -> Path:
    """Save an artifact of these kernels; a launch of each."""
    keyed = {kernel.source.key: kernel for kernel in kernels.values()}
    arguments = tuple(Argument(name, "*fp32", Tensor(0)) for name in "ab")
    steps = tuple(LaunchStep(key, SOURCE, "copy", (1, 1, 1), arguments, "helion", 1) for key in keyed)
    plan = Plan("N4", (META,), (0,), (0,), "tensor", steps)
    costs = {key: BuildCost(1.0, 1.0) for key in keyed}
    values = {"kernels": costs, "toolchain": installed_versions(), "problem": "scale", "sources": (SOURCE,), **manifest}
    save_artifact(Artifact(replace(MANIFEST, **values), {"N4": plan}, keyed, {SOURCE: TEXT}), folder)
    return folder


def variant(number: int) -> str:
    """Return the IR of another kernel of the same form."""
    line = "    %w = arith.addf %v, %v : tensor<256xf32>\n"
    return COPY.replace("    tt.store %bp, %v", line + "    tt.store %bp, %w") + "\n" * number


__all__ = ["COPY", "assembled", "save", "variant", "with_source"]
