"""TTIR of the stored Helion kernels, made by Triton's front end: `python -m tests.core.front_end` prints JSON lines.

Not part of the product. The kernels' modules name Helion's runtime, which a stand-in replaces: no seconds for its
import. A line is {"name", "ttir", "foreign"}: what the allow-lists refuse in it, which should be nothing.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend

from harness.assemble.operations import inspect_operations
from harness.plan import Argument, Descriptor, LaunchStep, parse_plan

KERNELS = Path(__file__).parents[1] / "replay_cpu" / "kernels"
TARGET = GPUTarget("cuda", 100, 32)
BACKEND = make_backend(TARGET)


def stand_in_for_helion() -> None:
    """Give the modules what they import of Helion: its device functions, and names that nobody calls."""
    helion, runtime, backend = (ModuleType(f"helion{part}") for part in ("", ".runtime", ".runtime.triton"))
    vars(runtime).update(default_launcher=None, set_triton_allocator=lambda: None)
    vars(helion).update(runtime=runtime)
    sys.modules |= {module.__name__: module for module in (helion, runtime, backend)}
    sys.modules |= {name: ModuleType(name) for name in ("kernels_src", "kernels2")}
    helpers = importlib.metadata.distribution("helion").locate_file("helion/runtime/triton/helpers.py")
    vars(backend)["helpers"] = load("helion.runtime.triton.helpers", Path(str(helpers)))


def load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def type_of(argument: Argument) -> str:
    """Return an argument's Triton type; the stored plans do not tell a descriptor's block, of float32 here."""
    value = argument.value
    return f"tensordesc<fp32{list(value.block_shape)}>" if isinstance(value, Descriptor) else argument.type


def make_ttir(function: Any, launch: LaunchStep) -> Any:
    signature = {argument.name: type_of(argument) for argument in launch.args}
    constants = {(i,): a.value for i, a in enumerate(launch.args) if a.type == "constexpr"}
    aligned = {(i,): [["tt.divisibility", 16]] for i, a in enumerate(launch.args) if a.type.startswith("*")}
    source = ASTSource(function, signature, constants, aligned)
    options = BACKEND.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    BACKEND.load_dialects(context)
    codegen = BACKEND.get_codegen_implementation(options)
    module = source.make_ir(TARGET, options, codegen, BACKEND.get_module_map(), context)
    module.context = context
    return module


def main() -> None:
    stand_in_for_helion()
    for path in sorted(KERNELS.glob("*.py")):
        plan = parse_plan(json.loads(path.with_suffix(".json").read_text()))
        for index, launch in enumerate(plan.launches):
            module = make_ttir(getattr(load(f"kernel_{path.stem}", path), launch.function), launch)
            found = inspect_operations(module)
            document = {"name": f"{path.stem}-{index}", "ttir": module.str_nodebug(), "foreign": found.refused}
            print(json.dumps(document | {"assembly": found.assembly, "libraries": found.libraries}), flush=True)


if __name__ == "__main__":
    main()
