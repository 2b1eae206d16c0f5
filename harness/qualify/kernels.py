"""A problem's variants and mutants as Helion kernels: what kernels.yml says, and what must become of them. Pure.

Each is the starter with a small change, stated as text that is replaced, so that it cannot rot unseen: where the
starter no longer has that text, the change is refused. Names are those of mutants.py, which says what is wrong with
each. They are submitted like anybody's kernel; that is the engine's work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from harness.errors import SpecError
from harness.qualify.measurements import ACCEPT, REFUSE, Candidate
from harness.spec.document import Strict, load_document
from harness.spec.problem import Name

FILE = "kernels.yml"
STARTER = "starter"


class Change(Strict):
    """A text of the starter, and what stands in its place."""

    replace: str = Field(min_length=1)
    by: str


class KernelFile(Strict):
    """kernels.yml: changes of the starter, by the name of the variant or mutant that they make of it."""

    kernels: dict[Name, tuple[Change, ...]] = Field(min_length=1)


@dataclass(frozen=True)
class Kernel:
    """A submission.py, and what must become of it.

    Attributes:
        name: "starter", or a candidate's name.
        expected: as a candidate's.
        source: its text.
    """

    name: str
    expected: str
    source: str


@dataclass(frozen=True)
class KernelTrial:
    """What became of one kernel.

    Attributes:
        kernel: its name.
        expected: what had to become of it.
        suite: whose tests it was given.
        device: what replayed it: "CPU", or the GPU's name.
        verdict: the verdict's word.
        reason, case, message: the verdict's.
    """

    kernel: str
    expected: str
    suite: str
    device: str
    verdict: str
    reason: str
    case: str
    message: str

    @property
    def as_expected(self) -> bool:
        """Whether an honest kernel was accepted, or a wrong one told to be wrong."""
        accepted = self.verdict in ("CHECKED", "PASSED")
        return {ACCEPT: accepted, REFUSE: self.verdict == "INCORRECT"}.get(self.expected, True)


def load_kernels(folder: Path, starter: str, candidates: Sequence[Candidate]) -> tuple[Kernel, ...]:
    """Return the starter, and what kernels.yml makes of it.

    Args:
        folder: the problem's.
        starter: the text of the starter's submission.py.
        candidates: the problem's variants and mutants.

    Raises:
        SpecError: the file is not of the form, names a candidate that is none, or the starter lacks a text; every
            fault is listed.
    """
    path = folder / FILE
    expected = {candidate.name: candidate.expected for candidate in candidates}
    made = [Kernel(STARTER, ACCEPT, starter)]
    faults: list[str] = []
    for name, changes in load_document(path, KernelFile).kernels.items():
        if name not in expected:
            faults.append(f"kernels.{name}: neither a mutant of mutants.py nor a precision that is tried")
        source, missed = _apply(changes, starter)
        faults += [f"kernels.{name}.{fault}" for fault in missed]
        made.append(Kernel(name, expected.get(name, REFUSE), source))
    if faults:
        raise SpecError("\n".join(f"{path}: {fault}" for fault in faults))
    return tuple(made)


def _apply(changes: Sequence[Change], source: str) -> tuple[str, tuple[str, ...]]:
    """Return the changed text, and what is wrong with changes that cannot be made; the others are, all the same."""
    faults = []
    for number, change in enumerate(changes):
        count = source.count(change.replace)
        if count == 1:
            source = source.replace(change.replace, change.by)
        else:
            told = f"the starter has it {count} times, it must have it once: state the change anew"
            faults.append(f"{number}.replace: {told} ({change.replace[:60]!r})")
    return source, tuple(faults)


def kernel_faults(trials: Sequence[KernelTrial]) -> Iterator[tuple[str, str]]:
    """Say which kernels did not meet what was expected of them: the name, and what was seen."""
    for trial in trials:
        if trial.as_expected:
            continue
        got = f"{trial.verdict}, {trial.reason}" + (f" in {trial.case}" if trial.case else "")
        wanted = "is honest and must be accepted" if trial.expected == ACCEPT else "is wrong and must be INCORRECT"
        told = trial.message.partition("\n")[0]
        yield (
            trial.kernel,
            f"{trial.kernel} as a Helion kernel {wanted}; on the {trial.device}, with the tests of suite "
            f"{trial.suite}, it is {got}: {told}",
        )
