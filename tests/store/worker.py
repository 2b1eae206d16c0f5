"""A process that submits and finishes records and says so, to be killed at any moment.

Usage: python -m tests.store.worker DATABASE TEAM COUNT. Prints "submitted ID" after each submit has returned, and
"finished ID" after each finish. With COUNT 0 it goes on for ever.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys

from harness.store import open_store
from tests.store.samples import checked, submitted


def main() -> None:
    database, team, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    store = open_store(database)
    for i in range(count) if count else itertools.count():
        record = submitted(team, minute=i)
        store.submit(record)
        print("submitted", record.id, flush=True)
        store.finish(dataclasses.replace(checked(team), id=record.id))
        print("finished", record.id, flush=True)


if __name__ == "__main__":
    main()
