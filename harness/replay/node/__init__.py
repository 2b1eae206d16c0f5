"""What is sent to a GPU machine: one file (see `pack`) that checks and times an artifact there.

The node's process is the judge: it makes seeds, inputs and expected values in a CUDA context of its own, starts a
runner (`replay.gpu`) for one submission, and compares. It needs Python 3.10, torch with CUDA and cuda-bindings; with
cupti-python too, a run can be ranked.
"""
