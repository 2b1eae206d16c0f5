"""Importing a submission: reading the file, running it, finding `custom_kernel`.

Owns the module's set-up, which is that of the event: the file is the module `submission`, and `from task import
input_t, output_t` works. The code that runs here is the submission's, in a process that is its own.
"""

from __future__ import annotations

import difflib
import importlib.machinery
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from harness.trace.failures import TraceError

ENTRY = "custom_kernel"


def import_submission(path: str) -> ModuleType:
    """Run the submission's file as the module `submission` and return it.

    Raises:
        TraceError: the file is not UTF-8 text.
        BaseException: whatever the file raises.
    """
    source = _read_source(path)
    code = compile(source, path, "exec", dont_inherit=True)
    sys.modules["task"] = _task_module()
    sys.path.append(str(Path(path).parent))  # last: a file beside the submission never hides a package
    loader = importlib.machinery.SourceFileLoader("submission", path)
    spec = importlib.util.spec_from_file_location("submission", path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["submission"] = module  # Helion resolves a kernel's globals through its module
    exec(code, module.__dict__)  # noqa: S102 - running the submission is what this process is for
    return module


def find_entry(module: ModuleType) -> Callable[[Any], Any]:
    """Return the submission's `custom_kernel`.

    Raises:
        TraceError: there is none, or it does not take exactly one argument.
    """
    entry: Callable[[Any], Any] | None = getattr(module, ENTRY, None)
    if entry is None:
        near = difflib.get_close_matches(ENTRY, vars(module), n=1)
        hint = f" Is {near[0]} meant?" if near else ""
        raise TraceError("missing_custom_kernel", f"the file defines no `{ENTRY}(data)`.{hint}")
    if not callable(entry):
        raise TraceError("missing_custom_kernel", f"`{ENTRY}` is a {type(entry).__name__}, not a function")
    try:
        signature = inspect.signature(entry)
    except (TypeError, ValueError):
        return entry  # a callable without a signature: the call will tell
    try:
        signature.bind(())
    except TypeError:
        message = f"`{ENTRY}{signature}` must take one argument, the tuple of inputs: `{ENTRY}(data)`"
        raise TraceError("wrong_signature", message) from None
    return entry


def _read_source(path: str) -> str:
    content = Path(path).read_bytes()
    try:
        source = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = (
            f"the file is not UTF-8: byte 0x{content[error.start]:02x} in line {content[: error.start].count(10) + 1}"
        )
        raise TraceError("syntax_error", message) from None
    if "\0" in source:
        raise TraceError("syntax_error", "the file holds a NUL byte; it is not Python text")
    return source


def _task_module() -> ModuleType:
    """Return the event's `task` module: two names for annotations."""
    task = ModuleType("task")
    vars(task).update(input_t=TypeVar("input_t"), output_t=TypeVar("output_t"))
    return task
