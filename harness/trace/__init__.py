"""The trace: a submission's call, run on fake tensors of a described GPU, becomes a launch plan per shape.

    python -m harness.trace REQUEST OUT_DIR

A child process, started in a sandbox by `engine`. From the import on it is the submission's process: its files and
events are hostile data. Nothing is compiled to machine code here.

Request (JSON): {"submission": path, "target": "b200", "jobs": 2, "portable": false, "advanced_controls": null or
{path: id}, "shapes": [{"id": name, "inputs": [{"shape": [..], "dtype": "float32"}, ..]}, ..]}.

Files: `plans/<shape>.json` (`harness.plan`), `kernels/<key>.json` ({"ttir", "options", "name", "params"}, the key
being `harness.kernel.kernel_key`), `sources/<sha256>.py` (Triton modules, for people and for CPU replay).

Events, one JSON line each on standard output: `begun` (what is told from here on may be the submission's word),
`imported` (cpu_s, wall_s, warnings), `start` (shape), `traced` (shape, cpu_s, wall_s, warnings, empty_launches: what to
say of those that ran no program, which are no steps), `failed` (shape or null for the import, reason as in
`failures.REASONS`, message, traceback of the submission's own lines). A shape that fails does not stop the others.
"""
