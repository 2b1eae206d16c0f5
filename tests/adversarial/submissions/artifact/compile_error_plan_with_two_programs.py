"""A document with two lists of steps, of which readers may take the first or the last.

How: a key stands twice in the JSON. Seen: parsers that disagree, everywhere. Defence: the strict reader takes a
document in which a name is given twice for none.
"""
# expected: COMPILE_ERROR process_died

from forging import custom_kernel, forge_text  # noqa: F401

forge_text(lambda text: text.replace('"steps":', '"steps": [], "steps":'))
