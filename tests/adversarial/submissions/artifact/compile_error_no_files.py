"""Every shape is reported as traced, and there is nothing to show for it.

How: the events are forged, the process ends. Once taken for a fault of the harness, which counts against nobody.
Seen: here, 2026-11. Defence: what cannot be read of a trace's results is the submission's doing.
"""
# expected: COMPILE_ERROR process_died

import os

from forging import claim_all_traced, custom_kernel  # noqa: F401

claim_all_traced()
os._exit(0)
