"""Put all that `run_all.py` needs into one folder. No GPU is needed; what is there already is kept.

usage: python -m bench.gpu.prepare FOLDER
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from bench.gpu import agreement, export
from tests.adversarial import export as lookalikes
from tests.replay_gpu.building import build_all


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    export.main()
    attacks = out / "state" / "attacks"
    build_all(attacks, out / "state")
    for folder in attacks.iterdir():
        if (folder / "request.json").is_file():
            shutil.rmtree(out / f"attack-{folder.name}", ignore_errors=True)
            folder.rename(out / f"attack-{folder.name}")
    lookalikes.main(out / "state" / "lookalikes", [])
    for folder in (out / "state" / "lookalikes").iterdir():
        if (folder / "request.json").is_file():
            shutil.rmtree(out / f"look-{folder.name}", ignore_errors=True)
            folder.rename(out / f"look-{folder.name}")
    shutil.rmtree(out / "state")  # built again in a minute, and not for the GPU machine
    agreement.prepare(out)


if __name__ == "__main__":
    main()
