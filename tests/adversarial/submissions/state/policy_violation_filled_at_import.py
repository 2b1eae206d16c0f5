"""The result lies ready before the clock starts.

How: a global buffer is filled by torch at import, when nothing is timed, and copied out in the call. Seen: field guides
(2026-03), as precomputation. Defence: import-time operations are part of every plan that depends on them, timed, and
held against the same rules.
"""
# expected: POLICY_VIOLATION no_helion_launch

import torch

ready = torch.zeros(4, 32, device="cuda") + 1.0


def custom_kernel(data):
    return ready.clone()
