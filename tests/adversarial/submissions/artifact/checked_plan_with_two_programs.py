"""A document with two lists of steps, of which readers may take the first or the last.

How: a key stands twice in the JSON. Seen: parsers that disagree, everywhere. Defence: one reader; what it read is
written anew into the artifact, and the file of the tracer goes no further.
"""
# expected: CHECKED checked

from forging import custom_kernel, forge_text  # noqa: F401

forge_text(lambda text: text.replace('"steps":', '"steps": [], "steps":'))
