"""A launch's arguments against the compiled signature: packing, alignment, refusals by name. No GPU."""

import ctypes
import struct

import pytest
import torch

from harness.kernel import KernelFacts
from harness.plan import Argument, Descriptor, LaunchStep, Tensor
from harness.replay.gpu.arguments import (
    MAP_ALIGN,
    MAP_BYTES,
    ParameterBlock,
    Pointer,
    Scalar,
    TensorMap,
    bind_arguments,
    find_divisibility,
    pack_scalar,
)
from harness.replay.gpu.faults import GpuError

LAYOUT = {"swizzle": 3, "elem_size": 4, "elem_type": 7, "block_size": [16, 32], "fp4_padded": False}


def facts(params, descriptors=()):
    numbers = dict.fromkeys(
        "shared_bytes static_shared_bytes global_scratch_bytes profile_scratch_bytes tensor_memory_columns registers "
        "stack_bytes".split(),
        0,
    )
    return KernelFacts(
        name="kernel",
        params=tuple(params),
        threads=128,
        warps=4,
        stages=1,
        ctas=1,
        global_scratch_align=1,
        profile_scratch_align=1,
        cooperative=False,
        dependent=False,
        descriptors=tuple(descriptors),
        **numbers,
    )


def step(*args):
    return LaunchStep("0" * 64, "0" * 64, "kernel", (1, 1, 1), tuple(Argument(*a) for a in args), "triton")


def refused(params, *args, descriptors=(), ttir=""):
    with pytest.raises(GpuError) as caught:
        bind_arguments(step(*args), facts(params, descriptors), ttir)
    assert (caught.value.reason, caught.value.kernel) == ("unsupported_kernel", "kernel")
    return caught.value.message


@pytest.mark.parametrize(
    ("value", "kind", "data"),
    [
        (True, "i1", b"\x01"),
        (-1, "i8", b"\xff"),
        (-2, "i16", b"\xfe\xff"),
        (7, "i32", b"\x07\0\0\0"),
        (2**32 - 1, "i32", b"\xff\xff\xff\xff"),
        (-1, "i64", b"\xff" * 8),
        (2**64 - 1, "u64", b"\xff" * 8),
        (0.5, "f32", struct.pack("<f", 0.5)),
        (3, "f32", struct.pack("<f", 3)),
        (0.1, "f64", struct.pack("<d", 0.1)),
        (1.5, "f16", struct.pack("<e", 1.5)),
        (1e300, "f32", struct.pack("<f", float("inf"))),
        (-1e300, "f16", struct.pack("<e", float("-inf"))),
    ],
)
def test_every_scalar_type(value, kind, data):
    assert pack_scalar(value, kind, facts([kind])) == data


def test_bfloat16_rounds_as_torch_does():
    for value in (0.1, 1.00390625, 1.01171875, -3.3e38, 65504.0, 1e-40):
        expected = torch.tensor(value, dtype=torch.float64).to(torch.float32).to(torch.bfloat16)
        assert pack_scalar(value, "bf16", facts(["bf16"])) == struct.pack("<h", expected.view(torch.int16).item())
    assert torch.isnan(
        torch.frombuffer(bytearray(pack_scalar(float("nan"), "bf16", facts(["bf16"]))), dtype=torch.bfloat16)
    )


def test_constexprs_are_no_parameters():
    bound = bind_arguments(
        step(("x", "*fp32", Tensor(3)), ("B", "constexpr", 64), ("n", "i32", 9)), facts(["*f32", "i32"]), ""
    )
    assert bound == (Pointer(3, 1), Scalar(b"\x09\0\0\0"))


def test_a_descriptor_is_a_map_its_sizes_and_strides():
    window = Descriptor(Tensor(2), (64, 128), (128, 1), (16, 32))
    params = ["!tt.tensordesc<tensor<16x32xf32>>", "i32", "i32", "i64", "i64", "*f32"]
    bound = bind_arguments(
        step(("d", "tensordesc<fp32[16, 32]>", window), ("x", "*fp32", Tensor(0))), facts(params, [LAYOUT]), ""
    )
    assert bound[0] == TensorMap(window, LAYOUT)
    assert [len(p.data) for p in bound[1:5]] == [4, 4, 8, 8]
    assert bound[5] == Pointer(0, 1)


def test_what_does_not_fit_is_refused_by_name():
    assert "takes 2 parameters, the plan passes 1" in refused(["*f32", "i32"], ("x", "*fp32", Tensor(0)))
    assert "pointer parameter where the plan passes int" in refused(["*f32"], ("x", "*fp32", 5))
    assert "type i32 where the plan passes Tensor" in refused(["i32"], ("n", "i32", Tensor(0)))
    assert "does not know, f8E4M3" in refused(["f8E4M3"], ("v", "fp8", 1.0))
    assert "integer parameter where the plan passes 1.5" in refused(["i32"], ("n", "i32", 1.5))
    window = Descriptor(Tensor(2), (64, 128), (128, 1), (16, 32))
    assert "no layout" in refused(["*f32"], ("d", "tensordesc<fp32[16, 32]>", window))
    packed = [LAYOUT | {"fp4_padded": True}]
    assert "4-bit" in refused(["*f32"], ("d", "tensordesc<fp32[16, 32]>", window), descriptors=packed)
    strided = Descriptor(Tensor(2), (64, 128), (256, 2), (16, 32))
    told = refused(["*f32"], ("d", "tensordesc<fp32[16, 32]>", strided), descriptors=[LAYOUT])
    assert told == "kernel has a tensor descriptor whose last axis is not contiguous"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"block_size": [16]}, "block does not fit its tensor"),
        ({"block_size": [16, 512]}, "block does not fit its tensor"),
        ({"block_size": "all"}, "block does not fit its tensor"),
        ({"swizzle": 4}, "swizzle is unknown"),
        ({"elem_size": 0}, "elem_size is unknown"),
        ({"elem_type": "f32"}, "elem_type is unknown"),
    ],
)
def test_a_layout_that_no_copy_engine_takes_is_refused(change, told):
    window = Descriptor(Tensor(2), (64, 128), (128, 1), (16, 32))
    found = refused(["*f32"], ("d", "tensordesc<fp32[16, 32]>", window), descriptors=[LAYOUT | change])
    assert found == f"kernel has a tensor descriptor whose {told}"


TTIR = """module {
  tt.func public @kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32 {tt.divisibility = 16 : i32}, \
%arg2: !tt.ptr<f32> loc("x":1:0)) attributes {noinline = false} {
    %c = arith.constant 1 : i32
"""


def test_divisibility_as_compiled():
    assert find_divisibility(TTIR) == {0: 16, 1: 16}
    assert find_divisibility("no function") == {}
    args = (("x", "*fp32", Tensor(0)), ("n", "i32", 24), ("y", "*fp32", Tensor(1)))
    assert "multiple of 16 where the plan passes 24" in refused(["*f32", "i32", "*f32"], *args, ttir=TTIR)


def test_a_pointer_that_is_not_aligned_is_refused_at_its_launch():
    for address in (4096, 4100):
        make = lambda: ParameterBlock([Pointer(0, 16)], (), lambda _: address, lambda *_: b"", "kernel")  # noqa: B023, E731
        if address % 16 == 0:
            assert len(make().pointers) == 1
        else:
            with pytest.raises(GpuError, match="multiples of 16"):
                make()


def test_the_driver_finds_each_value_at_its_address():
    window = TensorMap(Descriptor(Tensor(1), (64,), (1,), (16,)), LAYOUT)
    encoded = bytes(range(MAP_BYTES))
    block = ParameterBlock(
        [Pointer(0, 16), Scalar(b"\x07\0\0\0"), window, Pointer(None, 16)],
        (0x7000, 0),
        lambda number: 0x1000 * (number + 1),
        lambda parameter, address: encoded if address == 0x2000 else b"",
        "kernel",
    )
    read = [
        ctypes.string_at(pointer, size)
        for pointer, size in zip(block.pointers, (8, 4, MAP_BYTES, 8, 8, 8), strict=True)
    ]
    assert read == [struct.pack("<Q", 0x1000), b"\x07\0\0\0", encoded, bytes(8), struct.pack("<Q", 0x7000), bytes(8)]
    assert block.pointers[2] % MAP_ALIGN == 0, "the driver wants a map at a multiple of 64"
