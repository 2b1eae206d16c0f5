"""`harness import-problem`, top to bottom: an event's folder becomes one of ours, and what could not come is told.

Somebody else's Python is involved, which is untrusted: it is read as a syntax tree and run in the sandbox only, to see
its tensors and to try what was written. The reference.py that is left behind refuses to be imported until a person has
read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.authoring.event.carry import Carried, carry_python
from harness.authoring.event.folder import place, read_event_folder
from harness.authoring.event.marks import Mark, add_marks
from harness.authoring.event.seen import Seen, probe, run_sandboxed
from harness.authoring.event.shapes import find_shapes
from harness.authoring.event.sizes import UNKNOWN
from harness.authoring.event.tensors import find_interface
from harness.authoring.event.write import Brought, write_files, write_reference
from harness.authoring.finding import TO_WRITE, Finding
from harness.authoring.scaffold import STARTER, check_new_name, problem_folder, starter_folder, write_folder
from harness.errors import UsageError
from harness.strict_json import parse_strict
from harness.text import clean


@dataclass(frozen=True)
class Imported:
    """What was written, and what a person has to know of it.

    Attributes:
        files: what was written.
        findings: what was not carried over, and what is to be written, with file and line in the event's folder.
    """

    files: tuple[Path, ...]
    findings: tuple[Finding, ...]


def import_problem(root: Path, path: Path, name: str, scratch: Path) -> Imported:
    """Bring an event's problem folder into problems/NAME.

    Args:
        root: the repository.
        path: the event's folder.
        name: our problem's name.
        scratch: an empty folder of our own, for the sandbox.

    Raises:
        UsageError: the name is taken, the folder is none of an event's, or its Python does not run.
        OSError: the disk.
    """
    check_new_name(root, name)
    event = read_event_folder(path)
    carried = carry_python(event)
    shapes = find_shapes(event, carried.parameters)
    source = "\n".join(["from __future__ import annotations", *carried.imports, "", carried.source])
    calls = [{**shape, **shapes.constants} for shape in shapes.probed]
    seen = _probe(source, calls, carried, scratch)
    interface = find_interface(seen, shapes.probed, carried.inputs, carried.outputs)
    fault = next((call.float64_fault for call in seen if call.float64_fault), "")
    brought = Brought(
        name,
        path.resolve().name,
        event.description,
        carried,
        interface,
        shapes.constants,
        shapes.tests,
        shapes.benchmarks,
        shapes.probed,
        in_float64=not fault,
    )
    files = write_files(brought)
    tried = _try(brought, files, scratch)
    told = (*event.findings, *shapes.findings, *carried.findings)
    marks = tuple(_marks(brought, fault, tried))
    marked = add_marks(files, (*_marks_of(told), *marks))
    written = write_folder(problem_folder(root, name), marked)
    if event.starter:
        written += write_folder(starter_folder(root, name), {STARTER: event.starter})
    missing = [] if event.starter else ["the folder has no submission.py: write the starter"]
    to_write = [*(mark.message for mark in marks), *missing]
    return Imported(written, (*told, *(place(event, "reference", message, None, TO_WRITE) for message in to_write)))


def _probe(source: str, calls: Sequence[Mapping[str, Any]], carried: Carried, scratch: Path) -> tuple[Seen, ...]:
    try:
        return probe(source, calls, takes_seed=carried.takes_seed, scratch=scratch)
    except UsageError as error:
        told = [f"  {found.file}:{found.line}: {found.message}" for found in carried.findings]
        looked = "\n".join(["\nLook at what was not carried over:", *told]) if told else ""
        raise UsageError(f"{error}{looked}") from None


def _try(brought: Brought, files: Mapping[str, str], scratch: Path) -> tuple[str, ...]:
    """Run what was written, in the sandbox, and return what is wrong with it."""
    folder = scratch / brought.name
    folder.mkdir()
    (folder / "task.yml").write_text(files["task.yml"], encoding="utf-8")
    (folder / "reference.py").write_text(write_reference(brought, guarded=False), encoding="utf-8")
    if UNKNOWN in brought.packed or any(UNKNOWN in tensor.shape for tensor in brought.interface.tensors):
        return ()
    try:
        answer = parse_strict(run_sandboxed("harness.qualify.examine", brought.name, scratch).splitlines()[-1])
        faults = answer["faults"] if "faults" in answer else [answer["error"]["message"]]
        return tuple(clean(str(fault)[:500].rpartition("reference.py: ")[2]) for fault in faults[:20])
    except (ValueError, KeyError, TypeError, IndexError):
        return ("what it said in the sandbox could not be read",)


def _marks_of(findings: Iterable[Finding]) -> Iterator[Mark]:
    """What the event's files left to write, said in ours, with the place in the event's."""
    for found in findings:
        if found.level == TO_WRITE:
            told = f"{found.file}:{found.line}: {found.message}"
            is_task = Path(found.file).name == "task.yml"
            yield Mark("task.yml", "benchmarks:", told) if is_task else Mark("reference.py", "def ref_kernel(", told)


def _marks(brought: Brought, fault: str, tried: Sequence[str]) -> Iterator[Mark]:
    """What was left to write by bringing it in."""
    tolerance = brought.carried.tolerance
    for tensor in brought.interface.tensors:
        yield from (Mark("task.yml", f"  - {{name: {tensor.name},", doubt) for doubt in tensor.doubts)
    for doubt in (*brought.interface.doubts, *brought.doubts):
        yield Mark("reference.py", "def reference(", doubt)
    if fault:
        told = f"ref_kernel does not compute in float64: {fault}. Ours must; so far it computes as the event does"
        yield Mark("reference.py", "def reference(", told)
    if tolerance.rtol is None or tolerance.atol is None:
        told = "check_implementation states no rtol and atol as numbers: 1e-3 is written for what is missing"
        yield Mark("task.yml", "tolerance:", told)
    for error in tried:
        yield Mark("reference.py", "def generate(", f"what was written does not run yet: {error}")
    yield Mark(
        "task.yml", "distributions:", "distributions: the event has one; write more, until every mutant is refused"
    )
    yield Mark("task.yml", "  flops:", "cost.flops: the event states none; write what the formula needs")
    yield Mark("mutants.py", "MUTANTS", "mutants.py: the event has none; write the honest kernel and its mutants")
