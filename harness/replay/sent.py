"""Writing the file of inputs that goes to a runner: safetensors, named by position."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import safetensors.torch
import torch

from harness.errors import HarnessError


def write_tensors(path: Path, tensors: Sequence[torch.Tensor]) -> int:
    """Write tensors as safetensors, named "0", "1", ...; return the file's size in bytes.

    What stood at `path` is removed, and a link there is not followed: the folder may be a sandbox's.
    """
    content = safetensors.torch.save({str(index): tensor.cpu() for index, tensor in enumerate(tensors)})
    try:
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o644)  # whatever the umask: the runner may be another user
            file.write(content)
    except OSError as error:
        raise HarnessError(f"cannot write inputs to {path}: {error.strerror}") from error
    return len(content)
