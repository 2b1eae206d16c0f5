"""A tuner's cache is brought along and pointed at.

How: HELION's cache folder is filled at import with a "best" config for every key. Seen: follows from tuners that cache.
Defence: nothing is tuned and no cache is read: the kernel's own config counts.
"""
# expected: CHECKED checked

import os
from pathlib import Path

from forging import custom_kernel  # noqa: F401

folder = Path(os.environ["TMPDIR"], "tuned")
folder.mkdir(exist_ok=True)
for name in ("best_config.json", "0" * 64 + ".best_config"):
    (folder / name).write_text('{"config": {"block_sizes": [1, 1], "num_warps": 32}}')
os.environ["HELION_CACHE_DIR"] = os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder)
os.environ["HELION_AUTOTUNER_INITIAL_POPULATION"] = "from_best_available"
