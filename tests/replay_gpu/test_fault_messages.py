"""What a person reads of a replay on a GPU that ended early, as far as it can come about without one."""

import re
import sys

import pytest
import torch

from harness.plan import Descriptor, Named, OpStep, Tensor, TensorMeta
from harness.replay.gpu.faults import DriverError, GpuError, blame, describe
from harness.replay.gpu.host import find_operator, run_operator
from harness.replay.gpu.layout import make_shared_file
from harness.replay.node.runner_process import RunnerProcess

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("code", "reason", "told"),
    [
        ("ILLEGAL_ADDRESS", "illegal_address", "scale accessed memory that does not exist"),
        ("MISALIGNED_ADDRESS", "misaligned_address", "scale accessed memory at an address that is not aligned for it"),
        ("INVALID_ADDRESS_SPACE", "illegal_address", "scale accessed memory in the wrong address space"),
        ("ILLEGAL_INSTRUCTION", "kernel_fault", "scale executed an instruction that this GPU refuses"),
        ("INVALID_PC", "kernel_fault", "scale jumped outside of its code"),
        ("HARDWARE_STACK_ERROR", "kernel_fault", "scale overflowed or corrupted its stack"),
        ("ASSERT", "kernel_fault", "scale failed an assertion"),
        ("LAUNCH_FAILED", "kernel_fault", "scale ended with an exception on the GPU"),
        ("LAUNCH_TIMEOUT", "timeout", "scale ran longer than the driver allows"),
        ("TENSOR_MEMORY_LEAK", "kernel_fault", "scale left tensor memory allocated"),
        ("LAUNCH_OUT_OF_RESOURCES", "out_of_resources", "scale asks for more registers or memory than a block has"),
        ("COOPERATIVE_LAUNCH_TOO_LARGE", "grid_too_large", "scale waits for more blocks than fit on the GPU at once"),
        ("INVALID_CLUSTER_SIZE", "out_of_resources", "scale asks for a cluster that does not fit on the GPU"),
        ("INVALID_VALUE", "invalid_launch", "scale cannot be launched with these sizes"),
        ("OUT_OF_MEMORY", "out_of_memory", "the GPU's memory does not hold what the call allocates"),
    ],
)
def test_an_error_of_the_driver_is_told_in_words(code, reason, told):
    fault = describe(f"CUDA_ERROR_{code}", "scale")
    assert (fault.reason, fault.message, fault.kernel) == (reason, f"{told} (CUDA_ERROR_{code})", "scale")
    if told.startswith("scale"):
        assert describe(f"CUDA_ERROR_{code}", "").message.startswith("a kernel ")


def test_an_error_of_the_machine_names_nobody():
    assert describe("CUDA_ERROR_ECC_UNCORRECTABLE", "scale").message == "the GPU failed: CUDA_ERROR_ECC_UNCORRECTABLE"
    told = blame(DriverError("CUDA_ERROR_NOT_READY", "cuCtxCreate"), "", "")
    assert (told.reason, told.message) == ("machine", "the GPU failed: CUDA_ERROR_NOT_READY")
    told = blame(RuntimeError("CUDA out of memory.\n Tried to allocate 1 GiB"), "", "")
    assert told.message == (
        "the GPU's memory does not hold what the call allocates: CUDA out of memory. Tried to allocate 1 GiB"
    )
    assert blame(ValueError("odd"), "", "").message == "ValueError: odd"


@pytest.mark.parametrize(
    ("op", "division", "reason", "told"),
    [
        (
            "aten.mm.default",
            "closed",
            "unsupported_kernel",
            "calls aten.mm.default, which the closed division does not",
        ),
        ("prims.mm.default", "open", "unsupported_kernel", "calls prims.mm.default, which the open division does not"),
        ("aten.lift.other", "open", "unsupported_kernel", "calls aten.lift.other, which the open division does not"),
    ],
)
def test_an_operator_outside_of_the_list_is_named(op, division, reason, told):
    with pytest.raises(GpuError, match=f"the host program {re.escape(told)}") as caught:
        find_operator(op, division)
    assert caught.value.reason == reason


META = TensorMeta((2, 3), (3, 1), "float32")


@pytest.mark.parametrize(
    ("op", "args", "kwargs", "outs", "told"),
    [
        ("aten.clone.default", (Tensor(0),), (), 2, "aten.clone.default returned 1 results, the plan says 2"),
        (
            "aten.unbind.int",
            (Tensor(0), 1),
            (),
            1,
            "aten.unbind.int returned 3 results, the plan says 1",
        ),
        (
            "aten.t.default",
            (Tensor(0),),
            (),
            1,
            "aten.t.default returned another tensor than the plan says, float32 [2, 3]",
        ),
        (
            "aten.clone.default",
            (Tensor(1),),
            (),
            1,
            "aten.clone.default returned strides (1, 2), the plan says [3, 1]",
        ),
        (
            "aten.clone.default",
            (Descriptor(Tensor(0), (2, 3), (3, 1), (2, 3)),),
            (),
            1,
            "the host program passes a tensor descriptor to an operator",
        ),
        (
            "aten.clone.default",
            (Tensor(0),),
            (("memory_format", Named("memory_format", "float32")),),
            1,
            "the host program names an unknown memory_format, float32",
        ),
        (
            "aten._to_copy.default",
            (Tensor(0),),
            (("dtype", Named("function", "save")),),
            1,
            "the host program names an unknown function, save",
        ),
    ],
)
def test_a_host_program_that_is_not_what_the_plan_says_is_told(op, args, kwargs, outs, told):
    tensors = {0: torch.zeros(2, 3), 1: torch.zeros(3, 2).t()}
    step = OpStep(op, args, kwargs, tuple(Tensor(number + 2) for number in range(outs)))
    with pytest.raises(GpuError) as caught:
        run_operator(step, find_operator(op, "open"), [META] * 4, tensors, CPU)
    assert caught.value.message == told


def test_a_runner_that_ended_says_how(tmp_path):
    (tmp_path / "runner.py").write_text(
        "import os, sys\n"
        "for told in ('loaded', 'started'):\n"
        '    os.write(int(sys.argv[-1]), b\'{"status": "%s"}\\n\' % told.encode()); sys.stdin.readline()\n'
        "sys.exit(7)\n"
    )
    with RunnerProcess([sys.executable, str(tmp_path / "runner.py")], tmp_path, make_shared_file(4096)) as runner:
        runner.wait_until_started()
        with pytest.raises(GpuError) as caught:
            runner.prepare("n1", 4)
    assert (caught.value.reason, caught.value.message) == (
        "internal",
        "the runner ended with exit code 7 at 'prepare'",
    )


def test_a_runner_that_cannot_be_started_is_the_machines_fault(tmp_path):
    with pytest.raises(GpuError, match="the runner could not be started: .*/no/such/python") as caught:
        RunnerProcess(["/no/such/python"], tmp_path, make_shared_file(4096)).wait_until_started()
    assert caught.value.reason == "machine"
