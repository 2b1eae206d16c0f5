"""All shapes are said to be traced, one is said to have failed for another reason.

How: forged events contradict each other, to be judged by the milder. Seen: follows from this design. Defence: a failure
counts, whatever else is said.
"""
# expected: UNTRACEABLE data_dependent

import os

from forging import claim_all_traced, custom_kernel, tracer  # noqa: F401

claim_all_traced()
tracer()[0]({"event": "failed", "shape": None, "reason": "data_dependent", "message": "mild"})
os._exit(0)
