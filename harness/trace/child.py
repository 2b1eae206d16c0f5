"""The trace: a process that imports a submission on fake tensors of a described GPU and writes launch plans.

Owns the order of the steps: describe the GPU, import torch and Helion, import the submission once, then trace
every shape in a forked process of its own. This process is the submission's as soon as that is imported: nothing
that it writes is to be trusted, and it holds nothing worth stealing. Its parent sandboxes it.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from harness.target import load_target
from harness.trace.failures import REASONS, Failure
from harness.trace.protocol import Emit, failed_event, open_protocol


def main(arguments: list[str]) -> int:
    """Trace the submission that a request names.

    Args:
        arguments: the path of the request (JSON) and of the folder to write to.
    """
    started_s = time.perf_counter()
    gc.disable()  # imports make a million objects that stay: no garbage to search for, again and again
    emit = open_protocol()
    request_path, out_dir = arguments
    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="trace-", ignore_cleanup_errors=True) as scratch:
        try:
            import_toolchain(request["target"], Path(scratch))
        except Exception as error:
            traceback.print_exc()
            told = f"the toolchain cannot be imported: {type(error).__name__}: {error}. {REASONS['harness_error']}"
            emit(failed_event(None, Failure("harness_error", told)))
            return 1
        emit({"event": "begun"})  # what is told from here on may be the submission's word
        trace(request, Path(out_dir), emit, started_s)
    return 0


def import_toolchain(target: str, scratch: Path) -> None:
    """Import torch, Triton and Helion for a described GPU; the most expensive step, and the same for everybody.

    Args:
        target: the GPU's name.
        scratch: where compilers may keep their caches.
    """
    described = load_target(target)
    for name, folder in (("TORCHINDUCTOR_CACHE_DIR", "inductor"), ("TRITON_CACHE_DIR", "triton")):
        os.environ[name] = str(scratch / folder)
    os.environ["HELION_DISALLOW_AUTOTUNING"] = "1"
    from harness.trace.described_gpu import install_gpu

    install_gpu(described)
    # Helion imports scikit-learn for its autotuner, where it can do without. Nothing is tuned here, and the import
    # takes as long as the rest of Helion: let it find none. A submission that imports it gets the real one.
    absent = "sklearn" not in sys.modules
    if absent:
        sys.modules["sklearn"] = None  # type: ignore[assignment]
    importlib.import_module("helion.language")
    if absent:
        del sys.modules["sklearn"]


def trace(request: dict[str, Any], out_dir: Path, emit: Emit, started_s: float) -> None:
    """Import the submission and trace every shape of a request.

    Args:
        request: as described in the package's documentation.
        out_dir: where plans, kernels and sources go.
        emit: where events go.
        started_s: when the process began, on `time.perf_counter`.
    """
    from harness.trace.session import Session

    session = Session(request, out_dir)
    failure = session.import_submission()
    if failure:
        emit(failed_event(None, failure))
        return
    wall_s = round(time.perf_counter() - started_s, 3)
    emit({"event": "imported", "cpu_s": cpu_s(), "wall_s": wall_s, "warnings": session.warnings})
    session.trace_shapes(emit)


def cpu_s() -> float:
    """Return the CPU time of this process and its finished children, in seconds."""
    times = os.times()
    return round(times.user + times.system + times.children_user + times.children_system, 3)
