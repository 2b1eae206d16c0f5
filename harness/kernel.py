"""One kernel: what goes into its assembly and what comes out. Pure data, shared by both sides of the process border."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from harness.errors import ArtifactError

if TYPE_CHECKING:  # only named here: targets are read from YAML, which a GPU machine need not have
    from harness.target import Target

MAX_TTIR_BYTES = 4 << 20
MAX_CUBIN_BYTES = 32 << 20
_KEY = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.]{0,255}")

Option = bool | int | float | str | None


@dataclass(frozen=True)
class KernelSource:
    """A kernel as the tracer handed it over: hostile text and hostile options.

    Attributes:
        key: sha256 over TTIR and options.
        ttir: the IR, as text.
        options: launch options that differ from Triton's defaults, by name.
    """

    key: str
    ttir: str
    options: tuple[tuple[str, Option], ...]


@dataclass(frozen=True)
class KernelFacts:
    """What a launch needs to know, all from the compiler's result.

    Attributes:
        name: the entry's symbol.
        params: Triton types of the entry's parameters, in order.
        threads: threads of a block (warp specialisation included).
        warps, stages, ctas: as compiled; `ctas` is the size of a cluster.
        shared_bytes: dynamic shared memory; `static_shared_bytes` comes on top.
        global_scratch_bytes: scratch per program in global memory, with its alignment.
        registers, stack_bytes: per thread; a stack means spills.
        cooperative, dependent: launch attributes (grid barrier; programmatic dependent launch).
        descriptors: one layout per host-side tensor descriptor parameter.
        assembly: inline assembly in the IR that is not Helion's own.
        stores: whether the kernel writes memory at all.
        cpu_s: CPU-seconds that its assembly took.
    """

    name: str
    params: tuple[str, ...]
    threads: int
    warps: int
    stages: int
    ctas: int
    shared_bytes: int
    static_shared_bytes: int
    global_scratch_bytes: int
    global_scratch_align: int
    profile_scratch_bytes: int
    profile_scratch_align: int
    tensor_memory_columns: int
    registers: int
    stack_bytes: int
    cooperative: bool
    dependent: bool
    descriptors: tuple[dict[str, Any], ...] = ()
    assembly: tuple[str, ...] = ()
    stores: bool = True
    cpu_s: float = 0.0

    def find_excess(self, target: Target) -> str | None:
        """Return what the kernel needs more of than the target has for one block, None if it can be launched."""
        shared = self.shared_bytes + max(self.static_shared_bytes, target.static_shared_bytes)
        if shared > target.shared_memory_per_block_optin_bytes:
            most = target.shared_memory_per_block_optin_bytes
            return (
                f"needs {shared / 1024:.0f} KiB of shared memory; {target.name} has {most / 1024:.0f} KiB for a block"
            )
        if self.threads > target.max_threads_per_block:
            return f"needs {self.threads} threads a block; {target.name} has {target.max_threads_per_block}"
        registers = -(-self.registers * target.warp_size // 256) * 256 * -(-self.threads // target.warp_size)
        if registers > target.registers_per_multiprocessor:
            return (
                f"needs {registers:,} registers; {target.name} has {target.registers_per_multiprocessor:,} for a block"
            )
        if self.tensor_memory_columns > target.tensor_memory_columns:
            columns = target.tensor_memory_columns
            return f"needs {self.tensor_memory_columns} columns of tensor memory; {target.name} has {columns}"
        return None

    def occupancy(self, target: Target) -> float:
        """Return the predicted share of a multiprocessor's threads that can be resident, 0 to 1."""
        warps = -(-self.threads // target.warp_size)
        per_warp = -(-self.registers * target.warp_size // 256) * 256  # registers are handed out 256 at a time
        by_registers = target.registers_per_multiprocessor // max(1, per_warp * warps)
        shared = self.shared_bytes + max(self.static_shared_bytes, target.static_shared_bytes)
        by_shared = target.shared_memory_per_multiprocessor_bytes // (-(-(shared + 1024) // 128) * 128)
        by_threads = target.max_threads_per_multiprocessor // max(1, warps * target.warp_size)
        blocks = min(by_registers, by_shared, by_threads, target.max_blocks_per_multiprocessor)
        return blocks * warps * target.warp_size / target.max_threads_per_multiprocessor


def kernel_key(ttir: str, options: Mapping[str, Option]) -> str:
    """Return the name under which a kernel is known: sha256 over its IR and its options."""
    text = json.dumps({"ttir": ttir, "options": dict(options)}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def parse_kernel_source(key: str, document: Any) -> KernelSource:
    """Read a kernel from the tracer's document.

    Raises:
        ArtifactError: it is not of the form, too large, or its key is not the hash of its content.
    """
    if not isinstance(document, dict) or not isinstance(document.get("ttir"), str):
        raise ArtifactError("kernel: the tracer's document is not of the form {ttir, options}")
    ttir, options = document["ttir"], document.get("options")
    if len(ttir) > MAX_TTIR_BYTES or not ttir.isascii():
        raise ArtifactError(
            f"kernel: its TTIR has more than {MAX_TTIR_BYTES >> 20} MiB, or is not ASCII as MLIR writes it"
        )
    if not isinstance(options, dict) or len(options) > 64:
        raise ArtifactError("kernel: options must be an object")
    for name, value in options.items():
        if not isinstance(value, (bool, int, float, str, type(None))) or len(str(value)) > 4096 or len(name) > 64:
            raise ArtifactError(f"kernel: option {name[:64]!r} is not a plain value")
    if not _KEY.fullmatch(key) or kernel_key(ttir, options) != key:
        raise ArtifactError("kernel: its key is not the hash of its content")
    return KernelSource(key, ttir, tuple(sorted(options.items())))


def encode_facts(facts: KernelFacts) -> dict[str, Any]:
    """Return the JSON document of a kernel's facts."""
    return asdict(facts)


def parse_facts(document: Any) -> KernelFacts:
    """Read a kernel's facts, checking form and ranges.

    Raises:
        ArtifactError: a field is missing, unknown, or out of range.
    """
    if not isinstance(document, dict) or set(document) != {f.name for f in fields(KernelFacts)}:
        raise ArtifactError("kernel facts: fields are missing or unknown")
    values = dict(document)
    for name in ("params", "assembly", "descriptors"):
        if not isinstance(values[name], list) or len(values[name]) > 512:
            raise ArtifactError(f"kernel facts: {name} must be a list")
        values[name] = tuple(values[name])
    for name, (kind, low, high) in _RANGES.items():
        value = values[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool) or not low <= value <= high:
            raise ArtifactError(f"kernel facts: {name} is out of range")
    if not isinstance(values["name"], str) or not _NAME.fullmatch(values["name"]):
        raise ArtifactError("kernel facts: name is not a symbol")
    if not all(isinstance(p, str) and len(p) <= 200 for p in values["params"]):
        raise ArtifactError("kernel facts: params must be type names")
    if not all(isinstance(text, str) for text in values["assembly"]):
        raise ArtifactError("kernel facts: assembly must be texts")
    if not all(isinstance(layout, dict) for layout in values["descriptors"]):
        raise ArtifactError("kernel facts: descriptors must be layouts")
    return KernelFacts(**values)


_RANGES: dict[str, tuple[Any, float, float]] = {
    "threads": (int, 1, 1024),
    "warps": (int, 1, 32),
    "stages": (int, 0, 64),
    "ctas": (int, 1, 16),
    "shared_bytes": (int, 0, 1 << 20),
    "static_shared_bytes": (int, 0, 1 << 20),
    "global_scratch_bytes": (int, 0, 1 << 30),
    "global_scratch_align": (int, 1, 1 << 12),
    "profile_scratch_bytes": (int, 0, 1 << 30),
    "profile_scratch_align": (int, 1, 1 << 12),
    "tensor_memory_columns": (int, 0, 1 << 12),
    "registers": (int, 0, 255),
    "stack_bytes": (int, 0, 1 << 20),
    "cooperative": (bool, 0, 1),
    "dependent": (bool, 0, 1),
    "stores": (bool, 0, 1),
    "cpu_s": ((int, float), 0, 1e6),
}
