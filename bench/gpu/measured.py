"""When a GPU machine measured, and for how long it was held: what records of its answers say in place of our own clock.

`conclude.py` runs the main job with a node that repeats an answer, which takes a moment, at another time than that of
the measurement. The record's dates and the seconds of its replay are the GPU machine's.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.engine.baselines import Baselines
from harness.store import Record, StageRecord, new_record_id, utc_now


def moment_of(answer: dict[str, Any], file: Path) -> float:
    """Return when an answer was there, in seconds since 1970: what it says, or else when its file was written."""
    return float(answer.get("measured_s") or file.stat().st_mtime)


def date_record(record: Record, answer: dict[str, Any], moment_s: float) -> Record:
    """Return the record of a repeated answer as that of the measurement.

    Args:
        record: what the main job made of the answer.
        answer: a replay's, from `run_all.py`.
        moment_s: from `moment_of`.
    """
    began_s = moment_s - float(answer.get("wall_s", 0.0))
    machine = answer["machine"]
    held_s = round(machine.get("start_s", 0.0) + machine.get("replay_s", 0.0), 3)
    stages = tuple(StageRecord("replay", held_s) if stage.name == "replay" else stage for stage in record.stages)
    return replace(
        record, id=new_record_id(began_s), created=utc_now(began_s), finished=utc_now(moment_s), stages=stages
    )


def date_baselines(baselines: Baselines, moment_s: float) -> Baselines:
    """Return baselines that were taken from a repeated answer with the moment of that."""
    return replace(baselines, measured=utc_now(moment_s))
