"""`python -m harness.service DOCUMENT`: a worker, as the supervisor starts it. Nobody types this."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from harness.engine.workspace import Workspace
from harness.service import logs
from harness.service.evaluating import make_evaluator
from harness.service.queue import Worker
from harness.service.settings import load_settings
from harness.service.worker import WorkerLoop
from harness.store.database import LOCK_TIMEOUT_S, Database


def main() -> None:
    """Work until told to stop."""
    logs.configure()
    told = json.loads(sys.argv[1])
    root = Path(told["root"])
    settings = load_settings(root, Workspace(root).state, os.environ)
    database = Database(settings.database_url, LOCK_TIMEOUT_S)
    worker = Worker(told["id"], told["stage"], tuple(told["targets"]))
    evaluator = make_evaluator(told["evaluator"], root)
    WorkerLoop(database, settings, worker, evaluator, frozenset(told["replayed"]), told["server"]).run()
    database.close()


if __name__ == "__main__":
    main()
