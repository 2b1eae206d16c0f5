"""`harness admin season|freeze|rerun|disqualify|acts`: what organisers do while a season runs."""

from __future__ import annotations

import time

import click

from harness.cli.admin.acting import act_document, find_logged, tell_act
from harness.cli.admin.opening import AS_JSON, actor, find_settings, opened
from harness.cli.output import print_json

_REASON = click.option("--reason", required=True, help="Why; everybody can read it.")
_LIFT = click.option("--lift", is_flag=True, help="Take it back.")


@click.command()
@click.option("--opens", help="When it opens, in ISO 8601 (2027-01-31T18:00Z), or now.")
@click.option("--closes", help="When it closes, likewise, or never.")
@click.option("--code-visible", type=click.Choice(["never", "after_close", "at_once"]), help="When code is shown.")
@click.option("--reason", default="", help="Why; needed for a change. Everybody can read it.")
@AS_JSON
def season(opens: str | None, closes: str | None, code_visible: str | None, reason: str, as_json: bool) -> int:
    """Show the season as the service has it, or move its times; what is set here wins over shapes.yaml."""
    from harness.service.rules import CHANGEABLE, RulesFile, change_season, tell_setting

    given = {"opens": opens, "closes": closes, "code_visible": code_visible}
    changes = {name: value for name, value in given.items() if value is not None}
    with opened() as database:
        file = RulesFile(find_settings().root)
        if changes:
            with database.write() as connection:
                change_season(connection, file.current(connection).season, changes, actor(), reason, time.time())
        with database.read() as connection:
            rules = file.current(connection)
    found = rules.season
    facts = {
        "name": found.name,
        "phase": rules.phase(time.time()),
        "opens": found.opens.isoformat() if found.opens else None,
        "closes": found.closes.isoformat() if found.closes else None,
        "code_visible": found.code_visible,
        "targets": list(found.targets),
    }
    if as_json:
        print_json(facts)
    else:
        told = facts | {name: tell_setting(name, None) for name in CHANGEABLE if facts[name] is None}
        print("\n".join(f"{name:<13} {', '.join(v) if isinstance(v, list) else v}" for name, v in told.items()))
    return 0


@click.command()
@click.argument("problem", required=False, default="")
@_REASON
@_LIFT
@AS_JSON
def freeze(problem: str, reason: str, lift: bool, as_json: bool) -> int:
    """Take and start no submission for PROBLEM, or for any, until it is lifted. What is under way ends."""
    from harness.service import organising
    from harness.service.rules import RulesFile

    with opened() as database, database.write() as connection:
        if lift:
            organising.thaw(connection, actor(), problem, reason, time.time())
        else:
            rules = RulesFile(find_settings().root).current(connection)
            organising.freeze(connection, actor(), problem, reason, rules, time.time())
        done = find_logged(connection, "thaw" if lift else "freeze", problem or organising.EVERYTHING)
    return tell_act(done, f"{problem or 'every problem'} {'goes on' if lift else 'is frozen'}", as_json=as_json)


@click.command()
@click.argument("submission")
@_REASON
@AS_JSON
def rerun(submission: str, reason: str, as_json: bool) -> int:
    """Evaluate SUBMISSION (by its id) once more; it counts as submitted when it was."""
    from harness.service.organising import run_again
    from harness.service.rules import RulesFile

    with opened() as database, database.write() as connection:
        rules = RulesFile(find_settings().root).current(connection)
        job = run_again(connection, actor(), submission, reason, rules, time.time())
        done = find_logged(connection, "rerun", submission)
    return tell_act(done, f"submission {submission} is queued again, as {job.id}", as_json=as_json)


@click.command()
@click.argument("record", required=False, default="")
@click.option("--team", default="", help="Everything of this team, now and later.")
@_REASON
@_LIFT
@AS_JSON
def disqualify(record: str, team: str, reason: str, lift: bool, as_json: bool) -> int:
    """Take the program of RECORD off every board: every run of it, and any later one of the same team."""
    from harness.service import organising

    rule = organising.reinstate if lift else organising.disqualify
    with opened() as database, database.write() as connection:
        count = rule(connection, actor(), reason, time.time(), record=record, team=team)
        done = find_logged(connection, "reinstate" if lift else "disqualify", record or f"team {team}")
    told = f"{count} record{'' if count == 1 else 's'} {'back on' if lift else 'off'} the boards"
    return tell_act(done, told, as_json=as_json)


@click.command()
@click.option("--limit", type=click.IntRange(1, 10000), default=50, show_default=True)
@AS_JSON
def acts(limit: int, as_json: bool) -> int:
    """Show the log of acts, the newest first."""
    from harness.service.acts import list_acts
    from harness.service.job import iso
    from harness.service.rules import tell_changes

    with opened(makes=False) as database, database.read() as connection:
        found = list_acts(connection, limit=limit)
    if as_json:
        print_json([act_document(act) for act in found])
        return 0
    for act in found:
        changes = f": {tell_changes(act.details)}" if act.act == "season" else ""
        print(f"{act.id:>5}  {iso(act.at_s)}  {act.actor}: {act.act} {act.subject}{changes}  {act.reason}")
    return 0
