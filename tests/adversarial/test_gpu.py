"""What comes out CHECKED on a CPU, replayed on a GPU: honest look-alikes and neutral attacks PASS, others don't.

The attacks on the GPU's runner itself are `tests/replay_gpu`'s.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.adversarial.catalogue import Attack, load_catalogue
from tests.replay_gpu.building import build_artifact, export
from tests.replay_gpu.local_node import replay

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here"),
]
CHECKED = [attack for attack in load_catalogue() if attack.kind == "CHECKED"]


@pytest.mark.parametrize("attack", CHECKED, ids=lambda attack: attack.name)
def test_verdict_on_a_gpu(attack: Attack, gpu_node: Path, gpu_target: str, tmp_path: Path) -> None:
    path = attack.write(tmp_path / "submission")
    export(build_artifact(path, tmp_path / "state", gpu_target, attack.division), tmp_path / "exported")
    cases = replay(gpu_node, tmp_path / "exported")
    failed = [case for case in cases if case["status"] != "passed"]
    if attack.gpu == "PASSED":
        assert not failed, failed
    else:
        assert attack.gpu == "INCORRECT"
        assert failed[0]["reason"] == "wrong_values", failed
