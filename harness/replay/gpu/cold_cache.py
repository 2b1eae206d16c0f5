"""The L2 flush before a timed call: memory larger than L2 is written over and then read, and the GPU rests a moment.

What it leaves in L2 is timed too. Lines that are yet to be written back delay a kernel that reads memory, by 10% on an
H200, and by more in one process than in the next. Those that were only read cost nothing, so they are what is left.

A call that follows at once is slowed in another way, whatever is flushed and however: one in ten takes 5 to 10% longer.
After 0.1 ms without traffic to memory hardly one does, and a longer rest changes nothing (H200; bench/gpu).

Whatever has its time compared with another's, submissions and baselines alike, is flushed here.
"""

from __future__ import annotations

import torch

from harness.replay.gpu.regions import TILE_BYTES, WORD_BYTES

_L2_MULTIPLE = 3
_LEAST_BYTES = 256 << 20  # long enough to launch a call behind it, so that events see no launch
_REST_CYCLES = 200_000  # of the multiprocessors' clock: 0.1 ms at 2 GHz


def new_tile() -> torch.Tensor:
    """Return memory for what the flush writes, over and over: TILE_BYTES of int32, on the current GPU."""
    return torch.empty(TILE_BYTES // WORD_BYTES, dtype=torch.int32, device="cuda")


class ColdCache:
    """Flushes the current GPU's L2.

    Args:
        tile: what is written.
        l2_bytes: the size of L2.

    Attributes:
        spare: where it is written: (tiles, words of a tile) int32.
    """

    def __init__(self, tile: torch.Tensor, l2_bytes: int) -> None:
        self._seen = torch.empty(1, dtype=torch.int64, device=tile.device)
        rows = -(-max(_LEAST_BYTES, _L2_MULTIPLE * l2_bytes) // TILE_BYTES)
        self.spare = torch.empty((rows, tile.numel()), dtype=torch.int32, device=tile.device)
        self._words = self.spare.view(torch.int64)  # wider elements are copied faster
        self._written = tile.view(torch.int64).expand_as(self._words)

    def flush(self) -> None:
        """Write the spare and read it, which leaves nothing in L2 but parts of it, already written back; then rest."""
        self._words.copy_(self._written)
        torch.amax(self._words.view(-1), 0, keepdim=True, out=self._seen)
        torch.cuda._sleep(_REST_CYCLES)  # type: ignore[no-untyped-call]
