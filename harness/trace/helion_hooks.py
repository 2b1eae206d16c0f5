"""Helion under the trace: its own operations are not recorded, and it never tunes.

Owns the hooks on Helion's kernel classes. Which config a kernel gets, when it was given none or several, is
decided here: the first of a list, or what Helion's compile-time heuristics say, always with a warning.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from helion.autotuner import base_search
from helion.autotuner.config_spec import ConfigSpec
from helion.runtime.kernel import BoundKernel, Kernel
from helion.runtime.triton import launcher

from harness.target import Target
from harness.trace.blamed_config import blaming, copyable_config
from harness.trace.config_keys import missing_keys
from harness.trace.failures import TraceError
from harness.trace.recorder import Recorder

_COMPILING = ((Kernel, ("bind",)), (BoundKernel, ("ensure_config_exists", "compile_config", "to_code", "set_config")))


def install_helion(recorder: Recorder, target: Target, *, portable: bool) -> None:
    """Hook Helion in this process.

    Args:
        recorder: paused while Helion compiles.
        target: what configs are checked against.
        portable: whether config keys that the target lacks are dropped, with a warning.
    """
    for owner, names in _COMPILING:
        for name in names:
            setattr(owner, name, _paused(recorder, getattr(owner, name)))
    for owner, blamed, find_config in _BLAMED:
        for name in blamed:
            setattr(owner, name, blaming(find_config, getattr(owner, name)))
    BoundKernel.compile_config = _noting_files(recorder, BoundKernel.compile_config)
    BoundKernel.autotune = _chosen_config(recorder)
    BoundKernel.run_ref = _refuse_interpreter
    base_search.BaseSearch.autotune = _refuse_search
    launcher._validate_resident_program_capacity = lambda *args, **kwargs: None  # occupancy is the assembler's
    if portable:
        ConfigSpec.normalize = _dropping_keys(recorder, target, ConfigSpec.normalize)


def _paused(recorder: Recorder, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with recorder.pause():
            return method(*args, **kwargs)

    return wrapper


def _noting_files(recorder: Recorder, method: Callable[..., Any]) -> Callable[..., Any]:
    """Remember which files Helion generated."""

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        compiled = method(*args, **kwargs)
        recorder.generated.add(compiled.__code__.co_filename)
        return compiled

    return wrapper


def _chosen_config(recorder: Recorder) -> Callable[..., Any]:
    def autotune(bound: Any, args: Any, *, force: bool = True, **kwargs: Any) -> Any:
        """Take the place of `BoundKernel.autotune`: choose without measuring."""
        configs, name = bound.kernel.configs, bound.kernel.name
        if configs:
            config = configs[0]
            given = f"{len(configs)} configs; the first is taken" if len(configs) > 1 else "one config, which is taken"
        else:
            config = bound.config_spec.default_config()
            chosen = copyable_config(config, bound.config_spec.normalize)
            given = f"no config for {_sizes(args)}; Helion's heuristics choose {chosen}"
        recorder.warn(f"kernel {name} has {given}: nothing is tuned in evaluation")
        bound.set_config(config)
        return config

    return autotune


def _sizes(args: Any) -> str:
    return ", ".join(str(list(value.shape)) for value in args if isinstance(value, torch.Tensor))


def _given_config(bound: Any, config: Any = None, **kwargs: Any) -> tuple[str, object]:
    """Return the config that a bound kernel is told to compile, or else the one that it has."""
    return (bound.kernel.name, config) if config is not None else _running_config(bound)


def _running_config(bound: Any, *args: Any) -> tuple[str, object]:
    """Return the config that a bound kernel runs, as the author wrote it where that is known."""
    configs = bound.kernel.configs
    return bound.kernel.name, configs[0] if configs else bound._config


def _kernel_config(kernel: Any, *args: Any, **kwargs: Any) -> tuple[str, object]:
    """Return the config that a kernel takes: the first, as nothing is tuned."""
    return kernel.name, next(iter(kernel.configs), None)


def _refuse_search(search: Any, *args: Any, **kwargs: Any) -> Any:
    raise TraceError("autotuning_refused", f"{type(search).__name__} was run by the submission")


def _refuse_interpreter(bound: Any, *args: Any) -> Any:
    message = f"kernel {bound.kernel.name} would run as torch operators, in Helion's interpreter"
    raise TraceError("helion_interpreter", message)


def _dropping_keys(recorder: Recorder, target: Target, method: Callable[..., Any]) -> Callable[..., Any]:
    def normalize(spec: Any, config: Any, **options: Any) -> Any:
        """Drop what the target lacks before Helion's own check."""
        values = getattr(config, "config", config)
        for key in missing_keys(values, target):
            del values[key]
            recorder.warn(f"config key {key} does not exist for {target.title} and was dropped (portable)")
        return method(spec, config, **options)

    return normalize


_BLAMED: tuple[tuple[Any, tuple[str, ...], Callable[..., tuple[str, object]]], ...] = (
    (Kernel, ("bind",), _kernel_config),
    (BoundKernel, ("compile_config", "set_config"), _given_config),
    (BoundKernel, ("__call__",), _running_config),
)
