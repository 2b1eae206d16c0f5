"""`harness rescore`: artifacts of earlier submissions, replayed by today's evaluator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import print_json, print_renderable
from harness.engine.workspace import find_workspace
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.engine.rescoring import Rescored


@click.command()
@click.argument("problem", required=False)
@click.option("--team", help="Only this team's.")
@click.option("--target", help="The GPU; by default this machine's.")
@click.option(
    "--again", is_flag=True, help="Also what today's evaluator has scored; a program has the mean of its runs."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(problem: str | None, team: str | None, target: str | None, again: bool, as_json: bool) -> int:
    """Replay the stored artifacts of PROBLEM, or of all problems, on this machine's GPU, and record what comes of it.

    For a new version of the evaluator: nothing is compiled again, and earlier records stay as they are.
    """
    from harness.cli.progress import show_progress
    from harness.engine.gpu_node import local_node
    from harness.engine.local_gpus import find_season_gpu
    from harness.engine.replaying import explain_no_gpu
    from harness.engine.rescoring import choose_records, rescore
    from harness.spec import find_problem, load_season
    from harness.store import open_store
    from harness.target import load_target

    workspace = find_workspace(Path.cwd())
    season = load_season(workspace.root)
    if target is not None:
        season = season.model_copy(update={"targets": (load_target(target).name,)})
    name = find_problem(workspace.root, problem).name if problem is not None else None
    found = find_season_gpu(season)
    if found is None:
        raise UsageError(
            f"rescoring needs a GPU that the season ranks ({', '.join(season.targets)}): {explain_no_gpu()}"
        )
    gpu, model = found
    node = local_node(workspace.state, gpu)
    with open_store(workspace.database) as store, show_progress(quiet=as_json) as listener:
        chosen = choose_records(store.records(problem=name, team=team), model.name, again=again)
        done = [rescore(old, workspace, store, season, model, node, listener) for old in chosen]
    if as_json:
        print_json([_document(one) for one in done])
    else:
        print_renderable(*map(_line, done))
        replayed = f"{sum(one.new is not None for one in done)} of {len(done)} artifacts replayed"
        print(replayed if done else _NOTHING.format(target=model.name), file=sys.stderr)
    return 0


_NOTHING = (
    "nothing to replay: this workspace has no accepted record of {target} that today's evaluator has not scored "
    "(--again replays those too)"
)


def _document(one: Rescored) -> dict[str, object]:
    new = one.new
    outcome = {"record": new.id, "verdict": new.kind, "score_us": new.score_us, "ranked": new.ranked} if new else {}
    return {"team": one.old.team, "problem": one.old.problem, "of": one.old.id, "why_not": one.why_not, **outcome}


def _line(one: Rescored) -> object:
    from rich.text import Text

    from harness.board.table import verdict_text
    from harness.board.text import microseconds
    from harness.text import clean

    what = Text(clean(f"{one.old.problem}  {one.old.team}  "), "bold")
    if one.new is None:
        return what + Text(clean(f"not replayed: {one.why_not}"), "yellow")
    before, after = microseconds(one.old.score_us) or "-", microseconds(one.new.score_us) or "-"
    why = f"  unranked: {one.new.unranked_reason}" if one.new.unranked_reason else ""
    return what + verdict_text(one.new.kind) + Text(clean(f"  {before} -> {after} µs{why}"))
