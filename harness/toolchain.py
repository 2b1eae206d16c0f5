"""The versions that decide what a kernel compiles to: read, compared with the range that was tested, named.

Reading is by package metadata, so that nothing heavy is imported to answer a question about versions.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from importlib import metadata

from packaging.specifiers import SpecifierSet
from packaging.version import Version

import harness
from harness.errors import ToolchainError

# Tested together; pyproject.toml states the same ranges, and a test compares the two.
SUPPORTED = {"torch": ">=2.11,<2.14", "triton": ">=3.7.1,<3.8", "helion": ">=1.5.0,<1.5.1"}

EVALUATOR_VERSION = "4"
"""Raised by a change of ours after which the same submission may get another verdict or another time.

CONTRIBUTING.md says which changes those are; CHANGELOG.md says what each version changed. Scores of two versions are
never compared, and baselines of another one are not used.
"""


def installed_versions() -> dict[str, str]:
    """Return the installed versions of what builds: Python, torch, Triton, Helion, numpy; "missing" if absent."""
    versions = {"python": ".".join(map(str, sys.version_info[:3])), "harness": harness.__version__}
    for package in (*SUPPORTED, "numpy"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "missing"
    return versions


def find_faults(versions: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for each package that is missing or outside the tested range."""
    faults = []
    for package, wanted in SUPPORTED.items():
        found = versions.get(package, "missing")
        if found == "missing":
            faults.append(f"{package} is not installed; this version needs {package}{wanted}: run `make environment`")
        elif Version(found).public not in SpecifierSet(wanted, prereleases=True):
            faults.append(
                f"{package} {found} is outside the tested range {wanted}: run `make environment`, "
                f'or `pip install "{package}{wanted}"`'
            )
    return tuple(faults)


def check_toolchain(versions: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the installed versions.

    Raises:
        ToolchainError: one of them lies outside the tested range; the message says what to install.
    """
    found = dict(versions or installed_versions())
    faults = find_faults(found)
    if faults:
        raise ToolchainError("\n".join(faults))
    return found


def fingerprint(versions: Mapping[str, str]) -> str:
    """Return a short name of the toolchain: what a built kernel may depend on."""
    text = " ".join(f"{name}={versions[name]}" for name in ("harness", "python", "torch", "triton", "helion"))
    return hashlib.sha256(f"{text} evaluator={EVALUATOR_VERSION}".encode()).hexdigest()[:12]
