"""The probing process: an event's `generate_input` and `ref_kernel` called at given shapes, and what tensors were seen.

usage: python -m harness.qualify.probe REQUEST

It runs in the sandbox that submissions have, because the code is anybody's; what it says is hostile data to its parent.
REQUEST is a JSON file: {"source": module text, "takes_seed": bool, "calls": [arguments, ...]}. One JSON object is
written to a private copy of stdout: {"calls": [...]} or {"error": text}.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import torch

SEED = 1
MODULE = "reference.py"


def main(arguments: list[str]) -> int:
    """Make the calls of a request."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    torch.set_num_threads(1)
    request = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    try:
        module: dict[str, Any] = {"__name__": "probed", "__source__": request["source"]}
        exec(compile(request["source"], MODULE, "exec"), module)  # noqa: S102 - this is what the sandbox is for
        answer: dict[str, Any] = {"calls": [_call(module, call, request["takes_seed"]) for call in request["calls"]]}
    except BaseException as error:  # whatever it raises, SystemExit too, is an answer
        answer = {"error": _told(error, request["source"])}
    replies.write(json.dumps(answer))
    replies.flush()
    return 0


def _call(module: dict[str, Any], call: dict[str, Any], takes_seed: bool) -> dict[str, Any]:
    torch.manual_seed(SEED)
    data = module["generate_input"](**call, **({"seed": SEED} if takes_seed else {}))
    given = list(data) if isinstance(data, (tuple, list)) else [data]
    copies = [tensor.clone() for tensor in given]
    result, fault = _refer(module, copies, single=not isinstance(data, (tuple, list)))
    returned = list(result) if isinstance(result, (tuple, list)) else [result]
    storages = [tensor.untyped_storage().data_ptr() for tensor in copies]
    return {
        "inputs": [_form(tensor) for tensor in given],
        "outputs": [_form(tensor) for tensor in returned],
        "single": not isinstance(data, (tuple, list)),
        "same": [_index(storages, tensor.untyped_storage().data_ptr()) for tensor in returned],
        "modified": [i for i, (a, b) in enumerate(zip(given, copies, strict=True)) if not torch.equal(a, b)],
        "float64_fault": fault,
    }


def _refer(module: dict[str, Any], given: list[torch.Tensor], *, single: bool) -> tuple[Any, str]:
    """Call the reference as it is meant, and once in float64 to see whether it can be."""
    fault = ""
    try:
        wide = [tensor.double() if tensor.is_floating_point() else tensor.clone() for tensor in given]
        result = module["ref_kernel"](wide[0] if single else tuple(wide))
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        narrow = [str(t.dtype)[6:] for t in outputs if t.is_floating_point() and t.dtype != torch.float64]
        fault = f"it returns {narrow[0]} from float64 inputs" if narrow else ""
    except Exception as error:
        fault = _told(error, module["__source__"])
    return module["ref_kernel"](given[0] if single else tuple(given)), fault


def _form(tensor: torch.Tensor) -> list[Any]:
    return [list(tensor.shape), str(tensor.dtype)[6:]]


def _index(storages: list[int], storage: int) -> int:
    return storages.index(storage) if storage in storages else -1


def _told(error: BaseException, source: Any) -> str:
    """Say what was raised, and on which line of the source."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == MODULE and f.lineno]
    where = f" in `{str(source).splitlines()[lines[-1] - 1].strip()}`" if lines else ""
    return f"{type(error).__name__}: {error}{where}"[:1000]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
