"""TTIR to cubin through Triton's own stages, for a described GPU.

The stages are called one by one instead of `triton.compile`: no cache to poison, no override directory, no environment
variable that names a file. Options outside the allow-list never reach the compiler. What is compiled is the IR as MLIR
prints it, parsed a second time: locations, comments and spellings of the tracer's text do not survive that.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from triton import knobs
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.backends.nvidia.compiler import CUDAOptions
from triton.compiler.compiler import make_backend

from harness.assemble.cubin import Resources, read_resources
from harness.assemble.operations import Operations, inspect_operations
from harness.kernel import KernelFacts, Option

COMPILER_OPTIONS = frozenset(
    ["num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "launch_cooperative_grid", "launch_pdl"]
)


class RefusedIRError(Exception):
    """The IR holds what may not be assembled, or an option says what may not be said; the message names it."""


def assemble_ttir(
    path: Path, options: dict[str, Option], architecture: int, ptx_options: str | None
) -> tuple[bytes, KernelFacts]:
    """Compile the TTIR in `path`.

    Args:
        path: a file with the IR's text, named `*.ttir`.
        options: launch options.
        architecture: 90 for compute capability 9.0, and so on.
        ptx_options: assembler options of the season's advanced controls, or None.

    Returns:
        The cubin and the facts of its launch.

    Raises:
        RefusedIRError: something outside the allow-lists: an operation, attribute, type, constant, library or option.
        Exception: whatever Triton's compiler raises.
    """
    if not set(options) <= COMPILER_OPTIONS:
        raise RefusedIRError(f"launch option {min(set(options) - COMPILER_OPTIONS)}")
    knobs.compilation.disable_line_info = True
    started = time.process_time()
    backend = make_backend(GPUTarget("cuda", architecture, 32))
    module = _parse_module(path, backend)
    operations = inspect_operations(module)
    if operations.refused or operations.libraries:
        raise RefusedIRError(", ".join((*operations.refused, *operations.libraries)))
    parsed = backend.parse_options(dict(options) | ({"ptx_options": ptx_options} if ptx_options else {}))
    metadata: dict[str, Any] = dict(parsed.__dict__)
    params = tuple(module.get_function_signature(module.get_function(module.get_entry_func_name())))
    stages: dict[str, Any] = {}
    backend.add_stages(stages, parsed, Language.TRITON)
    for stage in ("ttgir", "llir", "ptx", "cubin"):
        module = stages[stage](module, metadata)
    resources = read_resources(module, metadata["name"])
    return module, _gather_facts(metadata, params, operations, resources, time.process_time() - started)


def describe_options(options: dict[str, Option]) -> str:
    """Return what a kernel's code is spread over, Triton's defaults where its options are silent."""
    return ", ".join(f"{name}={options.get(name, getattr(CUDAOptions, name))}" for name in ("num_warps", "num_stages"))


def _parse_module(path: Path, backend: Any) -> Any:
    """Parse the tracer's text, and then MLIR's own printing of it."""
    printed = path.with_suffix(".printed.ttir")
    printed.write_text(_parse_file(path, backend).str_nodebug(), encoding="utf-8")
    return _parse_file(printed, backend)


def _parse_file(path: Path, backend: Any) -> Any:
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = ir.parse_mlir_module(str(path), context)
    module.context = context  # Triton's stages look for it there
    return module


def _gather_facts(
    metadata: dict[str, Any], params: tuple[str, ...], operations: Operations, resources: Resources, cpu_s: float
) -> KernelFacts:
    """Return what a launch needs: from the compiler's metadata, which warp specialisation changes, and the cubin."""
    return KernelFacts(
        name=metadata["name"],
        params=params,
        threads=metadata["num_warps"] * 32,
        warps=metadata["num_warps"],
        stages=metadata["num_stages"],
        ctas=metadata["num_ctas"],
        shared_bytes=metadata["shared"],
        static_shared_bytes=resources.static_shared_bytes,
        global_scratch_bytes=metadata.get("global_scratch_size", 0),
        global_scratch_align=max(1, metadata.get("global_scratch_align", 1)),
        profile_scratch_bytes=metadata.get("profile_scratch_size", 0),
        profile_scratch_align=max(1, metadata.get("profile_scratch_align", 1)),
        tensor_memory_columns=metadata.get("tmem_size", 0),
        registers=resources.registers,
        stack_bytes=resources.stack_bytes,
        cooperative=metadata["launch_cooperative_grid"],
        dependent=metadata["launch_pdl"],
        descriptors=tuple(metadata.get("tensordesc_meta") or ()),
        assembly=operations.assembly,
        stores=operations.stores,
        cpu_s=round(cpu_s, 3),
    )
