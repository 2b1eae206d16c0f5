"""What a hostile program gets when it asks: the whole "The host" heading that needs no dying."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.attacks import HOSTILE, ORDINARY_UID, Attack, Outcome, carry_out
from tests.sandbox.conftest import Carry

SECRET = "the-token-that-nobody-may-see"
NAMES = re.findall(r"@probe\ndef (\w+)", (HOSTILE / "probe.py").read_text())


@dataclass
class Host:
    """Things outside the sandbox that a hostile program would like to reach, all open to every user."""

    told: dict[str, Any]
    listeners: list[socket.socket]
    folder: Path

    def reached(self) -> list[str]:
        heard = []
        for listener in self.listeners:
            with contextlib.suppress(BlockingIOError):
                if listener.type == socket.SOCK_STREAM:
                    listener.accept()
                else:
                    listener.recv(100)
                heard.append(str(listener))
        return heard


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    with tempfile.TemporaryDirectory(prefix="sandbox-host-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o777)
        for file in ("planted", "writable", "theirs.py"):
            (folder / file).write_text(SECRET)
            (folder / file).chmod(0o666)
        abstract = f"sandbox-test-{os.getpid()}"
        addresses: list[tuple[int, int, Any]] = [
            (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{abstract}-stream"),
            (socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{abstract}-datagram"),
            (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "socket")),
        ]
        listeners = []
        for family, kind, address in addresses:
            listener = stack.enter_context(socket.socket(family, kind))
            listener.bind(address)
            listener.setblocking(False)
            if kind == socket.SOCK_STREAM:
                listener.listen()
            listeners.append(listener)
        (folder / "socket").chmod(0o777)
        tools = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sandbox-tools-")))
        tools.chmod(0o755)
        shutil.copy("/usr/bin/id", tools / "id")
        (tools / "id").chmod(0o4755)  # root's own only if we are root
        told = {
            "setuid_id": str(tools / "id"),
            "secret": SECRET,
            "tcp": listeners[0].getsockname()[1],
            "udp": listeners[1].getsockname()[1],
            "abstract_stream": f"{abstract}-stream",
            "abstract_datagram": f"{abstract}-datagram",
            "path_socket": str(folder / "socket"),
            "planted": str(folder / "planted"),
            "writable": str(folder / "writable"),
            "neighbour": str(folder),
            "outside": str(folder),
            "mount": str(HOSTILE),
            "readable": str(HOSTILE / "probe.py"),
        }
        bystander = subprocess.Popen(
            ["/usr/bin/sleep", "600"],
            env={"TOKEN": SECRET},
            user=ORDINARY_UID if os.geteuid() == 0 else None,
        )
        yield Host(told, listeners, folder)
        bystander.kill()
        bystander.wait()


@pytest.fixture(scope="session")
def outcome(carry: Carry, host: Host) -> Outcome:
    os.environ["SANDBOX_TEST_SECRET"] = SECRET
    try:
        return carry("probe", told=host.told, name_parent=True, mounts=(host.told["setuid_id"],))
    finally:
        del os.environ["SANDBOX_TEST_SECRET"]


@pytest.fixture(scope="session")
def answers(outcome: Outcome) -> dict[str, dict[str, str]]:
    assert outcome.exit.code == 0, outcome
    return dict(json.loads(outcome.output))


@pytest.mark.parametrize("name", NAMES)
def test_refused(answers: dict[str, dict[str, str]], name: str) -> None:
    assert "got" not in answers[name], answers[name]


def test_all_probes_ran(answers: dict[str, dict[str, str]]) -> None:
    assert set(answers) == set(NAMES)
    assert len(NAMES) > 50


def test_host_is_untouched(answers: dict[str, dict[str, str]], host: Host) -> None:
    assert host.reached() == []
    assert sorted(path.name for path in host.folder.iterdir()) == ["planted", "socket", "theirs.py", "writable"]
    assert (host.folder / "writable").read_text() == SECRET
    assert not (HOSTILE / "planted.py").exists()


HARMLESS = (
    "tcp udp abstract_stream abstract_datagram path_socket datagram_pair_redirected parent_environment "
    "parent_descriptors parent_root anyones_environment planted_file neighbours_of_the_mount ptrace_own_child "
    "make_setuid_program hidden_memory system_v_memory netlink own_environment"
).split()


def test_without_a_sandbox_the_same_attacks_succeed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: it shows that a refusal above means something. At level none, those that do no harm."""
    monkeypatch.setenv("SANDBOX_TEST_SECRET", SECRET)
    outcome = carry_out(Attack("probe", "none", told={**host.told, "only": HARMLESS}, name_parent=True))
    answers = json.loads(outcome.output)
    refused = {name: answer for name, answer in answers.items() if "got" not in answer}
    assert set(refused) == {"own_environment"}, refused  # no level hands the environment on
    assert len(host.reached()) == 5
