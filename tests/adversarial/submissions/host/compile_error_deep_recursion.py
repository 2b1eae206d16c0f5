"""A recursion without an end.

How: Python's limit ends it, in the tracer's own code if it can. Seen: common. Defence: it is an error like any other.
"""
# expected: COMPILE_ERROR call_error


def custom_kernel(data):
    return custom_kernel(data)
