"""A vendor's matrix product does it.

How: the product with a diagonal matrix goes to cuBLAS. Seen: field guides (2026-03), as calls of libraries. Defence:
the plan shows it.
"""
# expected: POLICY_VIOLATION host_operation


def custom_kernel(data):
    x, s = data
    return s.diag() @ x
