"""An advanced-controls file of the submission's own.

How: the file for the assembler is written, or fetched, at import and named in the config. Seen: the event provided such
files. Defence: a controls file is one that the season provides, by its id.
"""
# expected: POLICY_VIOLATION advanced_controls

import os
from pathlib import Path

import helion
import helion.language as hl
import torch

controls = Path(os.environ["TMPDIR"], "mine.acf")
controls.write_bytes(b"mine")


@helion.kernel(config=helion.Config(block_sizes=[4, 16], advanced_controls_file=str(controls)), static_shapes=True)
def scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    for rows, columns in hl.tile(x.shape):
        y[rows, columns] = x[rows, columns] * s[rows][:, None]
    return y


def custom_kernel(data):
    return scale(*data)
