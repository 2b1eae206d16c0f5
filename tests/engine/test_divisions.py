"""The open division takes what the closed one refuses: raw Triton and torch's own computation."""

RAW = """
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, s, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = row * columns + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets) * tl.load(s + row))


def custom_kernel(data):
    x, s = data
    y = torch.empty_like(x)
    scale_kernel[(x.size(0),)](x, s, y, x.size(1), BLOCK=x.size(1))
    return y
"""


def test_raw_triton_belongs_to_the_open_division(workspace):
    closed = workspace.submit(RAW, code=1)
    assert (closed["verdict"]["kind"], closed["verdict"]["reason"]) == ("POLICY_VIOLATION", "raw_triton")
    record = workspace.submit(RAW, "--division", "open", code=0)
    assert (record["verdict"]["kind"], record["division"]) == ("CHECKED", "open"), record["verdict"]
    on_cpu = "checked on a CPU: ranking needs a replay on a GPU of the season"
    assert record["unranked_reason"] == f"the season has no open division; {on_cpu}"
    assert "open division" in workspace.run("board", "scale", "--division", "open").stdout


def test_torch_alone_is_checked_in_the_open_division(workspace):
    source = "def custom_kernel(data):\n    x, s = data\n    return x * s[:, None]\n"
    record = workspace.submit(source, "--division", "open", code=0)
    assert record["verdict"]["kind"] == "CHECKED", record["verdict"]
    assert record["kernels"] == []
