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
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from harness.dtypes import DTYPE_BYTES
from harness.replay.poison import same_bits

SEED = 1
MODULE = "reference.py"


def main(arguments: list[str]) -> int:
    """Make the calls of a request."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    torch.set_num_threads(1)
    request = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    try:
        module = sys.modules["probed"] = ModuleType("probed")  # dataclasses look their own module up
        module.__dict__["__source__"] = request["source"]
        exec(compile(request["source"], MODULE, "exec"), module.__dict__)  # noqa: S102 - what the sandbox is for
        with torch.no_grad():
            calls = [_call(module, call, request["takes_seed"]) for call in request["calls"]]
        answer: dict[str, Any] = {"calls": calls}
    except BaseException as error:  # whatever it raises, SystemExit too, is an answer
        answer = {"error": _told(error, request["source"])}
    replies.write(json.dumps(answer))
    replies.flush()
    return 0


def _call(module: ModuleType, call: dict[str, Any], takes_seed: bool) -> dict[str, Any]:
    data = _draw(module, {**call, **({"seed": SEED} if takes_seed else {})})
    given: list[torch.Tensor] = []
    layout = _lay_out(data, given, "data", "generate_input")
    copies = [tensor.clone() for tensor in given]
    fault = _try_float64(module, data, given)
    result = module.ref_kernel(_with_tensors(data, iter(copies)))
    modified = [number for number, tensors in enumerate(zip(given, copies, strict=True)) if not _alike(*tensors)]
    outputs = [copies[number] for number in modified] if result is None else _results(result)
    storages = [tensor.untyped_storage().data_ptr() for tensor in copies]
    return {
        "layout": layout,
        "inputs": [_form(tensor) for tensor in given],
        "outputs": [_form(tensor) for tensor in outputs],
        "same": [_index(storages, tensor.untyped_storage().data_ptr()) for tensor in outputs],
        "modified": modified,
        "unfilled": [number for number, tensor in enumerate(given) if _is_unfilled(tensor)],
        "zero": [number for number, tensor in enumerate(given) if tensor.numel() and not tensor.double().any()],
        "in_place": result is None,
        "float64_fault": fault,
    }


def _draw(module: ModuleType, arguments: dict[str, Any]) -> Any:
    """Call the generator, with memory that it does not fill made recognisable."""
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True, warn_only=True)  # fills new memory: `_is_unfilled` says with what
    try:
        return module.generate_input(**arguments)
    finally:
        torch.use_deterministic_algorithms(False)


def _is_unfilled(tensor: torch.Tensor) -> bool:
    if not tensor.numel() or tensor.dtype == torch.bool:
        return False
    floating = tensor.is_floating_point()
    return bool((tensor.double().isnan() if floating else tensor == torch.iinfo(tensor.dtype).max).all())


def _lay_out(data: Any, tensors: list[torch.Tensor], where: str, function: str) -> list[Any]:
    """Collect the tensors of what a function returned, and say how they are packed.

    Raises:
        TypeError: there is something else in it.
    """
    if isinstance(data, torch.Tensor):
        dtype = str(data.dtype)[6:]
        if dtype not in DTYPE_BYTES:
            raise TypeError(f"{function} returns {where} as {dtype}; ours may be {', '.join(DTYPE_BYTES)}")
        tensors.append(data.detach())
        return ["tensor", len(tensors) - 1]
    if data is None or type(data) in (int, float, bool, str):
        return ["value", data]
    if type(data) not in (tuple, list, dict):
        told = "only tensors, numbers, text, and tuples, lists and dicts of them come along"
        raise TypeError(f"{function} returns a {type(data).__name__} as {where}: {told}")
    items = list(data.items() if isinstance(data, dict) else enumerate(data))
    if any(type(key) not in (int, str) for key, _ in items):
        raise TypeError(f"{function} returns a dict as {where} whose keys are neither text nor whole numbers")
    return [type(data).__name__, [[k, _lay_out(item, tensors, f"{where}[{k!r}]", function)] for k, item in items]]


def _results(result: Any) -> list[torch.Tensor]:
    """The tensors that the reference returned.

    Raises:
        TypeError: it returned something else.
    """
    found = list(result) if isinstance(result, (tuple, list)) else [result]
    others = [type(item).__name__ for item in found if not isinstance(item, torch.Tensor)]
    if others:
        raise TypeError(f"ref_kernel returns a {others[0]} as its result: only tensors may be")
    return found


def _with_tensors(data: Any, tensors: Iterator[torch.Tensor]) -> Any:
    """The same data with other tensors in their places."""
    if isinstance(data, torch.Tensor):
        return next(tensors)
    if isinstance(data, dict):
        return {key: _with_tensors(item, tensors) for key, item in data.items()}
    return type(data)(_with_tensors(item, tensors) for item in data) if isinstance(data, (tuple, list)) else data


def _try_float64(module: ModuleType, data: Any, given: list[torch.Tensor]) -> str:
    """Call the reference in float64, and say why it does not compute so; nothing if it does."""
    wide = (t.to(torch.float64, copy=True) if t.is_floating_point() else t.clone() for t in given)
    try:
        result = module.ref_kernel(_with_tensors(data, wide))
    except Exception as error:
        return _told(error, module.__dict__["__source__"])
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    tensors = [tensor for tensor in outputs if isinstance(tensor, torch.Tensor) and tensor.is_floating_point()]
    narrow = [str(tensor.dtype)[6:] for tensor in tensors if tensor.dtype != torch.float64]
    return f"it returns {narrow[0]} from float64 inputs" if narrow else ""


def _alike(left: torch.Tensor, right: torch.Tensor) -> bool:
    return bool(same_bits(left, right).all())


def _form(tensor: torch.Tensor) -> list[Any]:
    return [list(tensor.shape), str(tensor.dtype)[6:], tensor.is_contiguous()]


def _index(storages: list[int], storage: int) -> int:
    return storages.index(storage) if storage in storages else -1


def _told(error: BaseException, source: Any) -> str:
    """Say what was raised, and on which line of the source."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == MODULE and f.lineno]
    where = f" in `{str(source).splitlines()[lines[-1] - 1].strip()}`" if lines else ""
    return f"{type(error).__name__}: {error}{where}"[:1000]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
