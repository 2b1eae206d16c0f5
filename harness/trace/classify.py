"""From an exception to a reason code and a message in the author's terms.

Owns the mapping and the rewording. Messages of Helion and Triton are kept; only what they cannot know is added:
which targets have a config key, which package is absent on purpose, that a value does not exist in a trace.
"""

from __future__ import annotations

import re
from pathlib import Path

import helion
import torch
import triton
from helion import exc as helion_errors
from torch._subclasses import fake_tensor
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from triton.errors import TritonError

from harness.target import Target
from harness.trace.blame import frames_below, raised_in, submission_frames
from harness.trace.blamed_config import blamed_config, causes
from harness.trace.config_keys import explain_config
from harness.trace.failures import REASONS, Failure, TraceError

MAX_MESSAGE = 4000
_OURS = str(Path(__file__).parent)

# What fails in these folders is a compiler's own affair; their `runtime` calls the submission's host code.
_HELION, _TRITON = (str(Path(str(package.__file__)).parent) + "/" for package in (helion, triton))
_COMPILERS = tuple(
    [_HELION + part for part in ("_compiler/", "autotuner/", "language/")]
    + [_TRITON + part for part in ("compiler/", "backends/", "language/")]
)
# Failures that another config may cure: the author is shown the one that failed.
_ABOUT_CONFIGS = ("config_error", "helion_error", "triton_error")
_SHOWN_FRAMES = 3
# Errors of Helion's that say nothing, by type: when they were seen, and what helps.
_SEEN = {
    "NoCurrentFunction": "Helion 1.5.0 fails so when a kernel has both tensor descriptors and a tile whose size is a "
    "global variable, as in hl.tile(n, block_size=C): write the number there, or leave it to block_sizes.",
}

# Modules of the event's own evaluator that submissions were seen to import.
_EVENT_MODULES = ("reference", "utils", "eval", "task", "harness")
_HOST_READS = {
    "_local_scalar_dense": ".item(), bool(), int() or .tolist() of a tensor",
    "nonzero": "nonzero(), or indexing with a boolean mask",
    "equal": "torch.equal()",
    "is_nonzero": "a tensor as a condition",
    "masked_select": "masked_select(), or indexing with a boolean mask",
    "_unique2": "unique()",
}
_NO_VALUE = re.compile(r"can't be converted to numpy|Cannot access data pointer|meta tensor|numpy\(\) ", re.IGNORECASE)
_LOWERED = re.compile(r"^\s*target: (\w+(?:\.\w+)+)", re.MULTILINE)
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def classify(error: BaseException, path: str, target: Target, *, importing: bool) -> Failure:
    """Return the failure that an exception of the submission stands for.

    Args:
        error: what was raised.
        path: the submission's file.
        target: the described GPU, for the wording of config errors.
        importing: whether it was raised by the import rather than by a call of `custom_kernel`.
    """
    reason, message = _explain(error, path, target, importing=importing)
    clean = _CONTROL.sub("", message).strip()[:MAX_MESSAGE]
    config = _CONTROL.sub("", blamed_config(error)) if reason in _ABOUT_CONFIGS else ""
    if config:
        clean = f"{clean} [{config}]"
    return Failure(reason, _sentences(clean, REASONS[reason]), submission_frames(error, path))


def _sentences(message: str, advice: str) -> str:
    if "\n" in message:
        return f"{message}\n{advice}"
    return f"{message} {advice}" if message.endswith((".", "!", "?")) else f"{message}. {advice}"


def _explain(error: BaseException, path: str, target: Target, *, importing: bool) -> tuple[str, str]:
    if isinstance(error, TraceError):
        return error.reason, str(error)
    for explain in (_explain_toolchain, _explain_tensor, _explain_python):
        found = explain(error, target)
        if found:
            return found
    internal = _explain_internal(error, path)
    if internal:
        return internal
    reason = "import_error" if importing else "call_error"
    if raised_in(error, _OURS):
        reason = "harness_error"
    return reason, f"{type(error).__name__}: {error}"


def _explain_toolchain(error: BaseException, target: Target) -> tuple[str, str] | None:
    for cause in causes(error):  # Helion wraps what was raised below it
        if isinstance(cause, TraceError):
            return cause.reason, str(cause)
    if isinstance(error, helion_errors.AutotuningDisallowedInEnvironment):
        return "autotuning_refused", str(error)
    if isinstance(error, helion_errors.InvalidConfig):
        return "config_error", explain_config(str(error), target)
    if isinstance(error, helion_errors.InductorLoweringError):
        return "helion_error", _explain_lowering(str(error))
    if isinstance(error, helion_errors.Base):
        return "helion_error", f"helion.exc.{type(error).__name__}: {error}"
    if isinstance(error, TritonError):
        return "triton_error", f"{type(error).__name__}: {error}"
    if isinstance(error, KeyError) and "was specified but unrecognised" in str(error):
        return "triton_error", str(error.args[0])
    return None


def _explain_lowering(told: str) -> str:
    """Begin with the operator that Helion could not lower, where it names one, and leave out its arguments."""
    operator = _LOWERED.search(told)
    if operator is None:
        return f"helion.exc.InductorLoweringError: {told}"
    place = re.search(r"^(Found from|While processing)", told, re.MULTILINE)
    where = f"\n{told[place.start() :]}" if place else ""
    return f"{operator[1]} does not work within a Helion kernel ({told.splitlines()[0]}){where}"


def _explain_tensor(error: BaseException, target: Target) -> tuple[str, str] | None:
    dependent = (fake_tensor.DataDependentOutputException, fake_tensor.DynamicOutputShapeException)
    if isinstance(error, dependent):
        name = error.func._schema.name.partition("::")[2]
        what = _HOST_READS.get(name, f"the operator {name}")
        return "data_dependent", f"{what}: the host code needs the content of a tensor, which a trace does not have"
    if isinstance(error, GuardOnDataDependentSymNode) or (
        isinstance(error, RuntimeError) and _NO_VALUE.search(str(error))
    ):
        return "data_dependent", f"the host code needs the content of a tensor, which a trace does not have: {error}"
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "not enough memory" in str(error):
        return "out_of_memory", f"the host ran out of memory: {error}" if str(error) else "the host ran out of memory"
    return None


def _explain_python(error: BaseException, target: Target) -> tuple[str, str] | None:
    if isinstance(error, SyntaxError):
        return "syntax_error", f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    if isinstance(error, ModuleNotFoundError):
        name = str(error.name).partition(".")[0]
        if name in _EVENT_MODULES:
            return "missing_package", f"{name!r} is a module of the event's evaluator and absent here: drop the import"
        return "missing_package", f"the package {name!r} is not part of the toolchain"
    if isinstance(error, SystemExit):
        return "import_error", f"the submission ended the process: sys.exit({error.code!r})"
    return None


def _explain_internal(error: BaseException, path: str) -> tuple[str, str] | None:
    """Explain an error of Helion or Triton that is not meant for authors: often an assertion, or without a text."""
    below = frames_below(error, path)
    frames = [frame for frame in below if frame[0].startswith((_HELION, _TRITON))]
    silent = bool(frames) and not str(error) and below[-1] == frames[-1]
    if not silent and not any(file.startswith(_COMPILERS) for file, _ in frames):
        return None
    where = ", ".join(f"{Path(file).name}:{function}" for file, function in frames[: -_SHOWN_FRAMES - 1 : -1])
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    tool = "Helion" if frames[-1][0].startswith(_HELION) else "Triton"
    hint = f". {_SEEN[type(error).__name__]}" if type(error).__name__ in _SEEN else "; another config may work"
    return f"{tool.lower()}_error", f"{tool} failed internally with this config: {what} (in {where}){hint}"
