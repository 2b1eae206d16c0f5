"""One kernel for the CPU's eyes, another for the GPU.

How: the Triton source that a CPU replays is one kernel, the IR that is assembled another. Seen: follows from this
design. Defence: CHECKED is a courtesy to the author and never ranked; a GPU runs what was assembled. Here the source is
the wrong one, which a CPU sees; the other way round is `checked_other_face`.
"""
# expected: INCORRECT wrong_values

import re

from forging import custom_kernel, forge_source  # noqa: F401

forge_source(lambda text: re.sub(r"(= load) \*", r"\1 +", text))
