"""`python -m harness.replay.cpu SCRATCH ARTIFACT`: the child process of CPU replay.

Runs in the engine's sandbox. Keeps a private copy of standard output for its responses and points descriptor 1
at standard error, so that nothing a kernel or a library prints can pass for a response.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_ENVIRONMENT = {
    "TRITON_INTERPRET": "1",
    # Workers are forked, one per core: threads inside of them would only get in each other's way.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def main() -> None:
    """Serve requests from standard input until it ends."""
    if len(sys.argv) != 3:
        sys.exit("usage: python -m harness.replay.cpu SCRATCH ARTIFACT")
    os.environ.update(_ENVIRONMENT)
    responses = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)

    from harness.replay.cpu import interpreter
    from harness.replay.cpu.worker import Worker

    refusal = interpreter.install()
    Worker(Path(sys.argv[1]), Path(sys.argv[2]), refusal).serve(sys.stdin, responses)


if __name__ == "__main__":
    main()
