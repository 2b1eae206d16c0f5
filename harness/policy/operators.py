"""The aten operators that a host program may use, by what they do to memory.

The closed division is for Helion: beside kernel launches the host may allocate, look at memory in another shape, fill,
copy and cast, pad and concatenate. All of it is timed. Computation is allowed only on values that depend on no input
(an index range, a causal mask). The open division adds torch's own computation.
"""

from __future__ import annotations

from enum import Enum


class Role(Enum):
    """What an operator does. One that may or may not return its argument's own memory has no place here."""

    ALLOCATE = "allocate"  # new memory, content undefined or one value
    VIEW = "view"  # the first argument's memory in another shape
    FILL = "fill"  # overwrites the first argument with one value
    COPY_INTO = "copy into"  # overwrites the first argument with the second's elements
    COPY = "copy"  # new memory with the arguments' elements, moved or cast
    CONSTANT = "constant"  # new memory, a value that depends on no tensor
    COMPUTE = "compute"  # anything else that returns new memory


def _names(role: Role, text: str) -> dict[str, Role]:
    return {f"aten.{name}": role for name in text.split()}


_OPERATORS: dict[str, Role] = {
    **_names(
        Role.ALLOCATE,
        """empty.memory_format empty_strided.default empty_like.default new_empty.default new_empty_strided.default
        zeros.default zeros_like.default new_zeros.default ones.default ones_like.default new_ones.default
        full.default full_like.default new_full.default scalar_tensor.default""",
    ),
    **_names(
        Role.VIEW,
        """view.default view.dtype _unsafe_view.default as_strided.default transpose.int permute.default t.default
        expand.default unsqueeze.default squeeze.default squeeze.dim squeeze.dims select.int slice.Tensor
        split.Tensor split_with_sizes.default unbind.int alias.default detach.default lift_fresh.default
        diagonal.default unfold.default narrow.default swapaxes.default movedim.int _reshape_alias.default
        view_as_real.default view_as_complex.default lift.default""",
    ),
    **_names(Role.FILL, "zero_.default fill_.Scalar fill_.Tensor"),
    **_names(Role.COPY_INTO, "copy_.default"),
    **_names(
        Role.COPY,
        """clone.default _to_copy.default constant_pad_nd.default cat.default stack.default repeat.default flip.default
        roll.default""",
    ),
    **_names(
        Role.CONSTANT,
        """arange.default arange.start arange.start_step eye.default eye.m linspace.default tril_indices.default
        triu_indices.default""",
    ),
    **_names(
        Role.COMPUTE,
        """tril.default triu.default ge.Tensor ge.Scalar gt.Tensor gt.Scalar le.Tensor le.Scalar lt.Tensor lt.Scalar
        eq.Tensor eq.Scalar ne.Tensor ne.Scalar logical_and.default logical_or.default logical_not.default
        bitwise_and.Tensor bitwise_or.Tensor bitwise_not.default add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Scalar
        mul.Tensor mul.Scalar div.Tensor div.Scalar div.Tensor_mode floor_divide.default remainder.Scalar
        remainder.Tensor neg.default abs.default where.self where.ScalarOther where.ScalarSelf masked_fill.Scalar
        minimum.default maximum.default clamp.default""",
    ),
}

# What the open division adds: computation on data.
_OPEN: dict[str, Role] = _names(
    Role.COMPUTE,
    """mm.default mm.dtype bmm.default bmm.dtype addmm.default baddbmm.default matmul.default linear.default
    einsum.default convolution.default exp.default exp2.default log.default sqrt.default rsqrt.default
    reciprocal.default pow.Tensor_Scalar sigmoid.default tanh.default relu.default gelu.default silu.default
    sum.default sum.dim_IntList mean.dim mean.default amax.default amin.default max.dim max.default cumsum.default
    cumprod.default softmax.int _softmax.default index.Tensor index_select.default gather.default exp_.default
    add_.Tensor sub_.Tensor mul_.Tensor div_.Tensor mul_.Scalar round.default linalg_solve_triangular.default""",
)

# Computation that returns its first argument's memory, changed.
IN_PLACE = frozenset(name for name in _OPEN if name.split(".")[1].endswith("_"))


def find_role(op: str, division: str) -> Role | None:
    """Return what `op` ("aten.name.overload") does, None if the division does not allow it."""
    role = _OPERATORS.get(op)
    if role is None and division == "open":
        role = _OPEN.get(op)
    return role
