"""The runner on a GPU: executes one artifact's plans with the CUDA driver and torch, and times them.

It imports torch, cuda.bindings and the standard library (cupti where present), none of the submission's Python. What
it executes is hostile all the same: a kernel can reach all of this process's GPU memory, which therefore never holds
anything but the current call.
"""
