"""Records as JSON files: one document a file, as they are kept beside a repository or handed from machine to machine.

A file may be anybody's, so it is capped, parsed and checked (`record.decode_record`), and what is no record is an error
that names the file. What a record claims, its place on a board included, is worth what the folder is worth.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harness.errors import StoreError, UsageError
from harness.store.record import Record, decode_record, encode_record
from harness.strict_json import parse_strict

MAX_FILE_BYTES = 64 << 20
MAX_FILES = 20_000

_ID = re.compile(r"[0-9a-z]{1,32}")


def load_records(place: Path) -> list[Record]:
    """Return the records of a file, or of every JSON file below a folder, the oldest first, each once.

    A file holds a record, a list of them, or one a line (`.jsonl`).

    Raises:
        UsageError: there is nothing there.
        StoreError: a file is not of this form.
    """
    paths = sorted(p for p in place.rglob("*.json*") if p.is_file()) if place.is_dir() else [place]
    if not paths or not place.exists():
        raise UsageError(f"no records at {place}: a JSON file, or a folder of them, as `harness board --save` writes")
    if len(paths) > MAX_FILES:
        raise StoreError(f"{place} holds {len(paths)} files: more than {MAX_FILES}")
    records: dict[str, Record] = {}
    for path in paths:
        for document in _load_documents(path):
            try:
                record = decode_record(document)
            except StoreError as error:
                raise StoreError(f"{path}: {error}") from None
            records[record.id] = record
    return [records[name] for name in sorted(records)]


def save_records(records: Iterable[Record], folder: Path) -> list[Path]:
    """Write each record to a file of its own, named by its id; return the files.

    Raises:
        UsageError: the folder cannot be written to.
        StoreError: a record's id is no file name.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for record in records:
            if not _ID.fullmatch(record.id):
                raise StoreError(f"a record's id {record.id!a:.60} is not of the form of ids: it is not written")
            path = folder / f"{record.id}.json"
            text = json.dumps(encode_record(record), indent=1, allow_nan=False) + "\n"
            path.write_text(text, encoding="utf-8", newline="")
            written.append(path)
    except OSError as error:
        raise UsageError(f"records cannot be written to {folder}: {error.strerror}") from error
    return written


def _load_documents(path: Path) -> Iterator[Any]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None
    if len(content) > MAX_FILE_BYTES:
        raise StoreError(f"{path} is larger than {MAX_FILE_BYTES >> 20} MiB: too large for records")
    try:
        texts = content.decode("utf-8").splitlines() if path.suffix == ".jsonl" else [content.decode("utf-8")]
        documents = [parse_strict(text) for text in texts if text.strip()]
    except ValueError:
        raise StoreError(f"{path} is not JSON") from None
    for document in documents:
        yield from document if isinstance(document, list) else [document]
