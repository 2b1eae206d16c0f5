"""`harness board`: who leads, and the season as a static site."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import print_json, print_renderable, report_faulty
from harness.engine.workspace import Workspace, find_workspace
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.board.places import Board
    from harness.board.standings import Standing
    from harness.spec import Problem, Season
    from harness.store import Record


_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("problem", required=False)
@click.option("--target", help="The GPU; by default the season's first that has a ranked entry.")
@click.option("--division", type=click.Choice(["closed", "open"]), help="By default the season's first.")
@click.option("--team", help="Point out this team's rows.")
@click.option("--standings", is_flag=True, help="Show only the overall standings, by points.")
@click.option("--from", "source", help="Records to use: a JSON file or a folder; or a leaderboard service's URL.")
@click.option("--save", type=_FOLDER, help="Write the records behind the boards as JSON files, for --from.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV for spreadsheets.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--export", type=_FOLDER, help="Write the season as a static site.")
def command(
    problem: str | None,
    target: str | None,
    division: str | None,
    team: str | None,
    standings: bool,
    source: str | None,
    save: Path | None,
    as_csv: bool,
    as_json: bool,
    export: Path | None,
) -> int:
    """Show the board of PROBLEM, or of every problem of the season with the overall standings.

    Ranked entries first; what was only checked on a CPU is listed apart.
    """
    from harness.board.export import board_csv
    from harness.board.standings import rank_overall
    from harness.spec import choose_problems, load_season
    from harness.target import load_target

    if source is not None and "://" in source:
        if as_csv or save is not None or export is not None:
            raise UsageError(f"--csv, --save and --export are for records here; {source} has pages and CSV itself")
        from harness.cli.remote_boards import show_boards

        return show_boards(source, problem, target, division, team=team, only_standings=standings, as_json=as_json)
    workspace = find_workspace(Path.cwd())
    season = load_season(workspace.root)
    if as_csv and problem is None:
        raise UsageError("--csv needs a problem: one table is one board. Problems: " + ", ".join(season.problems))
    if standings and problem is not None:
        raise UsageError("--standings are over all problems: leave the problem out")
    by_name, faults = choose_problems(workspace.root, season, [problem] if problem is not None else [])
    found = list(by_name.values())
    targets = [load_target(target).name] if target else list(season.targets)
    with _open(workspace, Path(source) if source else None) as records:
        if export is not None:
            return _export(export, workspace, season, records.everything())
        division = division or season.divisions[0]
        boards = _choose([[_rank(records, p, name, division) for p in found] for name in targets])
        if save is not None:
            return _save(save, records.everything(), boards) or report_faulty(faults)
    overall = None if problem else rank_overall(boards, {name: item.points for name, item in season.problems.items()})
    titles = {p.name: p.title for p in found}
    note = _tell_what_ranks(boards, season, workspace if source is None else None)
    if as_json:
        _print_documents(boards, overall, faults, only_standings=standings)
    elif as_csv:
        sys.stdout.write(board_csv(boards[0]))
    else:
        _show(boards, titles, overall, note, team=team, only_standings=standings)
    return report_faulty(faults)


@dataclass(frozen=True)
class _Records:
    """Where records come from: the workspace's store, or files.

    Attributes:
        of_board: the records that a board is made of.
        everything: all there are.
    """

    of_board: Callable[[str, str, str], list[Record]]
    everything: Callable[[], list[Record]]


@contextmanager
def _open(workspace: Workspace, source: Path | None) -> Iterator[_Records]:
    from harness.store import load_records, open_store

    if source is not None:
        loaded = load_records(source)
        yield _Records(lambda problem, target, division: loaded, lambda: loaded)
        return
    with open_store(workspace.database) as store:
        store.recover()
        yield _Records(store.board, store.records)


def _rank(records: _Records, problem: Problem, target: str, division: str) -> Board:
    from harness.board.ranking import rank
    from harness.target import load_target

    found, gpu = records.of_board(problem.name, target, division), load_target(target)
    return rank(
        found,
        problem.name,
        target,
        division,
        noise=gpu.ranking_noise,
        noise_assumed=gpu.noise is None,
        version_now=problem.version,
    )


def _choose(by_target: Sequence[list[Board]]) -> list[Board]:
    """Return the boards of the first target that has a ranked entry; else, that has anything; else the first's."""
    ranked = [boards for boards in by_target if any(board.entries for board in boards)]
    shown = [boards for boards in by_target if any(board.unranked or board.elsewhere for board in boards)]
    return (ranked or shown or by_target)[0]


def _tell_what_ranks(boards: Sequence[Board], season: Season, workspace: Workspace | None) -> str:
    """Say once for all boards what ranking needs, where some have no ranked entry; empty if none lacks one.

    Args:
        boards: of one target.
        season: whose boards.
        workspace: where kept records may lie beside it, None if these are such records.
    """
    if all(board.entries for board in boards):
        return ""
    ranked, target = ", ".join(season.targets), boards[0].target
    if target not in season.targets:
        needs = f"The season ranks {ranked}, not {target}."
    else:
        needs = f"Ranking needs a replay on a GPU of the season ({ranked})."
    kept = _find_kept(workspace) if workspace is not None and not any(board.entries for board in boards) else None
    hint = f' make board ARGS="--from {kept}" shows what a GPU has measured.' if kept else ""
    return needs + hint


def _find_kept(workspace: Workspace) -> str | None:
    """Return the first folder of records that the repository keeps, as seen from its root."""
    folders = sorted({path.parent for path in workspace.root.glob("records/*/*.json")})
    return folders[0].relative_to(workspace.root).as_posix() if folders else None


def _show(
    boards: Sequence[Board],
    titles: Mapping[str, str],
    overall: tuple[Standing, ...] | None,
    note: str,
    *,
    team: str | None,
    only_standings: bool,
) -> None:
    from rich.text import Text

    from harness.board.table import last_ranking, render_board, render_standings, spaced
    from harness.text import clean

    told = zip([] if only_standings else boards, last_ranking([bool(b.entries) for b in boards]), strict=False)
    shown = [render_board(b, title=titles[b.problem], team=team, explain=explain) for b, explain in told]
    if overall is not None and (overall or only_standings):
        where = f"{boards[0].target} · {boards[0].division} division"
        shown.append(render_standings(overall, where, list(titles)))
    below = [Text(f"\n{clean(note)}", "dim")] if note else []
    print_renderable(*spaced(shown), *below)


def _print_documents(
    boards: Sequence[Board], overall: tuple[Standing, ...] | None, faults: Mapping[str, str], *, only_standings: bool
) -> None:
    from harness.board.export import board_document, standings_document

    if overall is not None and only_standings:
        print_json(standings_document(overall))
    elif overall is None:
        print_json(board_document(boards[0]))
    else:
        faulty = [{"problem": name, "error": told} for name, told in faults.items()]
        print_json([*map(board_document, boards), *faulty])


def _save(folder: Path, records: Sequence[Record], boards: Sequence[Board]) -> int:
    """Write every record that a board shows, runs of pooled entries included."""
    from harness.store import save_records

    keys = {(board.problem, board.target, board.division) for board in boards}
    chosen = [r for r in records if r.accepted and (r.problem, r.target, r.division) in keys]
    written = save_records(chosen, folder)
    print(f"{len(written)} records written: harness board --from {folder}", file=sys.stderr)
    return 0


def _export(folder: Path, workspace: Workspace, season: Season, records: list[Record]) -> int:
    from datetime import datetime, timezone

    from harness.site import export_site
    from harness.site.loading import describe_season, load_problem_texts
    from harness.spec import survey_season_problems

    problems, faults = survey_season_problems(workspace.root, season)
    facts = describe_season(season, problems, datetime.now(timezone.utc))
    files = export_site(records, folder, facts, problems=load_problem_texts(workspace.root, problems))
    print(f"{len(files)} files written: open {folder / 'index.html'}", file=sys.stderr)
    return report_faulty(faults)
