"""The option that several verbs of `harness ci` have: which branch keeps the records."""

from __future__ import annotations

import click

records_option = click.option(
    "--records-branch", "branch", default="records", show_default=True, help="The branch of origin that keeps records."
)
