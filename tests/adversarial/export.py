"""Builds what comes out CHECKED, and puts each into a folder that a GPU machine can replay from.

usage: python -m tests.adversarial.export OUT [NAME ...]

There, `python3 node.pyz replay NAME/artifact NAME/problem NAME/request.json` prints a report whose cases must all have
passed, but for those that declare another verdict on a GPU.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from harness.replay.node.pack import build_node
from tests.adversarial.catalogue import load_catalogue
from tests.replay_gpu.building import build_artifact, export


def main(out: Path, names: list[str]) -> None:
    for attack in load_catalogue():
        if attack.kind == "CHECKED" and (not names or attack.name in names):
            with tempfile.TemporaryDirectory() as folder:
                path = attack.write(Path(folder) / "submission")
                export(build_artifact(path, out / "state", division=attack.division), out / attack.name)
                print(f"{attack.name}: {attack.gpu}")
    build_node(out / "node.pyz")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
