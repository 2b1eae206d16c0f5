"""`harness doctor --gpu`: how fast this machine's GPU is, beside what its datasheet says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import print_json, print_renderable
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.target import Target


HOST_MEMORY = (
    "Kernels on this GPU can address the host's memory (PAGEABLE_MEMORY_ACCESS): replays here are not ranked, because "
    "a kernel could forge its own result"
)


def show_rates(*, as_json: bool) -> int:
    """Measure and print; return the exit code.

    Raises:
        UsageError: there is no GPU here.
        WorkerError: it cannot be used; the message says what is missing.
    """
    from harness.engine.gpu_node import local_node
    from harness.engine.gpu_rates import measure_rates
    from harness.engine.local_gpus import find_local_gpu
    from harness.engine.replaying import NO_GPU
    from harness.engine.workspace import find_workspace
    from harness.target import load_target, target_names

    gpu = find_local_gpu()
    if gpu is None:
        raise UsageError(f"doctor --gpu measures a GPU: {NO_GPU}")
    measured = measure_rates(local_node(find_workspace(Path.cwd()).state, gpu))
    target = next((t for t in map(load_target, target_names()) if gpu.is_of(t)), None)
    stated = _stated(target) if target is not None else {}
    if as_json:
        facts = {"addresses_host_memory": measured.addresses_host_memory}
        print_json({"gpu": gpu.name, "measured": measured.rates, "stated": stated, **facts})
    else:
        print_renderable(_table(gpu.name, measured.rates, stated))
        if measured.addresses_host_memory:
            print(HOST_MEMORY)
    return 0


def _stated(target: Target) -> dict[str, float]:
    """Return the datasheet's rates, by the names of the measured ones."""
    return {"copy_tb_per_s": target.memory_tb_per_s} | {f"{n}_tflops": float(r) for n, r in target.tflops.items()}


def _table(gpu: str, rates: dict[str, float], stated: dict[str, float]) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from harness.board.text import percent
    from harness.text import clean

    table = Table("", "measured", "datasheet", "share", box=box.SIMPLE, title=clean(gpu))
    for name, rate in rates.items():
        what, unit = ("copy", "TB/s") if name == "copy_tb_per_s" else (name.removesuffix("_tflops"), "TFLOP/s")
        limit = stated.get(name)
        shown = [f"{rate:.4g} {unit}", f"{limit:g} {unit}" if limit else "", percent(rate / limit) if limit else ""]
        table.add_row(Text(what), *map(Text, shown))
    return table
