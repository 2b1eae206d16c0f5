"""Which keys of a Helion config exist for which targets, and Helion's complaints in the author's terms.

Owns the table of keys that depend on the GPU. Helion checks configs itself; this module only says for which
targets a refused key would have been right, and finds the keys that `portable` drops.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping

from helion.autotuner.config_spec import VALID_KEYS

from harness.target import Target, load_target, target_names

# Helion 1.5.0: language/loops.py (_supports_warp_specialize), _compat.py (supports_host_tensor_descriptor).
_NEEDS: dict[str, Callable[[Target], bool]] = {
    "range_warp_specializes": lambda target: target.capability >= (10, 0),
    "host_tensor_descriptors": lambda target: target.capability >= (9, 0),
}
# Keys of other builds of Triton (TileIR) and of AMD GPUs: config_spec.py (_BASE_BACKEND_TUNABLE_KEYS).
_FOREIGN = {
    "num_ctas": "Triton's TileIR build",
    "occupancy": "Triton's TileIR build",
    "waves_per_eu": "AMD GPUs",
    "matrix_instr_nonkdim": "AMD GPUs",
    "xcd_remap": "AMD GPUs",
}
_NAMED_KEY = re.compile(r"config\['(\w+)'\]")
_KEY_LIST = re.compile(r"keys[^\[]*\[([^\]]*)\]")


def missing_keys(config: Mapping[str, object], target: Target) -> list[str]:
    """Return the keys of a config that the target lacks, unless their value switches the feature off."""
    return [key for key, value in config.items() if _is_missing(key, target) and not _is_off(value)]


def explain_config(message: str, target: Target) -> str:
    """Return Helion's complaint about a config, with the targets that have the key, or the key that may be meant."""
    keys = [key for key in _mentioned(message) if _is_missing(key, target)]
    if not keys:
        return f"{message}{_meant(message)}"
    return "; ".join(f"config key {key} does not exist for {target.name}: {_where(key)}" for key in keys) + (
        f" (Helion: {message}). Remove it, or build with --portable to drop such keys."
    )


def _mentioned(message: str) -> Iterable[str]:
    listed = [key.strip(" '\"") for group in _KEY_LIST.findall(message) for key in group.split(",")]
    return dict.fromkeys([*_NAMED_KEY.findall(message), *listed])


def _meant(message: str) -> str:
    """Return a question after keys that look like others that exist."""
    unknown = [key for key in _mentioned(message) if key not in VALID_KEYS]
    near = [match for key in unknown for match in difflib.get_close_matches(key, sorted(VALID_KEYS), n=1)]
    return f"; did you mean {', '.join(near)}?" if near else ""


def _is_missing(key: str, target: Target) -> bool:
    return key in _FOREIGN or (key in _NEEDS and not _NEEDS[key](target))


def _is_off(value: object) -> bool:
    return value in (None, False, 0, []) or (isinstance(value, list) and not any(value))


def _where(key: str) -> str:
    if key in _FOREIGN:
        return f"it belongs to {_FOREIGN[key]}"
    having = [name for name in target_names() if _NEEDS[key](load_target(name))]
    return f"it exists for {', '.join(having)}" if having else "no described target has it"
