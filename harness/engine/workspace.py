"""The folders that a run uses: the repository's own, and `.harness/` for what it keeps.

Only the parent process writes here; sandboxed processes get scratch folders of their own outside of it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError, UsageError

STATE = ".harness"


@dataclass(frozen=True)
class Workspace:
    """A checkout of the repository: problems, submissions, shapes.yaml, and the state beside them."""

    root: Path

    @property
    def state(self) -> Path:
        """Everything that can be made again, and the local records."""
        return self.root / STATE

    @property
    def artifacts(self) -> Path:
        """Built artifacts, by key."""
        return self.state / "artifacts"

    @property
    def kernels(self) -> Path:
        """Assembled kernels, by toolchain and target."""
        return self.state / "kernels"

    @property
    def database(self) -> Path:
        """The local records; the folder is made if need be."""
        try:
            # It holds submitted code. What root starts in a sandbox is another user's, and reads artifacts in it.
            self.state.mkdir(mode=0o755 if os.geteuid() == 0 else 0o700, exist_ok=True)
        except OSError as error:
            raise disk_error(error, self.state) from None
        return self.state / "records.sqlite"


def find_workspace(start: Path) -> Workspace:
    """Return the workspace that `start` lies in.

    Raises:
        UsageError: no folder from here up holds a shapes.yaml and problems/.
    """
    for folder in (start, *start.parents):
        if (folder / "shapes.yaml").is_file() and (folder / "problems").is_dir():
            return Workspace(folder)
    raise UsageError(f"{start} is not inside a harness repository (no shapes.yaml and problems/ above it): cd into one")


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a private folder for one sandboxed process, and remove it afterwards whatever was left in it."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="harness-"))
    except OSError as error:
        raise disk_error(error, Path(tempfile.gettempdir())) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def disk_error(error: OSError, place: Path) -> HarnessError:
    """Return what to tell when a file cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return HarnessError(f"the disk is full at {place}: free some space ({_free_mb(place)} MB left) and run again")
    return HarnessError(f"cannot write {place}: {error.strerror or error}")


def _free_mb(place: Path) -> int:
    while not place.exists():
        place = place.parent
    status = os.statvfs(place)
    return status.f_bavail * status.f_frsize >> 20
