"""Somebody else's machine code lies in the compiler's cache.

How: Triton's and Inductor's cache folders are filled with a cubin under every key that may be asked for, at import.
Seen: follows from compilers that look a key up on disk. Defence: assembly happens in another sandbox with caches of its
own, and the harness's cache is written by its parent only.
"""
# expected: CHECKED checked

import os
from pathlib import Path

from forging import custom_kernel  # noqa: F401

for variable in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
    folder = Path(os.environ.get(variable, "/tmp/none"), "0" * 52)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("scale.cubin", "_helion_scale.cubin", "_helion_scale.json", "__grp___helion_scale.json"):
        (folder / name).write_bytes(b"\x7fELF" + b"evil" * 100)
os.environ["TRITON_CACHE_DIR"] = os.environ["TRITON_DUMP_DIR"] = "/tmp/evil"
