"""A machine at the other end of ssh: a real sshd of our own on a free port of localhost, with keys of its own."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
START_S = 60.0
ATTEMPTS = 20


def why_no_sshd() -> str:
    """Say why no sshd can be had here, "" if one can."""
    if SSHD is None or shutil.which("ssh") is None:
        return "no OpenSSH server here: apt install openssh-server"
    try:
        shell = pwd.getpwuid(os.geteuid()).pw_shell
    except KeyError:
        return "this user has no account to log in to"
    return (
        "" if Path(shell).exists() and not shell.endswith(("nologin", "false")) else "this user's account has no shell"
    )


class FarSide:
    """An sshd, and a client's configuration with the names by which it can, and cannot, be reached.

    Names: "far" works; "wrong-key", "unknown-host", "changed-host", "nobody" (nothing listens) do not.

    Args:
        folder: for keys, configurations and logs.
        environment: variables of every session.
        within: a command that sshd is started by, say, to give it a disk of its own.
    """

    def __init__(self, folder: Path, environment: dict[str, str] | None = None, within: tuple[str, ...] = ()) -> None:
        self.folder, self._within = folder, within
        for name in ("host", "other_host", "user", "other_user"):
            make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(make, check=True, stdin=subprocess.DEVNULL)
        shutil.copy(folder / "user.pub", folder / "authorized_keys")
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        # Bound and not listening: whoever calls it is refused, and nobody else gets the port.
        self._nobody = socket.socket()
        self._nobody.bind(("127.0.0.1", 0))
        self.port = self._start(environment or {})
        self.config = folder / "ssh_config"
        self.config.write_text(self._client())

    def close(self) -> None:
        """End sshd, and what it was started by; its sessions end by themselves."""
        self._kill()
        self._nobody.close()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def log(self) -> str:
        """Return what sshd logged."""
        return (self.folder / "sshd.log").read_text(errors="replace")

    def _start(self, environment: dict[str, str]) -> int:
        for _ in range(ATTEMPTS):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = int(free.getsockname()[1])
            (self.folder / "sshd_config").write_text(self._server(port, environment))
            command = [*self._within, str(SSHD), "-D", "-f", str(self.folder / "sshd_config")]
            with (self.folder / "sshd.log").open("wb") as log:
                self._process = subprocess.Popen(
                    [*command, "-e"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )
            if self._listens(port):
                return port
        raise RuntimeError(f"sshd does not start: {self.log()}")

    def _listens(self, port: int) -> bool:
        """Wait until our sshd, and not somebody else's, has the port."""
        deadline = time.monotonic() + START_S
        while self._process.poll() is None and time.monotonic() < deadline:
            if f"Server listening on 127.0.0.1 port {port}" in self.log():
                return True
            time.sleep(0.02)
        self._kill()
        return False

    def _server(self, port: int, environment: dict[str, str]) -> str:
        words = " ".join(f'"{name}={value}"' for name, value in environment.items())
        lines = [
            f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {self.folder}/host", "PidFile none",
            f"AuthorizedKeysFile {self.folder}/authorized_keys", "StrictModes no", "UsePAM no", "UseDNS no",
            "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password",
            "MaxStartups 100", *([f"SetEnv {words}"] if words else []),
        ]  # fmt: skip
        return "\n".join(lines) + "\n"

    def _client(self) -> str:
        user, place = pwd.getpwuid(os.geteuid()).pw_name, f"[127.0.0.1]:{self.port}"
        for name, key in (("known", "host"), ("changed", "other_host")):
            words = (self.folder / f"{key}.pub").read_text().split()[:2]
            (self.folder / f"{name}_hosts").write_text(f"{place} {' '.join(words)}\n")
        common = [
            "HostName 127.0.0.1", f"Port {self.port}", f"User {user}", "IdentitiesOnly yes", "IdentityAgent none",
            "GlobalKnownHostsFile /dev/null", "StrictHostKeyChecking yes",
        ]  # fmt: skip
        hosts = {
            "far": [],
            "wrong-key": [f"IdentityFile {self.folder}/other_user"],
            "unknown-host": ["UserKnownHostsFile /dev/null"],
            "changed-host": [f"UserKnownHostsFile {self.folder}/changed_hosts"],
            "nobody": [f"Port {self._nobody.getsockname()[1]}"],
        }
        last = [f"IdentityFile {self.folder}/user", f"UserKnownHostsFile {self.folder}/known_hosts"]
        blocks = []
        for name, lines in hosts.items():
            # The first value counts; identity files would add up.
            rest = last[1:] if any(line.startswith("IdentityFile") for line in lines) else last
            blocks.append("\n  ".join([f"Host {name}", *lines, *rest, *common]))
        return "\n".join(blocks) + "\n"
