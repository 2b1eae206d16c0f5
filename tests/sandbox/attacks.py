"""Carries out an attack: runs a hostile program in a sandbox, as root or as an ordinary user, and says what it saw.

Run as a script it is the ordinary user's side: a request on standard input, an outcome on standard output. It
imports nothing that the system's own Python lacks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(REPOSITORY))

from harness.sandbox import (  # noqa: E402
    Exit,
    Level,
    Limits,
    Mount,
    python_mounts,
    remove_tree,
    start,
    visible,
    why_not,
)
from harness.text import clean  # noqa: E402

MIB = 1 << 20
ROOMY = {
    "wall_s": 30.0,
    "cpu_s": 20.0,
    "memory_bytes": 512 * MIB,
    "processes": 32,
    "file_bytes": 64 * MIB,
    "scratch_bytes": 64 * MIB,
    "output_bytes": MIB,
}
HOSTILE = Path(__file__).with_name("hostile")
ORDINARY_UID = 23_517


@dataclass(frozen=True)
class Attack:
    """A program of tests/sandbox/hostile, what it is told, and the limits that differ from `ROOMY`."""

    program: str
    level: str
    told: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    mounts: tuple[str, ...] = ()
    folder: str | None = None  # where the scratch folder is made
    name_parent: bool = False  # tell the program the process id of ours that started it


@dataclass(frozen=True)
class Outcome:
    """What came of an attack: standard output, the exit, the scratch folder's files, the scratch folder."""

    output: str
    exit: Exit
    files: dict[str, int]
    scratch: str


def carry_out(attack: Attack) -> Outcome:
    """Run the program in this process's sandbox."""
    level = Level(attack.level)
    unavailable = why_not(level)
    if unavailable:
        raise RuntimeError(unavailable)
    programs = Mount(HOSTILE, str(HOSTILE))
    told = {**attack.told, **({"parent": os.getpid()} if attack.name_parent else {})}
    mounts = [*python_mounts(), programs, *(Mount(Path(path), path) for path in attack.mounts)]
    command = [
        sys.executable,
        "-I",
        "-S",
        f"{visible(level, programs)}/{attack.program}.py",
        _marker(),
        json.dumps(told),
    ]
    limits = Limits(**{**ROOMY, **attack.limits})
    scratch = Path(tempfile.mkdtemp(prefix="sandbox-test-", dir=attack.folder))
    try:
        with start(command, level=level, mounts=mounts, scratch=scratch, limits=limits) as job:
            output = "\n".join(job.lines())
            end = job.wait()
        files = {path.name: path.lstat().st_size for path in scratch.iterdir()}
    finally:
        remove_tree(scratch)
    return Outcome(output, end, files, str(scratch))


def _marker() -> str:
    """What tells the attacks of this test process, and of the drivers that it started, from everybody else's."""
    run, worker = (os.environ.get(f"PYTEST_XDIST_{name}", "alone") for name in ("TESTRUNUID", "WORKER"))
    return f"sandbox-attack-{run}-{worker}"


def left_behind() -> list[str]:
    """The processes of our attacks that are still there."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if f"{_marker()}\0" in command:
            found.append(clean(command.replace("\0", " ")))
    return found


def mounts_left_behind() -> list[str]:
    """The mounts outside of the sandbox that only a sandbox would make, pinned namespaces among them."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line for line in lines if "sandbox" in line or " nsfs " in line or "/scratch" in line]


def ordinary_python() -> str | None:
    """A Python that an ordinary user can run, None if there is none."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        check = "import sys; sys.exit(sys.version_info < (3, 10))"
        try:
            run = subprocess.run([candidate, "-I", "-c", check], user=ORDINARY_UID, group=ORDINARY_UID, cwd="/")
        except OSError:
            continue
        if run.returncode == 0:
            return candidate
    return None


class OrdinaryUser:
    """A process of an ordinary user that carries out attacks in its own sandboxes, one after another."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, "-I", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            user=ORDINARY_UID,
            group=ORDINARY_UID,
            extra_groups=[],
            cwd="/",
        )

    def carry_out(self, attack: Attack) -> Outcome:
        """As the function of that name, over there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(attack)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the ordinary user's process ended: {self._process.wait()}")
        fields = json.loads(answer)
        return Outcome(**{**fields, "exit": Exit(**fields["exit"])})

    def kill(self) -> None:
        """Kill it, as an operator or a crash would."""
        self._process.kill()
        self._process.communicate()


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(asdict(carry_out(Attack(**json.loads(line))))), flush=True)
