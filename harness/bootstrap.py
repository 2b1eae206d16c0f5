"""Make the environment: `.venv` with what pyproject.toml asks for, in the versions that were tested.

Runs on a bare Python with the standard library only: `python3 -I harness/bootstrap.py`. It does nothing when the
environment is up to date. With an NVIDIA driver it adds the extra `gpu`, which has the clock that scores come from.
Without one it takes PyTorch's CPU build where its index can be reached, because the CUDA build is several gigabytes
larger; TORCH_INDEX names another index, or "none" for pip's own.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "environment.sha256"
INPUTS = (ROOT / "pyproject.toml", ROOT / ".ci" / "constraints.txt")
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PIP_DOCUMENT = "https://pypi.org/pypi/pip/json"
DRIVER = Path("/dev/nvidiactl")
MINIMUM = (3, 10)


def main() -> int:
    """Make or refresh the environment; return the exit code."""
    if sys.version_info < MINIMUM:
        wanted = ".".join(map(str, MINIMUM))
        return fail(f"Python {wanted} or newer is needed, this is {sys.version.split()[0]}: make PYTHON=python3.11 ...")
    with INPUTS[0].open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # two commands at once make it once
        return make(fingerprint())


def make(wanted: str) -> int:
    """Make what `wanted` names unless it is there; return the exit code."""
    if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted:
        return 0
    say("making the environment in .venv: once, two minutes or more, mostly for torch")
    try:
        make_venv()
        install()
    except KeyboardInterrupt:
        return fail("stopped; the same command goes on where it was")
    except subprocess.CalledProcessError as error:
        return fail(f"`{' '.join(map(str, error.cmd))}` failed; mend what its messages above say, and run it again")
    except (OSError, urllib.error.URLError) as error:
        return fail(f"{error}: is the network up and the disk not full? Then run the same command again")
    STAMP.write_text(wanted, encoding="utf-8")
    say("ready")
    return 0


def fingerprint() -> str:
    """Return a name for what the environment should be."""
    digest = hashlib.sha256(f"{sys.version} {find_interpreter().resolve()} {extras()}".encode())
    for path in INPUTS:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def find_interpreter() -> Path:
    """Return the Python that environments are made of: this one, or what it was made of where it is .venv's own.

    Whoever has .venv/bin on their PATH calls that one `python3`.
    """
    return Path(getattr(sys, "_base_executable", None) or sys.executable)


def make_venv() -> None:
    """Make .venv with pip in it; Debian's Python may lack the module that brings pip, so fetch it then."""
    python = VENV / "bin" / "python"
    if python.exists() and subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    if find_spec("ensurepip") is not None:
        subprocess.run([find_interpreter(), "-m", "venv", VENV], check=True)
        return
    say("this Python has no ensurepip: fetching pip by itself")
    subprocess.run([find_interpreter(), "-m", "venv", "--without-pip", VENV], check=True)
    with tempfile.TemporaryDirectory() as folder:
        wheel = fetch_pip(Path(folder))
        subprocess.run([python, f"{wheel}/pip", "install", "--quiet", "--no-index", wheel], check=True)


def fetch_pip(folder: Path) -> Path:
    """Download pip's wheel from PyPI, check its hash, and return its path."""
    with urllib.request.urlopen(PIP_DOCUMENT, timeout=30) as answer:
        files = json.load(answer)["urls"]
    wheel = next(f for f in files if f["packagetype"] == "bdist_wheel")
    with urllib.request.urlopen(wheel["url"], timeout=60) as answer:
        content = answer.read()
    if hashlib.sha256(content).hexdigest() != wheel["digests"]["sha256"]:
        raise OSError("pip's wheel does not have the hash that PyPI states")
    path = folder / str(wheel["filename"])
    path.write_bytes(content)
    return path


def install() -> None:
    """Install the project, editable, with its tested versions."""
    say("installing torch, Triton, Helion and what else pyproject.toml asks for")
    command = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--constraint", str(INPUTS[1]), *torch_options(), "--editable", f"{ROOT}[{extras()}]"]
    subprocess.run(command, check=True)


def has_driver() -> bool:
    """Whether this machine has an NVIDIA driver."""
    return shutil.which("nvidia-smi") is not None or DRIVER.exists()


def extras() -> str:
    """Return which of the project's extras this machine needs."""
    return "dev,gpu" if has_driver() else "dev"


def torch_options() -> list[str]:
    """Return pip's options for where torch comes from."""
    chosen = os.environ.get("TORCH_INDEX", "auto")
    if chosen == "none" or (chosen == "auto" and has_driver()):
        return []
    if chosen != "auto":
        return ["--extra-index-url", chosen]
    try:
        with urllib.request.urlopen(f"{CPU_INDEX}/torch/", timeout=4):
            return ["--extra-index-url", CPU_INDEX]
    except OSError:
        return []


def say(text: str) -> None:
    """Tell what is going on."""
    print(f"environment: {text}", file=sys.stderr, flush=True)


def fail(text: str) -> int:
    """Tell what went wrong and return the exit code for it."""
    say(text)
    return 3


if __name__ == "__main__":
    sys.exit(main())
