"""The process of a shape is killed from inside.

How: SIGKILL, which looks like the kernel's answer to a lack of memory. Seen: to be taken for the machine's fault.
Defence: a death is the submission's result, whatever it looks like.
"""
# expected: COMPILE_ERROR out_of_memory

import os
import signal


def custom_kernel(data):
    os.kill(os.getpid(), signal.SIGKILL)
