"""As above, in the call: `os._exit(0)`, which runs no handler.

How, seen, defence: as above.
"""
# expected: COMPILE_ERROR process_died

import os


def custom_kernel(data):
    os._exit(0)
