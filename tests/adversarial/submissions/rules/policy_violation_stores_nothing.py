"""A kernel that does nothing, for rules that count launches.

How: the IR of a real kernel without its stores is launched beside. Seen: as decoys. Defence: a kernel that stores
nothing is refused.
"""
# expected: POLICY_VIOLATION stores_nothing

import re

from forging import custom_kernel, forge_ttir  # noqa: F401

forge_ttir(lambda ir: re.sub(r"\n\s*tt\.store [^\n]*", "", ir))
