"""Our files for a problem that was brought in: task.yml, reference.py, mutants.py and README.md as text. Pure."""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.authoring.event.carry import TYPES, Carried
from harness.authoring.event.layout import as_tuple, pack, slots
from harness.authoring.event.sizes import UNKNOWN, in_python
from harness.authoring.event.tensors import Interface, Tensor
from harness.dtypes import DTYPE_BYTES

DISTRIBUTION = "event"
GUARD = "raise ImportError("
_ROUNDED = {"bfloat16": 8.0e-3, "float8_e4m3fn": 6.0e-2, "float8_e5m2": 1.2e-1}
_PRECISIONS = {"float16": "float16", "bfloat16": "bfloat16", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8"}


@dataclass(frozen=True)
class Brought:
    """Everything that our files are written from.

    Attributes:
        name: the problem's.
        origin: the event's folder, as people know it.
        description: the event's.
        carried: its Python.
        interface: its tensors.
        constants: arguments of generate_input that are no axes: name -> value.
        tests, benchmarks: shapes.
        probed: the shapes that the interface was seen at.
        in_float64: whether ref_kernel computes in float64 where its inputs are.
    """

    name: str
    origin: str
    description: str
    carried: Carried
    interface: Interface
    constants: Mapping[str, Any]
    tests: Sequence[Mapping[str, int]]
    benchmarks: Sequence[Mapping[str, int]]
    probed: Sequence[Mapping[str, int]]
    in_float64: bool

    @property
    def packed(self) -> str:
        """The event's data as Python, packed from variables that hold its tensors."""
        return self._pack()[0]

    @property
    def doubts(self) -> tuple[str, ...]:
        """What a person should look at in how the data is packed."""
        return self._pack()[1]

    def _pack(self) -> tuple[str, tuple[str, ...]]:
        names = [_safe(tensor.name) for tensor in self.interface.made]
        return pack(self.interface.layouts, names, self.probed)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes, in generate_input's order."""
        return tuple(self.tests[0])


def write_files(brought: Brought) -> dict[str, str]:
    """Return the files of the problem's folder by name."""
    return {
        "task.yml": _task(brought),
        "reference.py": write_reference(brought, guarded=True),
        "mutants.py": _MUTANTS.format(name=brought.name),
        "README.md": _readme(brought),
    }


def _task(brought: Brought) -> str:
    rtol, atol = (
        v if v is not None else 1e-3 for v in (brought.carried.tolerance.rtol, brought.carried.tolerance.atol)
    )
    outputs = brought.interface.outputs
    read = [tensor for tensor in brought.interface.inputs if not tensor.buffer]
    lines = [
        f"# Brought in from {brought.origin}. docs/problems.md explains every field.",
        f"name: {brought.name}",
        f"title: {brought.name.replace('_', ' ')}",
        "description: |",
        *(
            textwrap.indent(
                brought.description or "FIXME: write what is computed, and who needs it fast.", "  "
            ).splitlines()
        ),
        "",
        "axes:",
        *(f"  {axis}: {{description: {json.dumps(f'argument {axis} of the event')}}}" for axis in brought.axes),
        "",
        "inputs:",
        *map(_tensor_line, brought.interface.inputs),
        "outputs:",
        *map(_tensor_line, outputs),
        "",
        "# rtol and atol are the event's own, relative_l2 is what rounding costs. Calibrate: harness qualify.",
        "tolerance:",
        *(
            f"  {tensor.name}: {{rtol: {rtol:.1e}, atol: {atol:.1e}, relative_l2: {relative_cap(tensor.dtype):.1e}}}"
            for tensor in outputs
        ),
        f"precision: {_PRECISIONS.get(outputs[0].dtype, 'float32')}",
        "",
        "distributions:",
        f"  default: {DISTRIBUTION}",
        f"  {DISTRIBUTION}: drawn as the event draws it",
        "",
        "tests:",
        *map(_shape_line, brought.tests),
        "benchmarks:",
        *map(_shape_line, brought.benchmarks),
        "",
        "cost:",
        "  flops: 0                      # write what the formula needs: the floor is memory's alone so far",
        f"  read_bytes: {_bytes(read)}",
        f"  write_bytes: {_bytes(outputs)}",
    ]
    return "\n".join(lines) + "\n"


def relative_cap(dtype: str) -> float:
    """Return a relative L2 error that one rounding to a type stays well under."""
    return _ROUNDED.get(dtype, 1.0e-3)


def _tensor_line(tensor: Tensor) -> str:
    shape = ", ".join(json.dumps(size) if isinstance(size, str) and not size.isidentifier() else str(size)
                      for size in tensor.shape)  # fmt: skip
    buffer = ", buffer: true" if tensor.buffer else ""
    return f"  - {{name: {tensor.name}, shape: [{shape}], dtype: {tensor.dtype}{buffer}}}"


def _shape_line(shape: Mapping[str, int]) -> str:
    return "  - {" + ", ".join(f"{axis}: {size}" for axis, size in shape.items()) + "}"


def _bytes(tensors: Sequence[Tensor]) -> str:
    """The bytes of tensors as an expression; 0 where a size is not known, or there are none."""
    terms = []
    for tensor in tensors:
        factors = [str(size) if isinstance(size, int) or size.isidentifier() else f"({size})" for size in tensor.shape]
        if UNKNOWN in tensor.shape:
            return "0"
        terms.append("*".join([str(DTYPE_BYTES[tensor.dtype]), *factors]))
    return " + ".join(terms) or "0"


def write_reference(brought: Brought, *, guarded: bool) -> str:
    """Return reference.py.

    Args:
        brought: what it is written from.
        guarded: whether it refuses to be imported before somebody has read it.
    """
    imports = sorted({"import torch", *brought.carried.imports}, key=lambda line: (not line.startswith("from"), line))
    parts = [
        f'"""{brought.name}: the event\'s own generator and reference, brought in from {brought.origin}."""',
        "from __future__ import annotations",
    ]
    if guarded:
        told = f"this code came from {brought.origin} and nobody has read it yet: read it, then delete this statement"
        parts.append(f"{GUARD}\n    {json.dumps(told)}\n)")
    parts.append("\n".join(imports))
    types = [name for name in TYPES if re.search(rf"\b{name}\b", brought.carried.source)]
    if types:
        parts.append(f"{' = '.join(types)} = tuple  # the event's names for the data and the result")
    return "\n\n".join(parts) + f"\n\n\n{brought.carried.source}\n\n\n{_adapter(brought)}\n"


def _adapter(brought: Brought) -> str:
    interface = brought.interface
    arguments = [f'{axis}=shape["{axis}"]' for axis in brought.axes]
    arguments += [f"{name}={value!r}" for name, value in brought.constants.items()]
    arguments += ["seed=seed"] if brought.carried.takes_seed else []
    places = zip(interface.made, slots(interface.layouts[0]), strict=True)
    kept = [access for tensor, (_, access, _) in places if not (tensor.buffer or tensor.left_out)]
    head = _GENERATE.format(
        name=brought.name, distribution=DISTRIBUTION, arguments=", ".join(arguments), tensors=as_tuple(kept)
    )
    return head + _reference(brought)


def _reference(brought: Brought) -> str:
    interface = brought.interface
    cpu = ".cpu()" if brought.carried.names_device else ""
    wide = "tensor.clone().double() if tensor.is_floating_point() else tensor.clone()"
    copy = f"tensor.clone(){cpu}" if not brought.in_float64 else f"({wide}){cpu}" if cpu else wide
    lines = [f"    given = iter([{copy} for tensor in inputs])"]
    for tensor in interface.made:
        made = tensor.buffer or tensor.left_out
        lines.append(f"    {_safe(tensor.name)} = {_empty(tensor, brought) if made else 'next(given)'}")
    result = f"ref_kernel({brought.packed})"
    if interface.in_place:
        changed = as_tuple([_safe(interface.made[number].name) for number in interface.in_place])
        lines += [f"    {result}", f"    outputs = {changed}"]
    else:
        lines.append(f"    result = {result}")
        lines.append("    outputs = result if isinstance(result, (tuple, list)) else (result,)")
    lines.append("    return tuple(output.double().to(inputs[0].device) for output in outputs)")
    return _REFERENCE + "\n".join(lines)


def _safe(name: str) -> str:
    """A tensor's name as a variable that hides nothing."""
    taken = ("inputs", "shape", "given", "result", "outputs", "tensor", "torch", "ref_kernel")
    return f"{name}_" if name in taken or keyword.iskeyword(name) else name


def _empty(tensor: Tensor, brought: Brought) -> str:
    sizes = as_tuple([in_python(size) for size in tensor.shape])
    wide = brought.in_float64 and "float" in tensor.dtype
    device = "" if brought.carried.names_device else ", device=inputs[0].device"
    return f"torch.zeros({sizes}, dtype=torch.{'float64' if wide else tensor.dtype}{device})"


def _readme(brought: Brought) -> str:
    return "\n".join(_readme_lines(brought)) + "\n"


def _readme_lines(brought: Brought) -> Iterator[str]:
    yield f"# {brought.name}\n"
    yield brought.description or "FIXME: say what is computed."
    yield "\n| tensor | shape | dtype | |\n|---|---|---|---|"
    for tensor in brought.interface.tensors:
        yield f"| {tensor.name} | ({', '.join(map(str, tensor.shape))}) | {tensor.dtype} | |"
    yield "\n## Tolerance\n\n| output | rtol | atol | relative L2 |\n|---|---|---|---|"
    rtol, atol = brought.carried.tolerance.numbers
    for tensor in brought.interface.outputs:
        yield f"| `{tensor.name}` | {rtol:g} | {atol:g} | 0.001 |"
    yield f"\n## Inputs\n\n| distribution | |\n|---|---|\n| `{DISTRIBUTION}` | drawn as the event draws it |"
    yield f"\n## Qualification\n\nFIXME: put here what `harness qualify {brought.name} --markdown` prints."


_GENERATE = '''\
def generate(shape, distribution: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw one input by the event's generator, from a seed that ours draws."""
    if distribution != "{distribution}":
        raise ValueError(f"{name} has no distribution {{distribution!r}}")
    seed = int(torch.randint(2**31 - 1, (1,), generator=generator, device=generator.device))
    torch.manual_seed(seed)
    data = generate_input({arguments})
    tensors = {tensors}
    return tuple(
        tensor.detach().to(generator.device).clone(memory_format=torch.contiguous_format) for tensor in tensors
    )


'''

_REFERENCE = '''\
def reference(inputs: tuple[torch.Tensor, ...], shape) -> tuple[torch.Tensor, ...]:
    """Compute the result by the event's reference, on copies."""
'''

_MUTANTS = '''\
"""Kernels that compute something else than {name}, each by one mistake, and the honest one they are made from.

docs/problems.md, step 3, says how they are written. Ready-made ones are in harness.qualify.mistakes.
"""

from __future__ import annotations

from harness.qualify.mistakes import Mutants

MUTANTS = Mutants()
'''
