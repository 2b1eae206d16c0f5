"""Loading an artifact under watch: what comes of it, what it takes, and which files it opens."""

from __future__ import annotations

import os
import sys
import time
import tracemalloc
from pathlib import Path

from harness.artifact import Artifact, load_artifact
from harness.errors import ArtifactError

MAX_MEMORY_BYTES = 256 << 20
MAX_CPU_S = 2.0

_opened: list[str] | None = None


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if _opened is not None and event == "open":
        _opened.append(os.fsdecode(arguments[0]) if isinstance(arguments[0], (str, bytes)) else str(arguments[0]))


sys.addaudithook(_watch)


def load(folder: Path) -> Artifact | ArtifactError:
    """Load an artifact: a validated one or an ArtifactError, within bounds, without a look outside."""
    global _opened
    _opened = []
    started = time.thread_time()  # of the processor: others may be using the machine
    found = _load(folder)
    spent_s = time.thread_time() - started
    opened, _opened = _opened, None
    tracemalloc.start()  # a second time, as counting memory takes several times as long
    again = _load(folder)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert type(found) is type(again)
    assert str(found)
    assert peak_bytes < MAX_MEMORY_BYTES, f"{peak_bytes >> 20} MiB"
    assert spent_s < MAX_CPU_S, f"{spent_s:.1f} s"
    strange = {name for name in opened if name != str(folder) and ("/" in name or name in ("..", "."))}
    assert not strange, strange
    return found


def _load(folder: Path) -> Artifact | ArtifactError:
    try:
        return load_artifact(folder)
    except ArtifactError as error:
        return error
