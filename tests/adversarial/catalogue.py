"""The attacks and honest look-alikes under submissions/: what each declares of itself.

A file per attack, in the folder of its heading, named `<verdict>_<trick>.py`; one that needs files beside it is a
folder of that name with a `submission.py`. Its docstring says how it works, where its like was seen and what defends.
Lines that begin with `# expected:` and the like say what must come of it:

    # expected: POLICY_VIOLATION host_operation      the verdict and its reason
    # gpu: INCORRECT                                 what a GPU's replay must say, where that is not PASSED for CHECKED
    # effect: own plan                               CHECKED, and rightly with another plan than the honest kernel's
    # cases: 3                                       how many of the problem's cases are traced and run, by default 1
    # division: open                                 by default closed
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

SUBMISSIONS = Path(__file__).parent / "submissions"
HEADINGS = {
    "clocks": "Clocks and scores",
    "state": "State across calls",
    "correctness": "Correctness",
    "rules": "Rules",
    "host": "The host",
    "artifact": "The artifact",
    "honest": "Honest look-alikes",
}
SHARED = "forging.py"
_FIELD = re.compile(rb"^# (expected|gpu|effect|cases|division): (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Attack:
    """One attack, or honest look-alike.

    Attributes:
        name: `<verdict>_<trick>`.
        heading: the folder that it is in, a key of HEADINGS.
        files: what the team hands in, by name.
        kind, reason: the verdict that it must get.
        gpu: the verdict that a GPU's replay must give, "" where it never gets there.
        own_plan: it is CHECKED, and its plan is rightly another one than the honest kernel's.
        cases: how many of the problem's cases count.
        division: under which rules.
    """

    name: str
    heading: str
    files: dict[str, bytes]
    kind: str
    reason: str
    gpu: str
    own_plan: bool
    cases: int
    division: str

    @property
    def docstring(self) -> str:
        """What the file says of itself, "" where it is no Python."""
        try:
            return ast.get_docstring(ast.parse(self.files["submission.py"])) or ""
        except (SyntaxError, ValueError):
            text = self.files["submission.py"].replace(b"\0", b"").decode("utf-8", errors="replace")
            return text.split('"""')[1] if text.startswith('"""') else ""

    @property
    def is_honest(self) -> bool:
        """Whether it is no attack."""
        return self.heading == "honest"

    def write(self, folder: Path) -> Path:
        """Write its files as a team hands them in; return the path of submission.py."""
        folder.mkdir(parents=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        return folder / "submission.py"


def load_catalogue() -> tuple[Attack, ...]:
    """Return everything under submissions/, by heading and name."""
    found = []
    for heading in HEADINGS:
        for path in sorted((SUBMISSIONS / heading).iterdir()):
            if path.name != "__pycache__":
                found.append(_load(path, heading))
    return tuple(found)


def _load(path: Path, heading: str) -> Attack:
    if path.is_dir():
        files = {p.name: p.read_bytes() for p in path.iterdir() if p.is_file()}
    else:
        files = {"submission.py": path.read_bytes()}
    if b"from forging import" in files["submission.py"]:
        files[SHARED] = (SUBMISSIONS / SHARED).read_bytes()
    fields = {name.decode(): value.decode().strip() for name, value in _FIELD.findall(files["submission.py"])}
    kind, _, reason = fields["expected"].partition(" ")
    return Attack(
        name=path.stem,
        heading=heading,
        files=files,
        kind=kind,
        reason=reason,
        gpu=fields.get("gpu", "PASSED" if kind == "CHECKED" else ""),
        own_plan="effect" in fields or heading == "honest",
        cases=int(fields.get("cases", "1")),
        division=fields.get("division", "closed"),
    )
