"""The artifact: what a build leaves behind and a replay needs. Content-addressed, validated on load.

A folder: `manifest.json`, `plans/<shape>.json`, `kernels/<key>.{ttir,cubin,json}`, `sources/<sha256>.py`. It may come
from another machine, so every file in it is hostile: `files` reads it, within bounds; `manifest` says what there is;
`storing` puts it together; `program` says which artifacts are the same program, `own_memory` which kernels could
remember something. Only the parent process writes
artifacts. Standard library only: GPU machines load them too.
"""

from harness.artifact.manifest import BuildCost, Manifest
from harness.artifact.own_memory import find_own_memory
from harness.artifact.program import identify_program
from harness.artifact.storing import (
    MAX_SOURCE_BYTES,
    Artifact,
    Kernel,
    artifact_key,
    load_artifact,
    save_artifact,
)

__all__ = [
    "MAX_SOURCE_BYTES",
    "Artifact",
    "BuildCost",
    "Kernel",
    "Manifest",
    "artifact_key",
    "find_own_memory",
    "identify_program",
    "load_artifact",
    "save_artifact",
]
