"""Triton's front end: from a launch's arguments to TTIR, and no further.

Owns specialisation (which arguments become constants, which types and alignments the kernel may rely on, by
Triton's own binder) and the kernel's document. Nothing is compiled here: machine code is the assembler's, which
starts from the text that this module makes and trusts nothing else of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from triton._C.libtriton import ir
from triton.backends.compiler import Language
from triton.compiler.compiler import ASTSource
from triton.runtime.jit import JITFunction

from harness.kernel import Option, kernel_key
from harness.trace.failures import TraceError
from harness.trace.written_arguments import written_arguments

CONTROLS_OPTION = "--apply-controls "


@dataclass(frozen=True)
class Specialisation:
    """What Triton's binder made of a launch: types, constants, attributes and options, by parameter."""

    signature: dict[str, Any]
    constants: dict[tuple[int, ...], Any]
    attributes: dict[tuple[int, ...], Any]
    options: Any
    backend: Any
    target: Any

    def key(self, function: Any) -> tuple[str, ...]:
        """Return what tells this kernel from others of the process."""
        parts = (self.signature, self.constants, self.attributes, self.options)
        return (function.cache_key, *(str(part) for part in parts))


@dataclass(frozen=True)
class KernelDocument:
    """A kernel for the assembler.

    Attributes:
        ttir: the IR, as text without line information.
        options: the launch options that differ from Triton's defaults.
        name: the entry's symbol.
        params: Triton types of the parameters, constants left out.
        writes: for each parameter whether the kernel may write through it; for the recorder, not for the assembler.
    """

    ttir: str
    options: dict[str, Option]
    name: str
    params: tuple[str, ...]
    writes: tuple[bool, ...]

    @property
    def key(self) -> str:
        """The name under which the kernel is known."""
        return kernel_key(self.ttir, self.options)


class _Pointer:
    """Stands for a tensor before Triton's binder: a dtype, and an address that shows only its alignment."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.dtype = tensor.dtype
        self._offset = int(tensor.storage_offset()) * tensor.element_size()

    def data_ptr(self) -> int:
        return self._offset


def specialise(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
    """Bind a launch's arguments as Triton would.

    Args:
        function: the JIT function.
        args: its positional arguments; tensors are fake.
        kwargs: its keyword arguments and launch options.

    Raises:
        TraceError: a number of warps that no GPU runs, or a tensor that is not on the GPU.
    """
    kwargs = {name: _stand_in(value) for name, value in kwargs.items()}
    kwargs["debug"] = bool(kwargs.get("debug", function.debug))
    kwargs["instrumentation_mode"] = ""
    _check_warps(kwargs.get("num_warps", 1))
    _, _, target, backend, binder = function.device_caches[0]
    bound, specialization, options = binder(*(_stand_in(value) for value in args), **kwargs)
    packed = function._pack_args(backend, kwargs, bound, specialization, options)
    options, signature, constants, attributes = packed
    return Specialisation(signature, constants, attributes, options, backend, target)


def make_document(function: JITFunction, special: Specialisation, controls: dict[str, str]) -> KernelDocument:
    """Run Triton's front end on a specialised function.

    Args:
        function: the JIT function.
        special: its specialisation.
        controls: advanced-controls files that the season provides, by path: their ids.
    """
    backend, options = special.backend, special.options
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = ASTSource(function, special.signature, special.constants, special.attributes)
    codegen = backend.get_codegen_implementation(options)
    module = source.make_ir(special.target, options, codegen, backend.get_module_map(), context)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, Language.TRITON)
    module = stages["ttir"](module, {})
    params = tuple(kind for kind in flat_types(tuple(special.signature.values())) if kind != "constexpr")
    return KernelDocument(
        ttir=module.str_nodebug(),
        options=launch_options(options, backend.parse_options({}), controls),
        name=module.get_entry_func_name(),
        params=params,
        writes=written_arguments(module, params),
    )


def launch_options(options: Any, defaults: Any, controls: dict[str, str]) -> dict[str, Option]:
    """Return the options that differ from the defaults, by name; the parent decides which are allowed.

    Raises:
        TraceError: an advanced-controls file that the season does not provide.
    """
    changed: dict[str, Option] = {
        name: value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
        for name, value in vars(options).items()
        if value != getattr(defaults, name)
    }
    text = changed.get("ptx_options")
    if isinstance(text, str) and text.startswith(CONTROLS_OPTION):
        del changed["ptx_options"]
        changed["advanced_controls"] = _controls_id(text.removeprefix(CONTROLS_OPTION).strip(), controls)
    return changed


def flat_types(types: Any) -> tuple[str, ...]:
    """Return the types of a signature, those of tuple arguments one by one."""
    if isinstance(types, (list, tuple)):
        return tuple(kind for item in types for kind in flat_types(item))
    return (str(types),)


def _check_warps(warps: Any) -> None:
    """Refuse what Triton refuses with an assertion that does not tell the value."""
    if isinstance(warps, int) and (warps < 1 or warps & (warps - 1)):
        raise TraceError("config_error", f"num_warps={warps}: the number of warps must be a power of two, at least 1")


def _controls_id(path: str, controls: dict[str, str]) -> str:
    if path not in controls:
        provided = ", ".join(sorted(controls)) or "none"
        raise TraceError(
            "advanced_controls",
            f"the config's advanced_controls_file {path!r} is not one that this season provides ({provided})",
        )
    return controls[path]


def _stand_in(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        if value.device.type != "cuda":
            raise TraceError("triton_error", f"a kernel was given a tensor on {value.device.type}, not on the GPU")
        return _Pointer(value)
    if isinstance(value, tuple):
        items = [_stand_in(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value
