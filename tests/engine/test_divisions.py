"""The open division takes what the closed one refuses: raw Triton and torch's own computation."""

import pytest

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


@pytest.fixture
def open_too(workspace):
    """A season with both divisions."""
    shapes = workspace.root / "shapes.yaml"
    shapes.write_text(shapes.read_text().replace("  targets:", "  divisions: [closed, open]\n  targets:"))
    return workspace


def test_a_division_that_the_season_lacks_is_refused_before_anything_runs(workspace):
    workspace.write(RAW)
    for verb in ("submit", "build", "dry-run"):
        result = workspace.run(verb, "scale", "--team", "acme", "--division", "open")
        assert result.returncode == 2, result.stderr
        assert result.stdout == ""
        assert result.stderr.startswith("error: the season has no open division, it has closed: leave DIVISION ")
        assert "trace" not in result.stderr
    assert not (workspace.root / ".harness").exists()


def test_raw_triton_belongs_to_the_open_division(open_too):
    workspace = open_too
    closed = workspace.submit(RAW, code=1)
    assert (closed["verdict"]["kind"], closed["verdict"]["reason"]) == ("POLICY_VIOLATION", "raw_triton")
    record = workspace.submit(RAW, "--division", "open", code=0)
    assert (record["verdict"]["kind"], record["division"]) == ("CHECKED", "open"), record["verdict"]
    assert record["unranked_reason"] == "checked on a CPU: ranking needs a replay on a GPU of the season"
    assert "open division" in workspace.run("board", "scale", "--division", "open").stdout


def test_torch_alone_is_checked_in_the_open_division(open_too):
    source = "def custom_kernel(data):\n    x, s = data\n    return x * s[:, None]\n"
    record = open_too.submit(source, "--division", "open", code=0)
    assert record["verdict"]["kind"] == "CHECKED", record["verdict"]
    assert record["kernels"] == []
