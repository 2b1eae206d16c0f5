"""Why a submission, or one shape of it, could not be traced: the reason codes, all in one place.

Owns the codes and the advice that goes with each. It imports nothing heavy, so that stages above the trace can look a
code up. Mapping an exception to a code is `classify`'s business.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.frame import Frame

REASONS = {
    "syntax_error": "Correct the line shown; `python -m py_compile` finds it too.",
    "import_error": "The file must import without an error; see the lines shown.",
    "missing_package": "Use torch, triton, helion, numpy and the standard library only.",
    "missing_custom_kernel": "Define `custom_kernel(data)` at the top level of the file.",
    "wrong_signature": "`custom_kernel` takes one argument: the tuple of inputs.",
    "call_error": "`custom_kernel` raised this for the shape named; see the lines shown.",
    "wrong_output": "Return the output tensors that the problem declares, in their order.",
    "data_dependent": "Host code may depend on shapes and dtypes only: move the decision into the kernel.",
    "data_pointer": "Pass the tensor itself to the kernel.",
    "cuda_graph": "Call the kernels directly.",
    "unsupported_operation": "Do this inside a kernel, or with plain torch operators.",
    "unsupported_argument": "Pass tensors, numbers, strings or dtypes.",
    "unsupported_dtype": "Use a dtype that the plan format knows.",
    "plan_too_large": "Do less on the host: a plan is a short list of launches, not a long program.",
    "constant_too_large": "Compute the table on the device (arange, full, a kernel).",
    "helion_error": "Helion refused the kernel.",
    "helion_interpreter": "Remove HELION_INTERPRET and ref_mode: the kernel itself must run.",
    "config_error": "Correct the helion.Config of the kernel for this shape.",
    "triton_error": "Triton refused the kernel.",
    "autotuning_refused": "Nothing is tuned in evaluation: give each kernel one config.",
    "patched_generator": "Leave Helion's compiler and Triton's front end as they are.",
    "advanced_controls": "Use a controls file that the season provides, or none.",
    "bad_grid": "A grid has one to three sizes, at most 2147483647, 65535 and 65535.",
    "out_of_memory": "Build large tensors on the device: a trace has little host memory.",
    "harness_error": "This is the harness's fault, not the submission's: please report it.",
    "tracer_failed": "If the submission does nothing unusual, this is the harness's fault: please report it.",
    "process_died": "Look for os._exit or signals in the submission; if there are none, report it.",
}
"""What the author can do, by reason code. The verdict that a code leads to is `harness.verdict`'s."""


class TraceError(Exception):
    """The submission did something that has a reason code of its own.

    Attributes:
        reason: a key of `REASONS`.
    """

    def __init__(self, reason: str, message: str) -> None:
        assert reason in REASONS
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Failure:
    """A reason code with its message and the submission's own traceback lines, outermost first."""

    reason: str
    message: str
    frames: tuple[Frame, ...] = ()
