"""`harness doctor`: what this machine has, and what to do about what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from harness.cli.output import print_json, print_renderable


@dataclass(frozen=True)
class Finding:
    """One thing looked at: `state` is "ok", "missing" or "lower" (works all the same), or "fault" (does not)."""

    name: str
    state: str
    found: str
    advice: str = ""


@click.command()
@click.option("--gpu", is_flag=True, help="Measure this machine's GPU: copy bandwidth, matrix products by dtype.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(gpu: bool, as_json: bool) -> int:
    """Say what this machine has: Python, toolchain, sandbox level, GPUs, compiler, disk.

    Exits with 0 if submissions can be built and checked here, 3 if not.
    """
    if gpu:
        from harness.cli.gpu_rates import show_rates

        return show_rates(as_json=as_json)
    here = _gpus()
    replay = [_replay()] if here.state == "ok" else []
    findings = [*_toolchain(), *_sandbox(), here, *replay, _assembler(), _disk()]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        print_renderable(_table(findings))
    return 3 if any(finding.state == "fault" for finding in findings) else 0


def _toolchain() -> list[Finding]:
    from harness.toolchain import SUPPORTED, find_faults, installed_versions

    versions = installed_versions()
    faults = {fault.split()[0]: fault for fault in find_faults(versions)}
    good = sys.version_info >= (3, 10)
    advice = "" if good else "install Python 3.10 or newer"
    findings = [Finding("python", "ok" if good else "fault", versions["python"], advice)]
    for package in SUPPORTED:
        fault = faults.get(package, "")
        findings.append(Finding(package, "fault" if fault else "ok", versions[package], fault))
    return findings


def _sandbox() -> list[Finding]:
    from harness.sandbox import Level, best_level

    report = best_level()
    lower = report.level is not Level.STRICT
    advice = "\n".join((*report.reasons, _LOWER) if lower else ())
    return [Finding("sandbox", "lower" if lower else "ok", f"level {report.level}", advice)]


_LOWER = "enough for your own submissions; judging other people's needs level strict"


def _gpus() -> Finding:
    command = shutil.which("nvidia-smi")
    query = "--query-gpu=name,driver_version"
    if command is not None:
        try:
            result = subprocess.run(
                [command, query, "--format=csv,noheader"], capture_output=True, text=True, timeout=20
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Finding("gpu", "missing", f"nvidia-smi: {error}", "see why nvidia-smi does not answer")
        if result.returncode == 0 and result.stdout.strip():
            return Finding("gpu", "ok", result.stdout.strip())
    advice = "submissions are compiled and checked on the CPU, and not ranked; ranking needs a GPU of the season"
    return Finding("gpu", "missing", "none", advice)


def _replay() -> Finding:
    """Say whether the GPU can be used from here, and whether what it replays can be ranked."""
    from harness.toolchain import installed_versions

    lacking = ["a torch with CUDA"] if installed_versions()["torch"].endswith("+cpu") else []
    lacking += [package for package in ("cuda-bindings", "cupti-python") if not _is_installed(package)]
    if not lacking:
        return Finding("replay", "ok", "torch with CUDA, cuda-bindings, and cupti-python for the score clock")
    return Finding("replay", "missing", f"lacks {', '.join(lacking)}", _NO_REPLAY)


_NO_REPLAY = (
    "the GPU is not used, or its times not ranked, without them: remove .venv and run `make environment`, which "
    "installs them where there is a driver"
)


def _is_installed(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _assembler() -> Finding:
    from importlib.util import find_spec

    from harness.assemble.addresses import can_be_fixed

    found = find_spec("triton")
    if found is None or found.origin is None:
        return Finding("assembler", "fault", "none", "run `make environment`: it comes with Triton")
    folder = Path(found.origin).parent / "backends" / "nvidia" / "bin"
    missing = [name for name in ("ptxas", "ptxas-blackwell") if not os.access(folder / name, os.X_OK)]
    if missing:
        return Finding("assembler", "fault", "incomplete", f"{', '.join(missing)} missing from Triton: reinstall it")
    words = "ptxas and ptxas-blackwell, from Triton"
    return Finding("assembler", "ok", words) if can_be_fixed() else Finding("assembler", "lower", words, _RANDOM)


_RANDOM = (
    "address randomisation cannot be turned off here, so code for b200 may differ from build to build, and `harness "
    "verify` find a difference that is none: let the container call personality(2)"
)


def _disk() -> Finding:
    free_gb = shutil.disk_usage(Path.cwd()).free / 1e9
    if free_gb < 2:
        return Finding("disk", "fault", f"{free_gb:.1f} GB free", "free some space: a build needs 2 GB")
    return Finding("disk", "ok", f"{free_gb:.0f} GB free")


def _table(findings: list[Finding]) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    styles = {"ok": "green", "missing": "yellow", "lower": "yellow", "fault": "bold red"}
    table = Table("", "", "found", "what to do", box=box.SIMPLE)
    for finding in findings:
        state = Text(finding.state, styles[finding.state])
        table.add_row(Text(finding.name), state, Text(finding.found), Text(finding.advice))
    return table
