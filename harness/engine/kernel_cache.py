"""Assembled kernels kept between builds: by toolchain, target architecture and the hash of IR and options.

Written by the parent only. What is read back is validated like any file that may have been damaged; a bad entry
counts as missing.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from harness.artifact import Kernel
from harness.engine.workspace import disk_error
from harness.errors import ArtifactError
from harness.kernel import KernelSource, encode_facts, parse_facts
from harness.strict_json import parse_strict


@dataclass(frozen=True)
class KernelCache:
    """The kernels of one toolchain and architecture, in `folder`."""

    folder: Path

    def load(self, source: KernelSource) -> Kernel | None:
        """Return the kernel assembled from `source`, None if there is none."""
        try:
            facts = parse_strict((self.folder / f"{source.key}.json").read_text(encoding="utf-8"))
            cubin = (self.folder / f"{source.key}.cubin").read_bytes()
            return Kernel(source, cubin, parse_facts(facts)) if cubin.startswith(b"\x7fELF") else None
        except (OSError, ValueError, ArtifactError):
            return None

    def save(self, kernel: Kernel) -> None:
        """Keep a kernel; the facts are written last, so that a half-written entry is not found."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write(f"{kernel.source.key}.cubin", kernel.cubin)
            self._write(f"{kernel.source.key}.json", json.dumps(encode_facts(kernel.facts)).encode())
        except OSError as error:
            raise disk_error(error, self.folder) from None

    def _write(self, name: str, content: bytes) -> None:
        unfinished = self.folder / f".{name}.{os.getpid()}"
        unfinished.write_bytes(content)
        unfinished.replace(self.folder / name)
