"""The pages that people read: the same templates for the static export and for the live service.

A page is a pure function of a view (`views`, frozen dataclasses) and of what all pages of a site share (`Site`). No
database, no web framework, no script: `export_site` fills views from records and writes files; the service fills them
from its database and answers with them.
"""

from __future__ import annotations

from harness.site.export import export_site
from harness.site.loading import load_season_facts
from harness.site.rendering import Site, render
from harness.site.views import SeasonFacts

__all__ = ["SeasonFacts", "Site", "export_site", "load_season_facts", "render"]
