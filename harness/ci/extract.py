"""The head's submissions, laid on top of the base's checkout: files as `examine` allowed them, and nothing else.

The checkout is the base's and trusted; the files' names have passed the rules on paths and their contents are written
as they are, with a plain mode. Nothing of the head is ever run from here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from harness.ci.change import Commits
from harness.ci.examine import Proposal
from harness.engine.workspace import disk_error
from harness.errors import HarnessError

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def extract(commits: Commits, proposal: Proposal, root: Path) -> None:
    """Write the files of a proposal without faults; each changed folder holds exactly the head's files afterwards.

    Raises:
        HarnessError: the checkout cannot be written to, or the proposal has faults.
    """
    if proposal.faults:
        raise HarnessError("a pull request with faults is not extracted")
    try:
        for folder in (*(entry.path for entry in proposal.entries), *proposal.removed):
            _remove(root / folder)
        for file in proposal.files:
            _write(root, file.path.split("/"), commits.content(file))
    except OSError as error:
        raise disk_error(error, root) from None


def _remove(folder: Path) -> None:
    if ".." in folder.parts:
        raise HarnessError(f"{folder} leads elsewhere: nothing is removed")
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)


def _write(root: Path, parts: Sequence[str], content: bytes) -> None:
    folder = root
    for part in parts[:-1]:
        folder = folder / part
        if folder.is_symlink():
            raise HarnessError(f"{folder} is a link in the base's checkout: nothing is written through it")
        folder.mkdir(exist_ok=True)
    path = folder / parts[-1]
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, _NEW_FILE, 0o644), "wb") as file:
        file.write(content)
