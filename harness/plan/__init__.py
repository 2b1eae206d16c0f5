"""The launch plan: what one call of `custom_kernel` does, as data. Standard library only."""

from harness.dtypes import DTYPE_BYTES
from harness.plan.encode import encode_plan, encode_value
from harness.plan.parse import parse_plan
from harness.plan.steps import (
    Argument,
    ConstantStep,
    Descriptor,
    LaunchStep,
    Named,
    OpStep,
    Plan,
    Step,
    Tensor,
    TensorMeta,
    Value,
    row_major,
    used_tensors,
)

__all__ = [
    "DTYPE_BYTES",
    "Argument",
    "ConstantStep",
    "Descriptor",
    "LaunchStep",
    "Named",
    "OpStep",
    "Plan",
    "Step",
    "Tensor",
    "TensorMeta",
    "Value",
    "encode_plan",
    "encode_value",
    "parse_plan",
    "row_major",
    "used_tensors",
]
