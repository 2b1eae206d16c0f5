"""What a record of a repeated answer says of when and for how long the GPU machine worked."""

import json
import os

import pytest

from bench.gpu.measured import date_baselines, date_record, moment_of
from bench.gpu.run_all import Session
from harness.engine.baselines import Baselines
from harness.store import StageRecord
from tests.store.samples import passed

MOMENT_S = 1_764_547_200.0  # 2025-12-01
ANSWER = {"wall_s": 6.3, "machine": {"load_s": 4.2, "start_s": 0.409, "replay_s": 1.023}}


def test_a_record_has_the_seconds_and_the_date_of_the_measurement():
    stages = (StageRecord("build", 0.006), StageRecord("check", 5.2), StageRecord("replay", 0.034))
    record = passed("starter", 12.6, stages=stages)
    dated = date_record(record, ANSWER, MOMENT_S)
    assert dated.stages == (*stages[:2], StageRecord("replay", 1.432))
    assert (dated.created, dated.finished) == ("2025-11-30T23:59:53Z", "2025-12-01T00:00:00Z")
    assert dated.id < date_record(record, ANSWER, MOMENT_S + 1).id
    assert dated.score_us == record.score_us
    baselines = Baselines("p", "1", "h200", "4", "2026-12-01T00:00:00Z", {}, {}, {})
    assert date_baselines(baselines, MOMENT_S).measured == "2025-12-01T00:00:00Z"


def test_an_answer_says_when_it_came_and_an_older_ones_file_does(tmp_path):
    session = Session(tmp_path, tmp_path / "out", 60.0)
    answer = session.keep("starters/p", lambda: {"code": 0})
    file = tmp_path / "out" / "starters" / "p.json"
    assert json.loads(file.read_text()) == answer == session.keep("starters/p", dict)
    os.utime(file, (MOMENT_S, MOMENT_S))
    assert moment_of({}, file) == MOMENT_S
    assert moment_of(answer, file) == pytest.approx(answer["measured_s"])
    assert answer["measured_s"] > MOMENT_S
