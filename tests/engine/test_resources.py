"""A kernel that compiles and could never be launched: seen at once, on a machine without the GPU."""


def test_more_shared_memory_than_the_target_has(workspace, starter):
    huge = """
@helion.kernel(config=helion.Config(block_sizes=[64, 256], num_stages=6), static_shapes=True)
def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    m, n = x.shape
    y = torch.empty([m, w.size(1)], dtype=x.dtype, device=x.device)
    for rows, columns in hl.tile([m, w.size(1)]):
        acc = hl.zeros([rows, columns])
        for inner in hl.tile(n, block_size=64):
            acc = hl.dot(x[rows, inner], w[inner, columns], acc=acc)
        y[rows, columns] = acc
    return y


def custom_kernel(data):
    x, s = data
    (m, n), y = x.shape, scale(x, s)
    padded = torch.nn.functional.pad(y, (0, 1024 - n, 0, 64 - m))
    return product(padded, torch.eye(1024, device=x.device))[:m, :n].contiguous()
"""
    source = starter[: starter.index("def custom_kernel")] + huge
    record = workspace.submit(source, code=1)
    verdict = record["verdict"]
    assert (verdict["kind"], verdict["reason"]) == ("COMPILE_ERROR", "out_of_resources"), verdict
    assert "KiB of shared memory; b200 has 227 KiB for a block: use a smaller tile" in verdict["message"]
