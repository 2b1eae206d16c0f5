"""The names that a kernel's source may use: what Helion 1.5.0 and Inductor can print, and hand-written Triton."""

from __future__ import annotations

_TRITON_FUNCTIONS = """
    abs advance arange argmax argmin assume associative_scan atomic_add atomic_and atomic_cas atomic_max atomic_min
    atomic_or atomic_xchg atomic_xor bitonic_merge broadcast broadcast_to cast cat cdiv ceil clamp cos cumprod cumsum
    debug_barrier device_assert device_print div_rn dot dot_scaled erf exp exp2 expand_dims fdiv flip floor fma full
    gather histogram inline_asm_elementwise interleave join load load_tensor_descriptor log log2 make_block_ptr
    make_tensor_descriptor max max_constancy max_contiguous maximum min minimum multiple_of num_programs permute
    philox program_id rand rand4x randint randint4x randn randn4x range ravel reduce reduce_or reshape rsqrt sigmoid
    sin softmax sort split sqrt sqrt_rn squeeze static_assert static_range store store_tensor_descriptor sum
    swizzle2d topk trans umulhi unsqueeze view where xor_sum zeros zeros_like pointer_type
"""
_TRITON_TYPES = """
    bfloat16 constexpr dtype float16 float32 float64 float8e4nv float8e5 int1 int16 int32 int64 int8 tensor uint16
    uint32 uint64 uint8
"""
_MATH_FUNCTIONS = "abs ceil cos div_rn erf exp exp2 fdiv floor fma log log2 rsqrt sin sqrt sqrt_rn umulhi"
_LIBDEVICE = """
    abs acos acosh add_rn asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi div_rn erf erfc erfcinv erfcx
    erfinv exp exp10 exp2 expm1 fast_cosf fast_dividef fast_expf fast_exp10f fast_log10f fast_log2f fast_logf
    fast_powf fast_sinf fast_tanf fast_tanhf fdim ffs finitef floor fma fma_rn fmod hypot ilogb isfinited isinf isnan
    j0 j1 ldexp lgamma llrint llround log log10 log1p log2 logb mul_rn nearbyint nextafter normcdf normcdfinv popc pow
    rcbrt rcp_rn rint round rsqrt rsqrt_rn saturatef signbit sin sinh sinpi sqrt sqrt_rn sub_rn tan tanh tgamma trunc
"""
_HELPERS = """
    any div_floor_integer exclusive_scan_decoupled_lookback exclusive_scan_decoupled_lookback_64 exp
    fp8e4m3fn_to_float32 frexp inline_asm_pack inline_asm_unpack is_floating max2 max_with_index maximum
    maximum_with_index min2 min_with_index minimum minimum_with_index online_softmax_combine
    online_softmax_combine_with_sum online_softmax_reduce pow_integer prod promote_to_tensor rand4x rand_eager_kernel
    randint64 randn4x remainder_integer select_one sort_with_index welford welford_combine welford_reduce
    x_grid_barrier
"""

FUNCTIONS: dict[str, frozenset[str]] = {
    "tl": frozenset(_TRITON_FUNCTIONS.split()),
    "tl.math": frozenset(_MATH_FUNCTIONS.split()),
    "tl_math": frozenset(_MATH_FUNCTIONS.split()),
    "libdevice": frozenset(_LIBDEVICE.split()),
    "triton_helpers": frozenset(_HELPERS.split()),
    "helion_triton_helpers": frozenset({"max_propagate_nan", "min_propagate_nan"}),
}
VALUES: dict[str, frozenset[str]] = {
    "tl": frozenset(_TRITON_TYPES.split()),
    "tl.PropagateNan": frozenset({"ALL", "NONE"}),
}
MODULES = frozenset({"tl", "tl_math", "libdevice", "triton_helpers", "helion_triton_helpers", "triton"})

METHODS = frozenset(
    """
    T abs advance argmax argmin associative_scan atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or
    atomic_xchg atomic_xor block_shape broadcast_to cast ceil cos cumprod cumsum dtype element_ty erf exp exp2
    expand_dims flip floor gather histogram int_bitwidth is_block is_floating is_int is_int_signed is_ptr load log
    log2 logical_and logical_or max min ndim numel permute primitive_bitwidth ravel reduce reshape rsqrt scalar
    scatter shape sigmoid sin softmax sort split sqrt sqrt_rn squeeze store sum to topk trans type unsqueeze value
    view xor_sum
    """.split()
)
BUILTINS = frozenset("abs bool float int len max min range".split())
"""Python's builtins that may be called, each with the meaning that compiled Triton gives it."""

WAITING = frozenset(
    """
    tl.atomic_cas triton_helpers.x_grid_barrier triton_helpers.exclusive_scan_decoupled_lookback
    triton_helpers.exclusive_scan_decoupled_lookback_64
    """.split()
)
"""Functions through which one program waits for another."""
