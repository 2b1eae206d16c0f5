"""`make fuzz`: many cases from a seed, which is printed so that what is found can be had again."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    arguments = parser.parse_args()
    os.environ |= {"HARNESS_FUZZ_CASES": str(arguments.cases), "HARNESS_FUZZ_SEED": str(arguments.seed)}
    import pytest

    print(f"{arguments.cases:,} cases from seed {arguments.seed}; again: make fuzz SEED={arguments.seed}", flush=True)
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "-m", "", "--durations=0", str(Path(__file__).parent)]))


if __name__ == "__main__":
    sys.exit(main())
