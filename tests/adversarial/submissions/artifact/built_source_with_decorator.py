"""The kernel's decorator is an expression.

How: `@triton.jit(do_not_specialize=[...])` with calls in it, evaluated when the text is loaded. Seen: as attribute
chases. Defence: decorators are read, not run; this one is dropped, and what remains is the kernel. Nothing is gained,
but a name that no list has is in its body, so that it is not executed either.
"""
# expected: BUILT not_all_checked

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(
    lambda text: text.replace("@triton.jit", "@triton.jit(debug=__import__('os').abort())").replace(
        "    pid_0 = ", "    __import__('os').abort()\n    pid_0 = ", 1
    )
)
