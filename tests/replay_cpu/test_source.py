"""The allow-list: everything that Helion printed passes, every way out is refused."""

from __future__ import annotations

import pytest

from harness.replay.cpu.faults import Unsupported
from harness.replay.cpu.source import Traits, check_source

from .child import KERNELS, Child

HEADER = (
    "import triton\nimport triton.language as tl\nfrom torch._inductor.runtime import triton_helpers\n"
    "from torch._inductor.runtime.triton_compat import libdevice\n"
)


def kernel(body: str, header: str = HEADER, parameters: str = "x") -> str:
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return f"{header}@triton.jit\ndef k({parameters}):\n{lines}\n    tl.store(x, 1.0)\n"


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.py")), ids=lambda path: path.stem)
def test_what_helion_prints_is_accepted(path) -> None:
    checked = check_source(path.read_text())
    assert any(name.startswith("_helion_") for name in checked.functions)


HOSTILE = {
    "a module behind tl.core": "tl.core.os.system('touch /tmp/owned')",
    "sys behind warnings": "tl.core.warnings.sys.modules['os'].system('touch /tmp/owned')",
    "the builtins behind tl.core": "tl.core.builtins.open('/tmp/owned', 'w')",
    "the builtins by a name of one's own": "y = x.core.builtins",
    "the front end behind tl": "tl.semantic.TritonSemantic(x)",
    "a module behind tl.math": "tl.math.core.os.system('touch /tmp/owned')",
    "a module behind tl_math": "tl_math.os.system('touch /tmp/owned')",
    "a package of extras": "tl.extra.cuda.libdevice.core.os",
    "triton itself": "triton.runtime.driver.active",
    "the class of a value": "x.value.__class__.__mro__",
    "the type's own module": "x.type.element_ty.__module__",
    "the code of a function": "tl.load.fn.__code__",
    "getattr": "getattr(getattr(tl.core, 'warnings'), 'sys')",
    "inspect": "tl.core.inspect.os.system('touch /tmp/owned')",
    "an f-string": "tl.static_assert(True, f'{tl.core.__builtins__}')",
    "a method of a string": "tl.static_assert(True, '{0.__class__}'.format(tl))",
    "a dunder": "tl.load.__globals__['__builtins__']['open']('/tmp/owned', 'w')",
    "torch behind the helpers": "triton_helpers.torch.os.system('touch /tmp/owned')",
    "the core behind libdevice": "libdevice.core.os.system('touch /tmp/owned')",
    "a subscript of a module": "tl.core.__dict__['os'].system('touch /tmp/owned')",
    "an external library": "tl.core.extern_elementwise('x', '/tmp/evil.bc', [tl.arange(0, 32)], {}, True)",
    "an import": "import os",
    "an import from": "from os import system",
    "exec": "exec('1')",
    "eval": "eval('1')",
    "open": "open('/tmp/owned', 'w')",
    "print": "print('x')",
    "a lambda": "f = lambda: 1",
    "a comprehension": "y = [i for i in range(9)]",
    "a nested function": "def g():\n    pass",
    "a class": "class A:\n    pass",
    "try": "try:\n    pass\nexcept Exception:\n    pass",
    "with": "with x:\n    pass",
    "global": "global triton",
    "delete": "del x",
    "yield": "yield 1",
    "a walrus": "(y := 1)",
    "a starred argument": "tl.load(*x)",
    "keywords": "tl.load(**x)",
    "a set": "y = {1}",
    "a dictionary": "y = {1: 2}",
    "assert": "assert x",
    "raise": "raise ValueError",
    "the handle of a tensor": "x.handle.data.tofile('/tmp/owned')",
    "a private method": "x._flatten_ir([])",
    "a module as a value": "y = tl",
    "a builtin as a value": "y = float",
    "a function of the language as a value": "y = tl.load",
    "a call of a call": "tl.load(x)(1)",
    "a subscript of a function": "tl.load[0]",
    "an attribute of a type": "tl.float32.to_ir(x)",
    "a shadowed module": "tl = x",
    "a shadowed builtin": "range = x",
    "an injected name": "__to_tensor__(x)",
    "a huge integer": f"y = {2**70}",
    "a huge power": "y = 2 ** 4000",
    "a tower of powers": "y = 9 ** 9 ** 9 ** 9",
    "a shift by a shift": "y = 1 << (1 << 40)",
    "a huge shift": "y = 1 << 4000",
    "bytes": "y = b'x'",
    "an ellipsis": "y = ...",
    "a long string": f"tl.static_assert(True, '{'x' * 5000}')",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_kernels_are_refused(name: str) -> None:
    with pytest.raises(Unsupported, match="not on the list of what CPU replay executes") as caught:
        check_source(kernel(HOSTILE[name]))
    assert caught.value.where["source_line"] > 0


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("tl = x", "the name tl given a new meaning"),
        ("range = x", "the name range given a new meaning"),
        ("x.kind = 1", "an assignment to a part of something"),
        ("x[0] = 1", "an assignment to a part of something"),
        ("y = 2 ** 129", "a power or shift by more than 128"),
        ("y = 1 << 1000", "a power or shift by more than 128"),
        ("y = 2 ** (2 ** 9)", "a power or shift by another one"),
        ("y = 1 << (1 << 9)", "a power or shift by another one"),
    ],
)
def test_what_is_refused_is_named(body: str, told: str) -> None:
    with pytest.raises(Unsupported) as caught:
        check_source(kernel(body))
    assert told in str(caught.value)
    assert caught.value.where["source_line"] > 0


WHOLE = {
    "a default that is called": ("@triton.jit\ndef k(x=open('/tmp/owned', 'w')):\n    pass\n", "default value"),
    "a default of the language": ("@triton.jit\ndef k(x=tl.float32):\n    pass\n", "default value"),
    "star arguments": ("@triton.jit\ndef k(*x):\n    pass\n", "plain parameters"),
    "a constant that is called": ("A = tl.constexpr(open('/tmp/owned'))\n", "not a number"),
    "a constant that shadows": ("tl = tl.constexpr(1)\n", "new meaning"),
    "a kernel that shadows": ("@triton.jit\ndef tl(x):\n    pass\n", "a function named tl"),
    "a kernel with a hidden name": ("@triton.jit\ndef __both__(x):\n    pass\n", "a function named __both__"),
    "no Python": ("def :\n", "cannot parse"),
    "a null byte": ("x = 1\0\n", "cannot parse"),
    "very deep": ("x = " + "(" * 5000 + ")" * 5000, "cannot parse"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_hostile_modules_are_refused(name: str) -> None:
    text, words = WHOLE[name]
    with pytest.raises(Unsupported, match=words):
        check_source(text)


def test_what_is_not_a_kernel_is_dropped_not_executed(child: Child, tmp_path) -> None:
    mark = tmp_path / "owned"
    steal = f"open({str(mark)!r}, 'w')"
    text = (
        f"import triton\nimport triton.language as tl\n{steal}\nclass A:\n    {steal}\n"
        f"@triton.jit(do_not_specialize={steal})\n@decorate({steal})\n"
        f"def k(x: {steal}, y: tl.constexpr) -> {steal}:\n    'a docstring'\n    z: {steal} = 2.0\n    tl.store(x, z)\n"
        f"def custom_kernel(data):\n    {steal}\n"
    )
    checked = check_source(text)
    assert set(checked.functions) == {"k"}
    assert checked.constexprs["k"] == {"y"}
    import torch

    from harness.plan import Argument, LaunchStep, Plan, Tensor

    from .child import metas

    arguments = (Argument("x", "*fp32", Tensor(0)), Argument("y", "constexpr", 1))
    step = LaunchStep("0" * 64, child.add_source(text), "k", (1, 1, 1), arguments, "triton")
    child.add_plan(Plan("dropped", metas((torch.zeros(1),)), (0,), (0,), "tensor", (step,)))
    response, results = child.replay("dropped", (torch.zeros(1),))
    assert response["status"] == "done", response
    assert results["0"].item() == 2.0
    assert not mark.exists()


def test_a_refused_source_is_unsupported_and_named(child: Child) -> None:
    import torch

    response, _ = child.launch("tl.core.os.system('true')", (torch.zeros(1),))
    assert response["status"] == "unsupported"
    assert "tl.core.os.system, line 6" in response["reason"]


TRAITS = {
    "plain": ("tl.store(x, tl.load(x) + 1)", Traits(atomics=False, waits=False)),
    "an atomic": ("tl.atomic_add(x, 1)", Traits(atomics=True, waits=False)),
    "a loop": ("y = 0\nwhile y < 3:\n    y += 1", Traits(atomics=False, waits=False)),
    "a spin": ("while tl.atomic_add(x, 0) == 0:\n    pass", Traits(atomics=True, waits=True)),
    "a volatile spin": ("while tl.load(x, volatile=True) == 0:\n    pass", Traits(atomics=False, waits=True)),
    "compare and swap": ("tl.atomic_cas(x, 0, 1)", Traits(atomics=True, waits=True)),
    "a barrier": ("triton_helpers.x_grid_barrier(x)", Traits(atomics=True, waits=True)),
}


@pytest.mark.parametrize("name", TRAITS)
def test_how_programs_deal_with_one_another(name: str) -> None:
    body, traits = TRAITS[name]
    assert check_source(kernel(body)).traits["k"] == traits
    inner = kernel(body).replace("def k(", "def inner(") + "@triton.jit\ndef outer(x):\n    inner(x)\n"
    assert check_source(inner).traits["outer"] == traits
