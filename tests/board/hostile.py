"""A record whose every text attacks whoever shows it."""

from __future__ import annotations

import dataclasses

from harness.frame import Frame
from harness.store.record import (
    CaseRecord,
    KernelRecord,
    OutputError,
    Record,
    StageRecord,
    VerdictRecord,
)
from tests.store.samples import passed

HOSTILE = (
    "=cmd|'/c calc'!A1 </title></td><script>alert(1)</script><img src=https://evil.example/x onerror=alert(1)> "
    '" onmouseover="alert(1)" {{ 7*7 }} {% raw %} [blink]rich[/blink] [/] \x1b[31mred\x1b[0m \x1b]0;title\x07 '
    "\x9b31m \x00 \x08 \u202egnp.exe \u200b\ufeff \r\n\t javascript:alert(1) ../../etc/passwd"
)


def hostile_record(minute: float = 9) -> Record:
    """A ranked record with hostile text wherever text can be."""
    record = passed("acme", 5.0, minute)
    error = OutputError(HOSTILE, 1.0, 1.0, 1.0, 2.0, 1, 8)
    clocks = dict.fromkeys(("sm_mhz_median", "sm_mhz_lowest", "memory_mhz", "throttle", HOSTILE), HOSTILE)
    timed = dataclasses.replace(record.cases[-1].timing, clocks=clocks, speedups={HOSTILE: 2.0})
    failed = CaseRecord(
        HOSTILE, HOSTILE, {HOSTILE: 1, "T": 2}, HOSTILE, "failed", HOSTILE, HOSTILE, (error,), 1.0, (), timed
    )
    odd = dataclasses.replace(failed, shape={HOSTILE: 2}, status=HOSTILE)
    verdict = VerdictRecord(
        "PASSED", HOSTILE, None, HOSTILE, HOSTILE, (Frame(1, HOSTILE, HOSTILE),), {HOSTILE: HOSTILE}
    )
    return dataclasses.replace(
        record,
        team=HOSTILE,
        season=record.season,
        sandbox_level=HOSTILE,
        source_sha256=HOSTILE,
        artifact_key=HOSTILE,
        machine={HOSTILE: HOSTILE},
        unranked_reason=HOSTILE,
        verdict=verdict,
        cases=(failed, odd, record.cases[-1]),
        kernels=(KernelRecord(HOSTILE, HOSTILE, 255, 1, 1, 1, 1, 0.1, 1.0),),
        stages=(StageRecord(HOSTILE, 1.0, 1.0),),
        warnings=(HOSTILE,),
    )
