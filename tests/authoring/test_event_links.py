"""An event's folder whose task.yml leads elsewhere: nothing of what it leads to is read, or told."""

import shutil
from pathlib import Path

import pytest

from harness.authoring.event.folder import read_event_folder
from harness.errors import UsageError

FOLDER = Path(__file__).parent / "events" / "scaled_rows_py"


@pytest.mark.parametrize("content", ["password: [hunter2", "files: []\ntests: []\n", None])
def test_a_task_that_is_a_link_is_refused(tmp_path, content):
    folder = shutil.copytree(FOLDER, tmp_path / "events" / "problem")
    secret = tmp_path / "secret.yml"
    if content is not None:
        secret.write_text(content)
    (folder / "task.yml").unlink()
    (folder / "task.yml").symlink_to(secret)
    with pytest.raises(UsageError) as error:
        read_event_folder(folder)
    assert str(error.value) == (
        f"{folder / 'task.yml'}: a symbolic link, which is not followed: put a copy of the file in its place"
    )
