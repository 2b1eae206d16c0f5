"""Records and where they are kept: `open_store(url)` gives a `Store` of `Record`s."""

from __future__ import annotations

from harness.store.files import load_records, save_records
from harness.store.ids import NO_ID, new_record_id, pick_id, utc_now
from harness.store.record import (
    ACCEPTED,
    BuildRecord,
    CaseRecord,
    KernelRecord,
    OutputError,
    Record,
    Setting,
    StageRecord,
    TimingRecord,
    VerdictRecord,
    WrongElement,
    compared_tools,
    decode_record,
    encode_record,
)
from harness.store.store import Previous, Store, open_store

__all__ = [
    "ACCEPTED",
    "NO_ID",
    "BuildRecord",
    "CaseRecord",
    "KernelRecord",
    "OutputError",
    "Previous",
    "Record",
    "Setting",
    "StageRecord",
    "Store",
    "TimingRecord",
    "VerdictRecord",
    "WrongElement",
    "compared_tools",
    "decode_record",
    "encode_record",
    "load_records",
    "new_record_id",
    "open_store",
    "pick_id",
    "save_records",
    "utc_now",
]
