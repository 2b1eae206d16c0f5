"""State is kept next to the submission.

How: a file in its own folder, which a later process would find. Seen: as files elsewhere. Defence: the folder is
mounted read-only.
"""
# expected: COMPILE_ERROR import_error

from pathlib import Path

from forging import custom_kernel  # noqa: F401

Path(__file__).with_name("state.json").write_text("{}")
