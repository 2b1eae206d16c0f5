"""`harness verify`: is an artifact's machine code what its IR gives?

An artifact ties each cubin to the IR that it claims to come from by nothing but the word of whoever made it. Here the
IR is assembled again, in the assembler's sandbox, and cubin and facts are compared. The artifact is hostile; what is
not compared is not believed. Whether the IR came from Helion is another question: `evidence` has what can be said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.artifact import Artifact, Kernel
from harness.artifact.cubin import read_architecture
from harness.assemble.cubin import differing_sections
from harness.engine.assembly import Assembled, run_assembly
from harness.engine.budget import CompileBudget
from harness.engine.kernel_cache import KernelCache
from harness.engine.progress import Listener
from harness.engine.tracing import Traced
from harness.engine.workspace import scratch_folder
from harness.errors import ArtifactError
from harness.policy import check_options
from harness.sandbox import Level
from harness.spec import Season
from harness.target import Target, load_target

MACHINE_CODE_TOOLS = ("triton",)
"""What decides which machine code an IR gives: Triton brings its compiler and assemblers along."""


@dataclass(frozen=True)
class KernelComparison:
    """One kernel of an artifact, compared with what its IR gives; no `differences`: it is the same."""

    key: str
    name: str
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Verification:
    """What comparing an artifact gave.

    Attributes:
        key: the artifact's.
        kernels: every kernel.
        other_tools: the tools whose version differs, each with the artifact's and this machine's.
    """

    key: str
    kernels: tuple[KernelComparison, ...]
    other_tools: Mapping[str, tuple[str, str]]

    @property
    def same(self) -> bool:
        """Whether every kernel is what its IR gives."""
        return not any(kernel.differences for kernel in self.kernels)


def run_verify(
    artifact: Artifact, season: Season, level: Level, toolchain: Mapping[str, str], listener: Listener
) -> Verification:
    """Assemble an artifact's kernels again and compare.

    Args:
        artifact: validated in form.
        season: whose advanced controls, and whose time limits.
        level: of the sandbox to assemble in.
        toolchain: what is installed here.
        listener: is told how it goes.
    """
    target = load_target(artifact.manifest.target)
    controls = frozenset(item.id for item in season.advanced_controls)
    refused = {
        key: tuple(violation.message for violation in check_options(dict(kernel.source.options), controls))
        for key, kernel in artifact.kernels.items()
    }
    allowed = {key: kernel for key, kernel in artifact.kernels.items() if not refused[key]}
    fresh = _assemble(artifact, allowed, target, season, level, listener)
    compared = {key: _compare(kernel, fresh[key], target) for key, kernel in allowed.items()}
    kernels = tuple(
        KernelComparison(key, kernel.facts.name, refused[key] or compared[key])
        for key, kernel in artifact.kernels.items()
    )
    built = artifact.manifest.toolchain
    tools = {tool: (built.get(tool, "unknown"), toolchain[tool]) for tool in MACHINE_CODE_TOOLS}
    return Verification(artifact.manifest.key, kernels, {t: v for t, v in tools.items() if v[0] != v[1]})


def _assemble(
    artifact: Artifact, kernels: Mapping[str, Kernel], target: Target, season: Season, level: Level, listener: Listener
) -> dict[str, Kernel | str]:
    """Return every kernel assembled afresh, or why it cannot be; one that cannot stops none of the others."""
    found = _run(artifact, kernels, target, season, level, listener)
    if not isinstance(found, str):
        return dict(found)
    if len(kernels) == 1:
        return dict.fromkeys(kernels, found)
    return {
        key: fresh
        for key, kernel in kernels.items()
        for fresh in _assemble(artifact, {key: kernel}, target, season, level, listener).values()
    }


def _run(
    artifact: Artifact, kernels: Mapping[str, Kernel], target: Target, season: Season, level: Level, listener: Listener
) -> Mapping[str, Kernel] | str:
    sources = {key: kernel.source for key, kernel in kernels.items()}
    manifest = artifact.manifest
    traced = Traced(artifact.plans, sources, artifact.sources, manifest.shapes, manifest.import_cost, ())
    budget = CompileBudget(season.budgets.compile_cpu_s, season.budgets.compile_wall_s)
    with scratch_folder() as nothing_cached:
        cache = KernelCache(Path(nothing_cached))
        result = run_assembly(traced, target, season, level, cache, budget, listener)
    return result.kernels if isinstance(result, Assembled) else f"its IR does not assemble: {result.message}"


def _compare(kernel: Kernel, fresh: Kernel | str, target: Target) -> tuple[str, ...]:
    """Return how a kernel differs from what its IR gives."""
    if isinstance(fresh, str):
        return (fresh,)
    differences = []
    architecture = read_architecture(kernel.cubin)
    if architecture != target.architecture:
        differences.append(f"machine code for architecture {architecture}; {target.name} has {target.architecture}")
    elif kernel.cubin != fresh.cubin:
        differences.append(f"machine code differs in {_differing(kernel.cubin, fresh.cubin)}")
    stated, found = asdict(kernel.facts), asdict(fresh.facts)
    for name in stated:
        if name != "cpu_s" and _plain(stated[name]) != _plain(found[name]):
            differences.append(f"fact {name}: {_shown(stated[name])} stated, {_shown(found[name])} found")
    return tuple(differences)


def _differing(stated: bytes, found: bytes) -> str:
    try:
        first, *others = differing_sections(stated, found)
    except ArtifactError:
        return "a form that cannot be read"
    return f"{first} and {len(others)} other section{'s' * (len(others) > 1)}" if others else first


def _plain(value: object) -> object:
    """Return a value as JSON gives it back: a tuple that was stored is a list."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
