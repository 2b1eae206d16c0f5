"""What a record says: the facts and sentences that the terminal and the pages share. Pure; it renders nothing.

The texts that it returns hold other people's words as they came: whoever shows them cleans and quotes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from harness.board.text import magnitude, moment, percent
from harness.frame import Frame
from harness.store.record import CaseRecord, KernelRecord, OutputError, Record, WrongElement

LOW_OCCUPANCY = 0.125
"""Below this share of resident warps a kernel is marked: it hardly hides the latency of memory."""

MAX_REGISTERS = 255
"""What a thread can have."""


_KIND_CHARACTERS = 500
_SPECIFIC = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|'[^']*'|\d+")
_NAMED = re.compile(r"\b(kernel|key) \S+")

_STATUS_WORDS = {"partial": "sampled"}
_STATE_WORDS = {"submitted": "being evaluated", "interrupted": "interrupted"}
_STATE_SENTENCES = {
    "submitted": "It is being evaluated: there is no verdict yet.",
    "interrupted": "Its process was stopped or died before there was a verdict. Nothing counts; submit again.",
}
_REASON_WORDS = {"after_failure": "a case before it failed"}


def status_word(status: str) -> str:
    """Write a case's status for people: "passed", "not run", and "sampled" where a sample of its programs passed."""
    return _STATUS_WORDS.get(status, status.replace("_", " "))


def case_note(case: CaseRecord) -> str:
    """Say why a case neither passed nor failed, how much of it was checked, or what was seen of one that passed."""
    if case.status == "failed":
        return ""
    if case.status == "passed":
        return case.message
    return case.message or _REASON_WORDS.get(case.reason, case.reason.replace("_", " "))


def count_passed(cases: Sequence[CaseRecord]) -> tuple[int, str]:
    """Count the cases that passed, and write of how many: (14, "of 14, 2 by a sample of their programs")."""
    sampled = sum(case.status == "partial" for case in cases)
    by_sample = f", {sampled} by a sample of {'its' if sampled == 1 else 'their'} programs" if sampled else ""
    return sampled + sum(case.status == "passed" for case in cases), f"of {len(cases)}{by_sample}"


def failing_cases(record: Record) -> tuple[CaseRecord, ...]:
    """Return the failed cases that the verdict is about: the one that it names, or else all of them."""
    failed = tuple(case for case in record.cases if case.status == "failed")
    named = tuple(case for case in failed if record.verdict and case.case_id == record.verdict.case)
    return named or failed


def outcome_words(record: Record) -> str:
    """Write what came of a submission: its verdict, or that there is none yet, or never will be."""
    return _STATE_WORDS.get(record.state, record.kind.replace("_", " "))


def explain_state(record: Record) -> str:
    """Say why there is no verdict, "" where there is one."""
    return _STATE_SENTENCES.get(record.state, "")


def fell_short(record: Record) -> bool:
    """Say whether there is a verdict, and one that no board shows."""
    return record.verdict is not None and record.state == "finished" and not record.accepted


def first_sentence(text: str) -> str:
    """Return a message's first sentence, or its first line where that ends earlier."""
    line = text.strip().partition("\n")[0]
    return re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0]


def case_message(record: Record, case: CaseRecord) -> str:
    """Return what a case says beyond the verdict's message."""
    told = record.verdict.message if record.verdict else ""
    return "" if case.message in told else case.message


def verdict_place(record: Record) -> str:
    """Say where a submission fell short: the stage, the case, the reason's code. Nothing if it did not."""
    verdict = record.verdict
    if verdict is None or record.accepted:
        return ""
    parts = [f"stage {verdict.stage}", f"case {verdict.case}" if verdict.case else "", verdict.reason]
    return " · ".join(part for part in parts if part)


def line_place(line: Frame) -> str:
    """Say which function a line of the submission is in: "in custom_kernel"; nothing where that is not known."""
    return f"in {line.function}" if line.function else ""


def worst_error(case: CaseRecord) -> float | None:
    """Return a case's largest error over its tolerance; a NaN counts as the largest."""
    return max((error.worst_over_tolerance for error in case.errors), key=_nan_last, default=None)


def worst_relative_l2(case: CaseRecord) -> float | None:
    """Return the largest relative L2 error of a case's outputs; a NaN counts as the largest."""
    return max((relative_l2(error) for error in case.errors), key=_nan_last, default=None)


def relative_l2(error: OutputError) -> float:
    """Return an output's relative L2 error, NaN where it has none: something is not finite, or all should be 0."""
    vanished = error.relative_l2 == 0 and error.wrong_elements > 0
    return error.relative_l2 if math.isfinite(error.worst_over_tolerance) and not vanished else math.nan


def wrong_share(case: CaseRecord) -> float | None:
    """Return the share of wrong elements over all outputs, None if there is none."""
    wrong = sum(error.wrong_elements for error in case.errors)
    total = sum(error.total_elements for error in case.errors)
    return wrong / total if wrong and total else None


def error_text(error: OutputError) -> str:
    """Say how far an output is off, in one line."""
    if not error.wrong_elements:
        elements = "no wrong element"
    else:
        share = percent(error.wrong_elements / error.total_elements) if error.total_elements else ""
        elements = f"{error.wrong_elements} of {error.total_elements} elements wrong ({share})"
    return f"{elements}; largest error {_largest_error(error)}; relative L2 error {magnitude(relative_l2(error))}"


def explain_alarms(kernels: Sequence[KernelRecord]) -> list[str]:
    """Say what the marked numbers of a compile report mean, one sentence each."""
    sentences = []
    if any(spills(kernel) for kernel in kernels):
        sentences.append("Spilled registers live in slow memory: use smaller tiles, more warps or fewer stages.")
    if any(register_bound(kernel) for kernel in kernels):
        sentences.append("A kernel is at the limit of registers that a thread can have.")
    if any(low_occupancy(kernel) for kernel in kernels):
        sentences.append("Low occupancy hides little of the memory's latency: registers or shared memory limit it.")
    return sentences


def spills(kernel: KernelRecord) -> bool:
    """Say whether a kernel keeps registers on the stack."""
    return bool(kernel.stack_bytes)


def register_bound(kernel: KernelRecord) -> bool:
    """Say whether a kernel is at the limit of registers, about to spill."""
    return kernel.registers is not None and kernel.registers >= MAX_REGISTERS


def low_occupancy(kernel: KernelRecord) -> bool:
    """Say whether so few warps are resident that memory's latency shows."""
    return kernel.occupancy is not None and kernel.occupancy < LOW_OCCUPANCY


def gather_warnings(warnings: Sequence[str], more: str = "") -> list[str]:
    """Return one warning of each kind, the first of it, with how many more there are of the kind.

    Eleven kernels without a config are one thing to know, and hide what else there is if each has its own lines.

    Args:
        warnings: of a record.
        more: where all of them are told.
    """
    kinds: dict[str, list[str]] = {}
    for text in warnings:
        kinds.setdefault(_kind_of_warning(text), []).append(text)
    where = f": {more}" if more else ""
    counts = [f" (and {len(texts) - 1} more of this kind{where})" if texts[1:] else "" for texts in kinds.values()]
    return [texts[0] + count for texts, count in zip(kinds.values(), counts, strict=True)]


def _kind_of_warning(text: str) -> str:
    """Return a warning without what it is of: names of kernels and keys, sizes, configs, what is quoted."""
    bare = text[:_KIND_CHARACTERS]
    for _ in range(2):  # parentheses within others
        bare = _SPECIFIC.sub("#", bare)
    return re.sub(r"#(, #)*", "#", _NAMED.sub(r"\1", bare))


def shape_text(shape: dict[str, int]) -> str:
    """Write a shape with all its axes: "B=1 T=64 H=2"."""
    return " ".join(f"{axis}={size}" for axis, size in shape.items())


def element_text(element: WrongElement) -> str:
    """Write a wrong element: "[0, 1, 5]: got 0.25, expected 2.0"."""
    return f"[{', '.join(map(str, element.index))}]: got {element.got:.7g}, expected {element.expected:.7g}"


def clocks_text(record: Record) -> str:
    """Say what the GPU's clocks did during a replay: "SM 1980 MHz (1905 to 1980), ..."; nothing where nobody looked."""
    seen = next(
        (case.timing.clocks for case in record.cases if case.timing and "sm_mhz_median" in case.timing.clocks), {}
    )
    if not seen:
        return ""
    parts = [
        f"SM {seen['sm_mhz_median']} MHz ({seen.get('sm_mhz_lowest', '?')} to {seen.get('sm_mhz_highest', '?')})",
        f"memory {seen['memory_mhz']} MHz" if seen.get("memory_mhz") else "",
        f"{seen['temperature_c_highest']} °C at the most" if seen.get("temperature_c_highest") else "",
        f"slowed down by {str(seen['throttle']).replace(',', ', ')}"
        if seen.get("throttle")
        else "never seen slowed down",
    ]
    return ", ".join(part for part in parts if part)


def made_with(record: Record) -> list[tuple[str, str]]:
    """Return what a record was made with, as (name, value) pairs to show."""
    pairs = [
        ("season", record.season),
        ("problem version", record.problem_version),
        ("evaluator", record.evaluator_version),
        ("toolchain", ", ".join(f"{tool} {version}" for tool, version in record.toolchain.items())),
        *_machines(record),
        ("sandbox", record.sandbox_level),
        ("submitted", f"{moment(record.created)} UTC"),
        ("finished", f"{moment(record.finished)} UTC" if record.finished else ""),
        ("source", record.source_sha256[:16]),
        ("artifact", (record.artifact_key or "")[:16]),
        ("program", record.program_sha256[:16]),
    ]
    return [(name, value) for name, value in pairs if value]


_OF_THE_BUILD = frozenset({"cpu", "cores", "memory_bytes", "kernel"})  # the GPU machine says nothing of these


def _machines(record: Record) -> Iterator[tuple[str, str]]:
    """Yield the machine, or where a GPU was at work the one that built and the one that replayed: often two."""
    replayed = "gpu" in record.machine
    built = {name: value for name, value in record.machine.items() if not replayed or name in _OF_THE_BUILD}
    rest = {name: value for name, value in record.machine.items() if name not in built}
    yield "built on" if replayed else "machine", ", ".join(_machine_part(*item) for item in built.items())
    yield "replayed on", ", ".join(_machine_part(*item) for item in rest.items())


def _machine_part(name: str, value: str | int) -> str:
    if name.endswith("_bytes") and isinstance(value, int):
        return f"{name.removesuffix('_bytes')} {value / 2**30:.0f} GiB"
    return f"{name} {value}"


def _largest_error(error: OutputError) -> str:
    if math.isfinite(error.worst_over_tolerance):
        return f"{magnitude(error.max_abs)}, {magnitude(error.worst_over_tolerance)} times the tolerance"
    # It is taken over the finite elements: with nothing wrong among them, or none of them, it says nothing.
    return f"{magnitude(error.max_abs)} where it is finite" if error.max_abs > 0 else "-"


def _nan_last(value: float) -> float:
    return math.inf if math.isnan(value) else value
