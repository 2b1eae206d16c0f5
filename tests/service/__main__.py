"""`python -m tests.service [NAME ...]`: carry out the attacks on a live service and print what came of each."""

from __future__ import annotations

import sys
import tempfile
import traceback
from pathlib import Path

from harness.service import form
from harness.store.database import Database
from tests.service.arena import Arena
from tests.service.test_attacks import MODULES


def main(wanted: list[str]) -> int:
    names = [name for name in MODULES if not wanted or name in wanted]
    width, failed = max(map(len, names)), 0
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "service.sqlite", 15.0, 40)
        form.prepare(database, migrate=True)
        arena = Arena(database)
        for name in names:
            arena.drain()
            try:
                print(name.ljust(width), MODULES[name].attack(arena))
            except Exception:
                failed += 1
                print(name.ljust(width), "SUCCEEDED, or could not be carried out")
                traceback.print_exc()
        arena.stop()
        database.close()
    print(f"\n{len(names)} attacks, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
