"""No page is too large, however many teams there are and however long their names."""

from __future__ import annotations

import pytest

from harness.site.gathering import Gathered
from harness.site.links import Links
from harness.site.rendering import MAX_PAGE_BYTES, Site, render
from harness.site.views import SeasonFacts
from tests.store.samples import checked, passed

SEASON = SeasonFacts("large")
SITE = Site(SEASON, Links("/", suffix="", home_page=""))


def gather(teams: int) -> Gathered:
    """Every team is ranked, was ranked with another version of the problem, and has a newer record without a place."""
    names = [f"a-team-with-the-longest-name-of-all-{i:03}" for i in range(teams)]
    before = [passed(name, 100 + i, i, problem_version="0") for i, name in enumerate(names)]
    ranked = [passed(name, 100 + i, 400 + i) for i, name in enumerate(names)]
    return Gathered([*before, *ranked, *(checked(name, 800 + i) for i, name in enumerate(names))], SEASON)


@pytest.mark.parametrize("teams", [40, 120])
def test_no_page_of_a_board_is_too_large(teams):
    (board,) = gather(teams).boards
    pages = [render(view, SITE) for view in gather(teams).board_views(board)]
    assert len(pages) == teams // 40
    assert max(len(page.encode()) for page in pages) <= MAX_PAGE_BYTES
    assert (f"{teams - 10} more: " in pages[0]) == (teams == 120)


def test_the_season_and_a_team_among_many_are_small():
    gathered = gather(120)
    views = [gathered.season_view(), *gathered.team_views(gathered.teams[0])]
    assert max(len(render(view, SITE).encode()) for view in views) <= MAX_PAGE_BYTES
