"""What cannot be traced: the reason, the message, the submission's line."""

from __future__ import annotations

import pytest

from harness.trace.failures import REASONS
from tests.trace.conftest import Trace, ops

HELION = """
import torch
import helion
import helion.language as hl

@helion.kernel(config=helion.Config(block_sizes=[64]), static_shapes=True)
def copy(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile]
    return out

def custom_kernel(data):
    (x,) = data
"""

IMPORTS = {
    "def custom_kernel(data)\n    pass\n": ("syntax_error", "SyntaxError: expected ':' (line 1)", 1),
    "x = 1\x00\n": ("syntax_error", "the file holds a NUL byte", None),
    "\n1 / 0\n": ("import_error", "ZeroDivisionError: division by zero", 2),
    "import sys\nsys.exit(0)\n": ("import_error", "the submission ended the process: sys.exit(0)", 2),
    "import flash_attn\n": ("missing_package", "the package 'flash_attn' is not part of the toolchain", 1),
    "from utils import make_match_reference\n": (
        "missing_package",
        "'utils' is a module of the event's evaluator and absent here: drop the import",
        1,
    ),
    "def custom_kernal(data):\n    return data[0]\n": (
        "missing_custom_kernel",
        "the file defines no `custom_kernel(data)`. Is custom_kernal meant?",
        None,
    ),
    "custom_kernel = 3\n": ("missing_custom_kernel", "`custom_kernel` is a int, not a function", None),
    "def custom_kernel(x, y):\n    return x\n": (
        "wrong_signature",
        "`custom_kernel(x, y)` must take one argument, the tuple of inputs",
        None,
    ),
    "data = bytearray(1 << 55)\n": ("out_of_memory", "the host ran out of memory", 1),
    "import torch\ng = torch.cuda.CUDAGraph()\n": ("cuda_graph", "a CUDA graph of the submission's own", 2),
    "import torch\nt = torch.tensor([0.0] * 300000, device='cuda')\n": (
        "constant_too_large",
        "a constant tensor of 1,200,000 bytes; 1,048,576 bytes at most",
        2,
    ),
}

BODIES = {
    "return copy(x) if x.sum().item() > 0 else x": ("data_dependent", ".item(), bool(), int() or .tolist()"),
    "return copy(x) if x[0] > 0 else x": ("data_dependent", ".item(), bool(), int() or .tolist()"),
    "return copy(x * x.tolist()[0])": ("data_dependent", "the host code needs the content of a tensor"),
    "return copy(x[x > 0])": ("data_dependent", "nonzero(), or indexing with a boolean mask"),
    "return copy(torch.nonzero(x)[0])": ("data_dependent", "nonzero()"),
    "return copy(x.cpu().numpy())": ("data_dependent", "the host code needs the content of a tensor"),
    "return {x.data_ptr(): x}": ("data_pointer", "data_ptr(): a tensor has no address"),
    "return None": ("wrong_output", "custom_kernel returned None, not a tensor or a tuple of tensors"),
    "for _ in range(5000): x = x + 1\n    return x": (
        "plan_too_large",
        "plan: tensors must be a list of at most 4096 items",
    ),
    "return x, 3": ("wrong_output", "output 1 of custom_kernel is a int, not a tensor"),
    "return x.cpu()": ("wrong_output", "output 0 of custom_kernel is on cpu, not on the GPU"),
    "return copy(x.cpu())": ("triton_error", "a kernel was given a tensor on cpu, not on the GPU"),
    "return copy(x, x)": ("call_error", "TypeError: Too many arguments passed to the kernel, expected: 1 got: 2."),
    "return copy(x.reshape(16, 17))": ("call_error", "RuntimeError: shape '[16, 17]' is invalid"),
    "return torch.complex(x, x)": ("unsupported_dtype", "line 15 makes a tensor of complex64; known are float64, "),
    "raise RuntimeError('\\x1b[31mred\\x00')": ("call_error", "RuntimeError: red."),
    "import os; os._exit(0)": ("process_died", "The process ended with exit code 0 and without a result"),
    "import os; os.kill(os.getpid(), 11)": ("process_died", "The process was ended by SIGSEGV"),
    "import os; os.kill(os.getpid(), 9)": ("out_of_memory", "The process was killed"),
}

TRITON = """
import torch
import triton
import triton.language as tl
import triton.testing

@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

tuned = triton.autotune(configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})], key=[])(kernel)

def custom_kernel(data):
    (x,) = data
"""

LAUNCHES = {
    "kernel[(1,)](x, BLOCK=100)": ("triton_error", "arange's range must be a power of 2"),
    "kernel[(1,)](x, BLOCK=64, occupancy=2)": ("triton_error", "Keyword argument occupancy was specified"),
    "kernel[(1, 70000)](x, BLOCK=64)": ("bad_grid", "grid (1, 70000) cannot be launched"),
    "kernel[('a',)](x, BLOCK=64)": ("bad_grid", "grid ('a',) is not one to three integers"),
    "kernel[(1,)](x.cpu(), BLOCK=64)": ("triton_error", "a kernel was given a tensor on cpu, not on the GPU"),
    "tuned[(1,)](x)": ("autotuning_refused", "@triton.autotune of kernel has 2 configs; keep the best one"),
    "print(kernel[(1,)](x, BLOCK=64).n_regs)": ("unsupported_operation", "the compiled kernel's 'n_regs'"),
    "triton.testing.do_bench(lambda: kernel[(1,)](x, BLOCK=64))": ("autotuning_refused", "triton.testing.do_bench"),
    "kernel[(1,)](x, BLOCK=object())": ("triton_error", ""),
}


@pytest.mark.parametrize("source", IMPORTS)
def test_import(trace: Trace, source: str) -> None:
    reason, message, line = IMPORTS[source]
    traced = trace(source)
    (failure,) = traced.events
    assert (failure["event"], failure["shape"], failure["reason"]) == ("failed", None, reason), failure
    assert failure["message"].startswith(message)
    assert failure["message"].endswith(REASONS[reason])
    assert (failure["traceback"][-1]["line"] if failure["traceback"] else None) == line


@pytest.mark.parametrize("body", BODIES)
def test_call(trace: Trace, body: str) -> None:
    reason, message = BODIES[body]
    failure = trace(f"{HELION}    {body}\n", [256]).failure()
    assert failure["reason"] == reason, failure
    assert message in failure["message"]
    assert failure["message"].endswith(REASONS[reason])
    if reason in ("data_dependent", "data_pointer", "call_error", "helion_error"):
        assert failure["traceback"][-1]["text"] == body


@pytest.mark.parametrize("body", LAUNCHES)
def test_launch(trace: Trace, body: str) -> None:
    reason, message = LAUNCHES[body]
    failure = trace(f"{TRITON}    {body}\n    return x\n", [256]).failure()
    assert failure["reason"] == reason, failure
    assert message in failure["message"]
    assert failure["traceback"][0]["text"] == body


def test_helion_keeps_its_own_message(trace: Trace) -> None:
    source = HELION.replace("out[tile] = x[tile]", "out[tile] = x").replace("data\n", "data\n    return copy(x)\n")
    failure = trace(source).failure()
    assert failure["reason"] == "helion_error"
    assert failure["message"].startswith("helion.exc.")


def test_an_operator_that_helion_cannot_lower_comes_first(trace: Trace) -> None:
    line = "out[tile] = torch.abs(torch.fft.fft(x[tile]))"
    failure = trace(HELION.replace("out[tile] = x[tile]", line) + "    return copy(x)\n", [256]).failure()
    assert failure["reason"] == "helion_error"
    assert failure["message"].startswith("aten._fft_r2c.default does not work within a Helion kernel (TypeError: ")
    assert line in failure["message"]
    assert "TensorBox" not in failure["message"]


def test_bool_for_a_list_of_lists(trace: Trace) -> None:
    source = HELION.replace("block_sizes=[64]", "block_sizes=[64], loop_orders=True") + "    return copy(x)\n"
    failure = trace(source).failure()
    assert failure["reason"] == "config_error"
    assert "Unexpected type for config['loop_orders'], expected list or None, got bool" in failure["message"]


def test_helions_search_is_refused(trace: Trace) -> None:
    body = "from helion.autotuner import RandomSearch; RandomSearch(copy.bind((x,)), (x,)).autotune()"
    failure = trace(f"{HELION}    {body}\n    return copy(x)\n").failure()
    assert failure["reason"] == "autotuning_refused", failure


def test_not_utf8(trace: Trace) -> None:
    failure = trace("# fine\n# caf\udce9\n").failure(None)
    assert failure["reason"] == "syntax_error"
    assert failure["message"].startswith("the file is not UTF-8: byte 0xe9 in line 2.")


def test_one_shape_failing_does_not_stop_the_others(trace: Trace) -> None:
    body = "assert x.shape[0] != 512, 'not this one'\n    return copy(x)"
    traced = trace(f"{HELION}    {body}\n", shapes={"N256": ([256],), "N512": ([512],), "N64": ([64],)})
    assert {e["shape"]: e["event"] for e in traced.events[1:] if e["event"] != "start"} == {
        "N256": "traced",
        "N512": "failed",
        "N64": "traced",
    }
    assert traced.failure("N512")["message"].startswith("AssertionError: not this one.")
    assert (traced.out / "plans" / "N64.json").exists()
    assert not (traced.out / "plans" / "N512.json").exists()


def test_a_process_left_behind_holds_nothing_up(trace: Trace) -> None:
    source = f"""{HELION}    import os, time
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
    return copy(x)
"""
    traced = trace(source)
    assert traced.plan().launches
    assert traced.events[-1]["wall_s"] < 15


def test_torch_compile_is_told(trace: Trace) -> None:
    source = "import torch\n@torch.compile(dynamic=False)\ndef custom_kernel(data):\n    return data[0] + 1\n"
    traced = trace(source)
    assert ops(traced.plan()) == ["aten.add.Tensor"]
    assert traced.warnings == ["torch.compile has no effect: its operators are recorded one by one, as in eager mode"]


def test_helions_interpreter(trace: Trace) -> None:
    source = f'import os\nos.environ["HELION_INTERPRET"] = "1"\n{HELION}    return copy(x)\n'
    failure = trace(source).failure()
    assert failure["reason"] == "helion_interpreter"
    assert failure["message"].startswith("kernel copy would run as torch operators, in Helion's interpreter.")


def test_prints_do_not_reach_the_protocol(trace: Trace) -> None:
    assert (
        ops(trace(f'print("{{}}")\n{HELION}    print("x")\n    return copy(x)\n').plan())[-1] == "launch _helion_copy"
    )


def test_module_beside_the_submission(trace: Trace, tmp_path) -> None:
    (tmp_path / "my_configs.py").write_text("BLOCK = 32\n")
    (tmp_path / "json.py").write_text("raise RuntimeError('hijacked')\n")
    source = "import json\nfrom my_configs import BLOCK\n" + HELION.replace("[64]", "[BLOCK]") + "    return copy(x)\n"
    assert trace(source).plan().launches[0].grid == (8, 1, 1)
