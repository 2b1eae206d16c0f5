"""A season's records, as the site's tests and a person who looks at the pages need them."""

from __future__ import annotations

import dataclasses
import random

from harness.frame import Frame
from harness.site.views import SeasonFacts
from harness.store.record import CaseRecord, KernelRecord, Record, StageRecord, VerdictRecord
from tests.store.samples import checked, incorrect, passed, submitted

SEASON = SeasonFacts(
    name="Helion season, spring 2027",
    titles={
        "chunk_fwd_h": "Gated DeltaNet, chunk-wise state pass",
        "chunk_fwd_o": "Gated DeltaNet, chunk-wise output",
        "recompute_w_u": "Gated DeltaNet, WY representation",
        "causal_conv1d": "Causal depthwise convolution",
        "fp8_quant": "Per-group quantisation to fp8 range",
    },
    times="Closes 2027-03-01 00:00 UTC",
    noise={"b200": 0.005},
    points={"chunk_fwd_h": 100, "chunk_fwd_o": 100, "recompute_w_u": 100, "causal_conv1d": 50, "fp8_quant": 50},
    code_visible=True,
)

BUDGET = VerdictRecord(
    "COMPILE_BUDGET_EXCEEDED", "assemble", "B2_T1024_H3_K64_V64", "budget_spent",
    "Compiling took longer than the 720 CPU-seconds of the season. Done: 5 of 6 shapes (681 s). Running: "
    "B2_T1024_H3_K64_V64 (39 s).\nUse fewer configs, or smaller tiles for the shapes above.",
)  # fmt: skip
UNTRACEABLE = VerdictRecord(
    "UNTRACEABLE", "trace", None, "data_dependent",
    "The host program reads a value of a tensor, so it cannot be traced: decide by shapes, or inside the kernel.",
    (Frame(88, "custom_kernel", "scale = g.max().item()"),),
)  # fmt: skip


def make_season() -> list[Record]:
    """A few days of five teams on two boards, with failures, a spilling kernel, old tools and one on its way."""
    chance = random.Random(7)
    records: list[Record] = [passed("starter", 558.2, 0), passed("starter", 19.4, 1, problem="chunk_fwd_o")]
    for team, start_us, factor in (("warp wizards", 96.0, 0.86), ("acme", 130.0, 0.83), ("tile & error", 210.0, 0.84),
                                   ("Ноль регистров", 80.0, 0.95), ("京都カーネル", 64.0, 0.93)):  # fmt: skip
        score_us = start_us
        for i in range(9):
            minute = 300 + i * 600 + chance.uniform(0, 500)
            records.append(passed(team, max(score_us * chance.uniform(0.97, 1.12), 17.8), minute))
            if chance.random() < 0.45:
                records.append(incorrect(team, minute + 40))
            score_us *= factor
    best = min((r for r in records if r.problem == "chunk_fwd_h"), key=lambda r: r.score_us or 1e9)
    near = passed("bolt", (best.score_us or 0) * 1.003, 5900)
    records += [near, passed("echo", near.score_us * 1.2, 5950, normalised_source_sha256=best.normalised_source_sha256)]
    spilling = KernelRecord("B2_T1024_H3_K64_V64", "chunk_h_kernel_2", 255, 192, 231_424, 4, 4, 0.0625, 11.2, True)
    records += [
        checked(
            "first timers", 5400, kernels=(*checked().kernels, spilling), warnings=("autotune_effort was ignored.",)
        ),
        checked(
            "laptop only", 5500, verdict=VerdictRecord("BUILT", "replay", message="2 of 3 test cases were checked.")
        ),
        incorrect("acme", 6010),
        incorrect(
            "slow compilers", 6020, verdict=BUDGET, stages=(StageRecord("trace", 44.0), StageRecord("assemble", 700.0))
        ),
        incorrect("first timers", 6030, verdict=UNTRACEABLE, cases=(), kernels=(), build=None),
        passed("old timers", 15.0, 5, toolchain={"helion": "1.4.0", "torch": "2.13.0", "triton": "3.7.1"}),
        submitted("bolt", 6040),
        checked("starter", 30, problem="causal_conv1d"),
    ]
    return [near_limit(wide(record) if record.problem == "causal_conv1d" else record) for record in records]


def sampled(record: Record) -> Record:
    """The record with two of its benchmark cases checked by a sample of their programs, the third in full."""
    message = "8 of 48 programs checked"
    cases = list(record.cases)
    cases[3:] = [dataclasses.replace(case, status="partial", message=message) for case in cases[3:5]] + [
        dataclasses.replace(cases[5], status="passed")
    ]
    return dataclasses.replace(record, cases=tuple(cases))


def near_limit(record: Record, floor_us: float = 15.0) -> Record:
    """The record with the hardware's limits at 1/4, 1 and 4 times a time."""
    if not record.score_us:
        return record
    cases = []
    for case in record.cases:
        if case.timing:
            limit_us = floor_us * case.timing.time_us / record.score_us
            share = 100 * limit_us / case.timing.time_us
            case = dataclasses.replace(
                case, timing=dataclasses.replace(case.timing, floor_us=limit_us, percent_of_floor=share)
            )
        cases.append(case)
    return dataclasses.replace(record, cases=tuple(cases))


def wide(record: Record) -> Record:
    """The record with shapes of other axes."""
    shapes = (
        (1, 64, 64, 4),
        (2, 128, 128, 4),
        (1, 256, 256, 3),
        (1, 1536, 2048, 4),
        (1, 2560, 2048, 4),
        (1, 2560, 4096, 4),
    )
    cases: list[CaseRecord] = []
    for case, sizes in zip(record.cases, shapes, strict=True):
        shape = dict(zip("BDSW", sizes, strict=True))
        cases.append(dataclasses.replace(case, shape=shape, case_id="_".join(f"{a}{s}" for a, s in shape.items())))
    return dataclasses.replace(record, cases=tuple(cases))
