"""Every kernel launch of the process, Helion's and raw Triton's, as a step of the plan.

Owns the hook on `JITFunction.run`, the one place that all launches pass (callable grids, keyword constexprs,
heuristics), and on Triton's autotuner. Nothing runs on a device.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import triton.testing
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from harness.plan import Argument, LaunchStep, Value
from harness.plan.parse import MAX_GRID
from harness.trace.failures import TraceError
from harness.trace.frontend import KernelDocument, make_document, specialise
from harness.trace.recorder import Recorder


class LaunchRecorder:
    """Turns launches into steps, kernels into documents and source modules into texts.

    Attributes:
        kernels: documents of the kernels that were launched, by key.
        sources: texts of the modules that they come from, by SHA-256.
    """

    def __init__(self, recorder: Recorder, controls: dict[str, str]) -> None:
        self.kernels: dict[str, KernelDocument] = {}
        self.sources: dict[str, str] = {}
        self._recorder = recorder
        self._controls = controls
        self._documents: dict[tuple[str, ...], KernelDocument] = {}
        self._files: dict[str, str] = {}

    def install(self) -> None:
        """Take the place of Triton's launcher and autotuner in this process."""

        def run(function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            if not warmup and not self._recorder.paused:
                self._launch(function, args, grid, kwargs)
            return NotCompiled()

        def tune(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            return _run_only_config(tuner, args, kwargs)

        JITFunction.run = run
        Autotuner.run = tune
        triton.testing.do_bench = triton.testing.do_bench_cudagraph = _refuse_timing

    def _launch(self, function: Any, args: tuple[Any, ...], grid: Any, kwargs: dict[str, Any]) -> None:
        for hook in function.pre_run_hooks:
            hook(*args, **kwargs)
        if function.is_gluon():
            raise TraceError("triton_error", f"{function.__name__} is a Gluon kernel; only Triton's language is known")
        with self._recorder.pause():
            special = specialise(function, args, kwargs)
            own = {name: value for name, value in kwargs.items() if name in function.arg_names}
            bound = function.signature.bind(*args, **own)
            bound.apply_defaults()
            values = bound.arguments
        sizes = canonical_grid(grid(values) if callable(grid) else grid)
        if 0 in sizes:  # as Triton's launcher: an empty grid launches nothing
            self._recorder.note_empty_launch(function.__name__, sizes)
            return
        document = self._document(function, special)
        typed = {name: (special.signature[name], values[name]) for name in function.arg_names}
        arguments = tuple(self._arguments(typed))
        step = LaunchStep(
            kernel=document.key,
            source=self._source(function),
            function=function.__name__,
            grid=sizes,
            args=arguments,
            origin="helion" if function.fn.__code__.co_filename in self._recorder.generated else "triton",
            line=self._recorder.call_line(),
        )
        passed = (argument for argument in arguments if argument.type != "constexpr")
        written = (a for a, writes in zip(passed, document.writes, strict=True) if writes)
        self._recorder.add_launch(step, tuple(written))

    def _document(self, function: Any, special: Any) -> KernelDocument:
        key = special.key(function)
        document = self._documents.get(key)
        if document is None:
            with self._recorder.pause():
                document = make_document(function, special, self._controls)
            self._documents[key] = document
            self.kernels[document.key] = document
        return document

    def _source(self, function: Any) -> str:
        path = function.fn.__code__.co_filename
        if path not in self._files:
            text = Path(path).read_text(encoding="utf-8")
            key = hashlib.sha256(text.encode()).hexdigest()
            self._files[path], self.sources[key] = key, text
        return self._files[path]

    def _arguments(self, typed: dict[str, tuple[Any, Any]]) -> Iterator[Argument]:
        """Yield the arguments in the order of the signature; those of a tuple `x` one by one as x__0, x__1, ..."""
        for name, (kind, value) in typed.items():
            if isinstance(kind, (list, tuple)):
                items = {f"{name}__{index}": pair for index, pair in enumerate(zip(kind, value, strict=True))}
                yield from self._arguments(items)
            else:
                yield Argument(name, str(kind), self._encode(name, value))

    def _encode(self, name: str, value: Any) -> Value:
        try:
            return self._recorder.encode(value)
        except TraceError as error:
            raise TraceError(error.reason, f"kernel argument {name!r}: {error}") from None


class NotCompiled:
    """What a launch returns: facts about compiled code do not exist yet."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise TraceError(
            "unsupported_operation",
            f"the compiled kernel's {name!r} was asked for, and kernels are compiled later, elsewhere",
        )


def canonical_grid(grid: Any) -> tuple[int, int, int]:
    """Return a grid as three sizes.

    Raises:
        TraceError: not one to three integers that CUDA can launch.
    """
    sizes = tuple(grid) if isinstance(grid, (list, tuple)) else (grid,)
    try:
        numbers = tuple(int(size) for size in sizes)
    except (TypeError, ValueError):
        raise TraceError("bad_grid", f"grid {grid!r} is not one to three integers") from None
    if not 1 <= len(numbers) <= 3 or any(not 0 <= n <= top for n, top in zip(numbers, MAX_GRID, strict=False)):
        raise TraceError("bad_grid", f"grid {numbers} cannot be launched")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def _refuse_timing(*args: Any, **kwargs: Any) -> NoReturn:
    raise TraceError("autotuning_refused", "triton.testing.do_bench: no GPU is there to time a kernel on")


def _run_only_config(tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Launch under `@triton.autotune` when there is one config, which needs no tuning.

    Raises:
        TraceError: there are several.
    """
    if len(tuner.configs) > 1:
        raise TraceError(
            "autotuning_refused",
            f"@triton.autotune of {tuner.base_fn.__name__} has {len(tuner.configs)} configs; keep the best one",
        )
    config = tuner.best_config = tuner.configs[0]
    tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
    named = {**tuner.nargs, **kwargs, **config.all_kwargs()}
    if config.pre_hook:
        config.pre_hook(named)
    result = tuner.fn.run(*args, **kwargs, **config.all_kwargs())
    tuner.nargs = None
    return result
