"""The arena on a real GPU: what it writes over, and what it finds (`make test-gpu`)."""

from __future__ import annotations

import shutil

import pytest

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here"),
]

L2_BYTES = 1 << 20


def test_a_block_that_is_in_use_outside_of_slots_is_written_over() -> None:
    """A library's workspace, say: no slot knows of it, and a kernel could leave something there."""
    import torch

    from harness.replay.gpu.arena import Arena
    from harness.replay.gpu.program import Memory, Slot
    from harness.replay.poison import is_poison

    arena, held = Arena(L2_BYTES), torch.zeros(5000, dtype=torch.float32, device="cuda")
    slot = Slot(None, Memory(), (0, 0), 0)
    for _ in range(3):
        arena.rewrite()
        assert bool(is_poison(held).all())
        held.zero_()
        arena.flush()
        arena.begin_search(slot)
        assert arena.end_search() is None  # it belongs to nobody: a library of ours may have written there
        arena.restore()
        assert bool(is_poison(held).all())
        held.zero_()


def test_a_store_into_another_slot_is_found_where_slots_touch() -> None:
    """Slots whose memory is side by side are searched as one piece; what is a call's own is written over before."""
    import torch

    from harness.replay.gpu.arena import Arena
    from harness.replay.gpu.program import Memory, Slot

    slots = []
    for _ in range(4):
        graph, memory = torch.cuda.CUDAGraph(keep_graph=True), Memory()
        with torch.cuda.graph(graph):
            memory.tensors = {number: torch.empty(3 << 20, dtype=torch.uint8, device="cuda") for number in range(2)}
            memory.tensors[0].zero_()
        graph.instantiate()
        slots.append(Slot(graph, memory, graph.pool(), 1))
    arena = Arena(L2_BYTES)
    for writer in range(4):
        for searched in range(4):
            arena.rewrite()
            arena.flush()
            slots[writer].memory.tensors[1][12345] = 1
            arena.begin_search(slots[searched])
            found = arena.end_search()
            assert (found is None) == (writer == searched)
            if found is not None:
                assert found <= slots[writer].memory.tensors[1].data_ptr() + 12345


def test_a_slot_is_not_taken_for_one_that_is_gone() -> None:
    """The object of a new slot often lies where that of the last one lay."""
    import torch

    from harness.replay.gpu.arena import Arena
    from harness.replay.gpu.program import Memory, Slot

    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        tensors = [torch.empty(3 << 20, dtype=torch.uint8, device="cuda") for _ in range(2)]
        tensors[0].zero_()
    arena = Arena(L2_BYTES)
    for number in range(20):
        own, others = tensors[number % 2], tensors[1 - number % 2]
        arena.rewrite()
        arena.flush()
        others[12345] = 1
        slot = Slot(graph, Memory({0: own}), graph.pool(), 1)
        arena.begin_search(slot)
        assert arena.end_search() is not None
        del slot


def test_memory_rests_between_flush_and_call(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from harness.replay.gpu.cold_cache import ColdCache, new_tile

    cold = ColdCache(new_tile().zero_(), L2_BYTES)

    def time_flush() -> float:
        taken_us = []
        for _ in range(9):
            before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            before.record()
            cold.flush()
            after.record()
            torch.cuda.synchronize()
            taken_us.append(before.elapsed_time(after) * 1000)
        return sorted(taken_us)[4]

    with_rest_us = time_flush()
    monkeypatch.setattr(torch.cuda, "_sleep", lambda _: None)
    assert with_rest_us - time_flush() > 60
