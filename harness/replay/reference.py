"""Loading a problem's reference.py and calling it, with its faults reported as the organiser's.

The module is organisers' code: trusted not to be hostile, not trusted to be right. Whatever it raises or returns
wrongly becomes a `SpecError` that names the file, the function and the tensor. Only the judge's process imports it.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from harness.errors import SpecError
from harness.replay.asked import Problem, TensorSpec

Tensors = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Reference:
    """The two functions of a problem's reference.py.

    Attributes:
        path: the file, for messages.
        problem: what the tensors are checked against.
        generate: `generate(shape, distribution, generator)`, as the module has it.
        reference: `reference(inputs, shape)`, as the module has it.
        not_finite: names of the outputs that may hold NaN or infinity, where the two must then agree (the module's
            optional `NOT_FINITE`).
    """

    path: Path
    problem: Problem
    generate: Callable[..., Any]
    reference: Callable[..., Any]
    not_finite: frozenset[str] = frozenset()

    def make_inputs(self, sizes: dict[str, int], distribution: str, generator: torch.Generator) -> Tensors:
        """Return the inputs without buffers, checked against the declared shapes and dtypes.

        Raises:
            SpecError: the module raised, or returned something else than declared.
        """
        result = self._call("generate", self.generate, dict(sizes), distribution, generator)
        pairs = list(zip(self.problem.inputs, self.problem.input_sizes(sizes), strict=True))
        declared = [(spec, shape) for spec, shape in pairs if not spec.buffer]
        tensors = self._check("generate", result, declared, None)
        if len({t.untyped_storage().data_ptr() for t in tensors if t.numel()}) < sum(t.numel() > 0 for t in tensors):
            raise SpecError(f"{self.path}: generate() returned two inputs that share memory; clone one of them")
        return tensors

    def expect(self, inputs: Tensors, sizes: dict[str, int]) -> Tensors:
        """Return the expected outputs in float64.

        Raises:
            SpecError: the module raised, changed an input, or returned something else than declared.
        """
        versions = [tensor._version for tensor in inputs]
        result = self._call("reference", self.reference, inputs, dict(sizes))
        names = [spec.name for spec in self.problem.inputs if not spec.buffer]
        for name, tensor, version in zip(names, inputs, versions, strict=True):
            if tensor._version != version:
                raise SpecError(f"{self.path}: reference() modified its input {name} in place; work on a copy")
        declared = list(zip(self.problem.outputs, self.problem.output_sizes(sizes), strict=True))
        outputs = self._check("reference", result, declared, torch.float64)
        for spec, tensor in zip(self.problem.outputs, outputs, strict=True):
            if spec.name not in self.not_finite and not bool(torch.isfinite(tensor).all()):
                raise SpecError(
                    f"{self.path}: reference() returned NaN or infinity in {spec.name} for {sizes}; choose inputs "
                    f"that stay finite, or declare NOT_FINITE = {{{spec.name!r}}} in the module"
                )
        return outputs

    def _call(self, name: str, function: Callable[..., Any], *args: Any) -> Any:
        try:
            with torch.no_grad():
                return function(*args)
        except (Exception, SystemExit) as error:
            lines = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == self.path]
            where = f" at line {lines[-1].lineno}: {lines[-1].line}" if lines else ""
            raise SpecError(f"{self.path}: {name}() raised {type(error).__name__}: {error}{where}") from error

    def _check(
        self,
        function: str,
        result: Any,
        declared: list[tuple[TensorSpec, tuple[int, ...]]],
        dtype: torch.dtype | None,
    ) -> Tensors:
        if not isinstance(result, (tuple, list)) or len(result) != len(declared):
            found = f"{len(result)} items" if isinstance(result, (tuple, list)) else type(result).__name__
            names = ", ".join(spec.name for spec, _ in declared)
            raise SpecError(f"{self.path}: {function}() returned {found}; task.yml declares a tuple of {names}")
        for (spec, shape), tensor in zip(declared, result, strict=True):
            fault = _tensor_fault(tensor, shape, dtype or getattr(torch, spec.dtype))
            if fault:
                raise SpecError(f"{self.path}: {function}() returned {spec.name} {fault}")
        return tuple(result)


def _tensor_fault(tensor: Any, shape: tuple[int, ...], dtype: torch.dtype) -> str | None:
    if not isinstance(tensor, torch.Tensor):
        return f"as {type(tensor).__name__}; a tensor is expected"
    if tensor.dtype != dtype:
        return f"as {str(tensor.dtype)[6:]}; {str(dtype)[6:]} is expected"
    if tuple(tensor.shape) != shape:
        return f"with shape {tuple(tensor.shape)}; {shape} is expected"
    if dtype != torch.float64 and not tensor.is_contiguous():
        return f"with strides {tensor.stride()}; a contiguous tensor is expected"
    return None


def load_reference(problem: Problem) -> Reference:
    """Import a problem's reference.py.

    Raises:
        SpecError: it cannot be imported, or lacks one of its two functions.
    """
    path = (problem.folder / "reference.py").resolve()
    module = load_module(path, f"reference_of_{problem.name}")
    for name in ("generate", "reference"):
        if not callable(getattr(module, name, None)):
            raise SpecError(f"{path}: defines no function {name}()")
    not_finite = frozenset(getattr(module, "NOT_FINITE", ()))
    unknown = not_finite - {output.name for output in problem.outputs}
    if unknown:
        raise SpecError(f"{path}: NOT_FINITE names {min(unknown)}, which is not an output")
    return Reference(path, problem, module.generate, module.reference, not_finite)


def load_module(path: Path, name: str) -> ModuleType:
    """Import a file of a problem's folder as a module.

    Raises:
        SpecError: it cannot be imported.
    """
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # a dataclass in the file looks its own module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        lines = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path]
        where = f" at line {lines[-1].lineno}: {lines[-1].line}" if lines else ""
        raise SpecError(f"{path}: importing it raised {type(error).__name__}: {error}{where}") from error
    return module
