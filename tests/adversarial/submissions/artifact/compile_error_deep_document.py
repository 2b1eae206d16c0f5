"""A plan nested as deep as the JSON parser goes.

How: telling what is wrong with it took a little more of the stack than reading it had. Then a RecursionError looked
like a bug of the harness. Seen: here, 2026-11. Defence: messages show scalars only.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_text  # noqa: F401

forge_text(lambda text: text.replace('"helion"', "[" * 900 + "]" * 900))
