"""Backups: every row of one state of the database, in a file that either kind of database can be restored from.

A backup is made while the service runs, in one transaction that sees one state. So the same file also moves a season
from SQLite to PostgreSQL. It is gzipped JSON, one document a line: a header, then each table with its rows, then how
many there were, without which a file was cut off and is refused. It holds teams' code and tokens' hashes: it is made
readable to its owner only. Artifacts are not in it; they are built again.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, LargeBinary, Table, func, insert, select, text

from harness import __version__
from harness.errors import UsageError
from harness.service import form
from harness.service.job import HELD, QUEUED
from harness.service.schema import acts, jobs, metadata, workers
from harness.store import schema as store_schema
from harness.store.database import Database
from harness.store.ids import utc_now

FORMAT = 1
BATCH = 500


def back_up(database: Database, path: Path) -> int:
    """Write a backup, whole or not at all; return how many rows it has.

    Raises:
        UsageError: the file is there already, or cannot be written.
    """
    if path.exists():
        raise UsageError(f"{path} is there already: name another file")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as raw:
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=3) as file, database.read() as connection:
                count = _write_all(connection, file)
            raw.flush()
            os.fsync(raw.fileno())
        unfinished.rename(path)
    except OSError as error:
        raise UsageError(f"the backup cannot be written to {path}: {error.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def restore(database: Database, path: Path) -> int:
    """Fill an empty database from a backup, in one transaction; return how many rows it got.

    What was under way when the backup was made waits again, and whatever waits does so from now on: the time until
    somebody restored it is no submission's to have waited for too long.

    Raises:
        UsageError: the file is no backup of this version, was cut off, or the database is not empty.
    """
    with database.write() as connection:
        for table in _tables():
            if table is not workers and connection.execute(select(func.count()).select_from(table)).scalar():
                raise UsageError(
                    f"the database {database.place} is not empty: restore into a new one (HARNESS_DATABASE_URL)"
                )
        try:
            with gzip.open(path, "rb") as file:
                count = _read_all(connection, file)
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path} is not a whole backup: {error}") from None
        _go_on_counting(connection)
    return count


def _tables() -> list[Table]:
    return [store_schema.records, *metadata.sorted_tables]


def _revisions() -> dict[str, str]:
    return {"store": store_schema.HEAD, "service": form.HEAD}


def _write_all(connection: Connection, file: gzip.GzipFile) -> int:
    header = {"format": FORMAT, "harness": __version__, "made": utc_now(), **_revisions()}
    _write(file, header)
    count = 0
    for table in _tables():
        _write(file, {"table": table.name, "columns": list(table.columns.keys())})
        query = select(table).order_by(*table.primary_key.columns).execution_options(yield_per=BATCH)
        for row in connection.execute(query):
            _write(file, [_plain(value) for value in row])
            count += 1
    _write(file, {"rows": count})
    return count


def _read_all(connection: Connection, file: gzip.GzipFile) -> int:
    lines = (json.loads(line) for line in file)
    _check_header(next(lines, None))
    tables = {table.name: table for table in _tables()}
    count, table = 0, None
    names: list[str] = []
    rows: list[dict[str, Any]] = []
    for line in lines:
        if isinstance(line, list):
            rows.append(dict(zip(names, line, strict=True)))
            count += 1
        if table is not None and rows and (isinstance(line, dict) or len(rows) == BATCH):
            _insert(connection, table, rows)
            rows = []
        if isinstance(line, dict) and "rows" in line:
            if line["rows"] != count:
                raise ValueError("it has lost rows")
            return count
        if isinstance(line, dict):
            table, names = tables[line["table"]], line["columns"]
    raise ValueError("its end is missing")


def _check_header(header: Any) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError("it has no header that this version reads")
    if any(header.get(name) != revision for name, revision in _revisions().items()):
        told = f"the backup was made by harness {header.get('harness')}, of another form: restore it with that version"
        raise UsageError(f"{told}, then `harness admin migrate`")


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    kept = list(_restored(table, rows))
    if kept:
        connection.execute(insert(table), kept)


def _restored(table: Table, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    binary = [column.name for column in table.columns if isinstance(column.type, LargeBinary)]
    for row in rows:
        for name in binary:
            row[name] = base64.b64decode(row[name])
        if table is jobs and row["state"] in HELD:
            row |= {"state": QUEUED, "worker": None, "until_s": None, "deadline_s": None, "progress": None}
        if table is jobs and row["state"] == QUEUED:
            row["queued_s"] = time.time()
        if table is not workers:  # they are of another machine, or another day
            yield row


def _go_on_counting(connection: Connection) -> None:
    """Let the next act have the next number: PostgreSQL counts apart from the rows."""
    if connection.dialect.name == "postgresql":
        newest = connection.execute(select(func.max(acts.c.id))).scalar()
        connection.execute(
            text("SELECT setval('acts_id_seq', :newest, :used)"), {"newest": newest or 1, "used": bool(newest)}
        )


def _plain(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, (bytes, memoryview)) else value


def _write(file: gzip.GzipFile, document: Any) -> None:
    file.write(json.dumps(document, separators=(",", ":")).encode() + b"\n")
