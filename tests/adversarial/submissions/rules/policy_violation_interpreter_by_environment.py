"""As above, by a variable.

How: HELION_INTERPRET is set at import. Seen, defence: as above.
"""
# expected: POLICY_VIOLATION helion_interpreter

import os

os.environ["HELION_INTERPRET"] = "1"

from forging import custom_kernel  # noqa: E402, F401
