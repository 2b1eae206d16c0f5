"""The exception tree: what can go wrong, and whose business it is.

Every error that a person can meet carries a message that says what to do. The CLI maps the classes to
exit codes; nothing below the CLI prints or exits.
"""


class HarnessError(Exception):
    """An error of ours or of the machine. Never counted against a team (exit code 3)."""

    exit_code = 3


class UsageError(HarnessError):
    """The request cannot be carried out as written (exit code 2)."""

    exit_code = 2


class SpecError(UsageError):
    """A problem folder or shapes.yaml is not of the documented form."""


class SubmissionError(UsageError):
    """A submission folder or file cannot be read as a submission."""


class ToolchainError(HarnessError):
    """An installed package lies outside the range that this version was tested with."""


class ArtifactError(HarnessError):
    """An artifact, or a document inside one, is not valid. The content is hostile until proven otherwise."""


class SandboxError(HarnessError):
    """A sandbox of the level that was asked for cannot be made on this machine."""


class StoreError(HarnessError):
    """The database cannot be used: locked, from another version, or the disk is full."""


class WorkerError(HarnessError):
    """A worker process of ours ended without a valid message."""
