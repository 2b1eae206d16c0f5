"""CPU replay: executes an artifact's plans under Triton's interpreter, in a process of its own.

`python -m harness.replay.cpu SCRATCH ARTIFACT` serves requests (JSON lines) and returns raw tensors
(safetensors). It holds no submission code, no reference and no expected value, and it compares nothing:
that is the judge's work, in another process, which treats everything that comes from here as hostile.
Layers, lowest first: faults; vocabulary source; numerics bounds front_end scaled_dot; arithmetic libdevice reductions
inline_assembly memory; interpreter; kernels arguments; barrier shared programs; host; execute; worker.
"""
