"""What makes two artifacts one program, on plans and cubins of every kind; real kernels are in tests/engine."""

import dataclasses
import struct

import pytest

from harness.artifact import Artifact, Kernel, identify_program
from harness.artifact.cubin import read_code
from harness.errors import ArtifactError
from harness.kernel import KernelSource
from harness.plan import Argument, OpStep, Tensor
from tests.core.test_artifact import CUBIN, FACTS, KEY, MANIFEST, PLAN, SOURCE, TEXT, TTIR

HEADER, SECTION = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")
PROGRAM_BITS, STRINGS, NO_BITS = 1, 3, 8


def cubin(*sections, names_at=0, **places):
    """Return a cubin of (name, kind, content) sections; `places` puts one, by its name, at a given (start, size)."""
    names = b"\0".join([b"", *(name.encode() for name, _, _ in sections), b""])
    contents = [(b"", STRINGS, names), *((n.encode(), kind, content) for n, kind, content in sections)]
    body, table = b"", b""
    first = HEADER.size + len(contents) * SECTION.size
    for name, kind, content in contents:
        start, size = places.get(name.decode().strip("."), (first + len(body), len(content)))
        at = names.index(b"\0" + name + b"\0") + 1 if name else 0
        table += SECTION.pack(at, kind, 0, 0, start, size, 0, 0, 1, 0)
        body += content
    header = (b"\x7fELF\2\1\1\x41\x08", 2, 190, 1, 0, 0, HEADER.size, 100 << 8, 64, 56, 0, 64, len(contents), names_at)
    return HEADER.pack(*header) + table + body


TEXTS = ((".text.k", PROGRAM_BITS, b"code"), (".nv.constant2.k", PROGRAM_BITS, b"1.0"))
CODE = cubin(*TEXTS)


def program(plan=PLAN, code=CODE, options=(("num_warps", 4),), **facts):
    kernel = Kernel(KernelSource(KEY, TTIR, options), code, dataclasses.replace(FACTS, **facts))
    return identify_program(Artifact(MANIFEST, {plan.shape_id: plan}, {KEY: kernel}, {SOURCE: TEXT}))


def with_launch(**changes):
    allocation, launch = PLAN.steps
    return dataclasses.replace(PLAN, steps=(allocation, dataclasses.replace(launch, **changes)))


def with_allocation(**changes):
    allocation, launch = PLAN.steps
    return dataclasses.replace(PLAN, steps=(dataclasses.replace(allocation, **changes), launch))


@pytest.mark.parametrize(
    "same",
    [
        {"plan": with_launch(line=7, source="a" * 64, function="other", origin="triton")},
        {"plan": with_launch(args=(Argument("y", "*fp32", Tensor(1)), Argument("BLOCK", "constexpr", 16)))},
        {"plan": with_allocation(line=9)},
        {"code": cubin((".text.other", 1, b"code"), (".nv.constant2.other", 1, b"1.0"), (".debug_line", 1, b"7"))},
        {"code": cubin(TEXTS[1], (".nv.shared.k", NO_BITS, b""), TEXTS[0])},
        {"name": "other", "cpu_s": 99.0, "stages": 4},
    ],
    ids="launch arguments operation symbols order compiler".split(),
)
def test_what_no_gpu_sees_makes_no_other_program(same):
    assert program(**same) == program()


@pytest.mark.parametrize(
    "other",
    [
        {"plan": with_launch(grid=(2, 1, 1))},
        {"plan": with_launch(args=(Argument("x", "*fp32", Tensor(0)),))},
        {"plan": with_allocation(kwargs=(("pin_memory", True),))},
        {"plan": with_allocation(op="aten.zeros_like.default")},
        {"plan": dataclasses.replace(PLAN, shape_id="N5")},
        {"code": cubin((".text.k", 1, b"cods"), TEXTS[1])},
        {"code": cubin(TEXTS[0], (".nv.constant2.k", 1, b"1.5"))},
        {"threads": 256},
        {"shared_bytes": 64},
        {"descriptors": ({"swizzle": 2},)},
    ],
    ids="grid argument keyword operator shape code constant threads shared descriptor".split(),
)
def test_what_a_gpu_does_otherwise_makes_another(other):
    assert program(**other) != program()


def test_steps_in_another_order_are_another_program():
    allocation, launch = PLAN.steps
    zero = OpStep("aten.zero_.default", (Tensor(1),), (), (None,))
    orders = ((allocation, zero, launch), (allocation, launch, zero))
    assert len({program(dataclasses.replace(PLAN, steps=steps)) for steps in orders}) == 2


def test_a_cubin_that_cannot_be_read_stands_for_itself():
    assert program(code=CUBIN) == program(code=CUBIN)
    assert len({program(code=CUBIN + bytes([n])) for n in range(3)}) == 3


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (b"", "not an ELF file"),
        (CUBIN, "it holds no code"),
        (cubin((".text.k", NO_BITS, b"")), "it holds no code"),
        (cubin(*TEXTS, names_at=9), "its sections have no names"),
        (cubin(*TEXTS, **{"text.k": (1 << 60, 4)}), "lies outside of it"),
        (cubin(*TEXTS, **{"text.k": (0, 250), "nv.constant2.k": (0, 250)}), "its sections overlap"),
        (CODE[:-1], "lies outside of it"),
    ],
    ids="empty none no_bytes names far overlap cut".split(),
)
def test_what_holds_no_readable_code_is_told(code, told):
    with pytest.raises(ArtifactError, match=told):
        read_code(code)
