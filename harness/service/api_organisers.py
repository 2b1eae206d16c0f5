"""The API for organisers: every act is a document posted to one address, carried out and logged in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from harness.service import organising
from harness.service.http import TOKEN, Service, problem_answers, read_body, service_of
from harness.service.rules import change_season
from harness.service.teams import DEFAULT_DAYS


class _OrganisersRoute(APIRoute):
    """Asks who somebody is before it reads what they send, and reads no more than the service takes."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            await run_in_threadpool(service_of(request).want_organiser, request)
            body = await read_body(request)

            async def receive() -> dict[str, Any]:
                return {"type": "http.request", "body": body, "more_body": False}

            return await handle(Request(request.scope, receive))

        return guarded


router = APIRouter(prefix="/api/v1", route_class=_OrganisersRoute)

_Text = Annotated[str, Field(max_length=2000, pattern=r"^[^\x00]*$")]
_Name = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]


class _Act(BaseModel):
    model_config = ConfigDict(extra="forbid")
    reason: _Text = ""


class Ruling(_Act):
    """Rule a record's program, or all of a team's, out; or take that back."""

    act: Literal["disqualify", "reinstate"]
    record: _Name = ""
    team: _Name = ""


class Rerun(_Act):
    """Evaluate a submission once more."""

    act: Literal["rerun"]
    submission: _Name


class Stop(_Act):
    """Take and start nothing for a problem ("" for all of them), or go on."""

    act: Literal["freeze", "thaw"]
    problem: _Name = ""


class SeasonChange(_Act):
    """Move the season's times, or change when code becomes visible; `closes` null is no end, "now" is now."""

    act: Literal["season"]
    changes: dict[Literal["opens", "closes", "code_visible"], _Name | None]


class NewTeam(_Act):
    """Add a team."""

    act: Literal["team"]
    name: _Name
    title: _Name = ""


class NewToken(_Act):
    """Make a token, for a team, or for an organiser by name. It is shown in this answer and never again."""

    act: Literal["token"]
    team: _Name = ""
    holder: _Name = ""
    days: float = Field(DEFAULT_DAYS, gt=0, le=3660)


class Revocation(_Act):
    """Revoke a token by its id."""

    act: Literal["revoke"]
    token: _Name


AnyAct = Annotated[
    Ruling | Rerun | Stop | SeasonChange | NewTeam | NewToken | Revocation,
    Field(discriminator="act"),
]


@router.post("/acts", dependencies=[TOKEN], responses=problem_answers(400, 401, 403, 408, 413, 422, 503))
def post_act(request: Request, act: AnyAct) -> dict[str, Any]:
    """Do what an organiser may do."""
    service = service_of(request)
    holder = service.want_organiser(request)
    with service.database.write() as connection:
        return {"act": act.act, **_carry_out(connection, service, act, holder.name)}


def _carry_out(connection: Connection, service: Service, act: AnyAct, actor: str) -> dict[str, Any]:
    now_s = service.now_s()
    if isinstance(act, Ruling):
        rule = organising.disqualify if act.act == "disqualify" else organising.reinstate
        return {"records": rule(connection, actor, act.reason, now_s, record=act.record, team=act.team)}
    if isinstance(act, NewTeam):
        organising.found_team(connection, actor, act.name, act.title, now_s)
        return {"team": act.name}
    if isinstance(act, NewToken):
        name, token = organising.give_token(connection, actor, now_s, team=act.team, holder=act.holder, days=act.days)
        return {"id": name, "token": token}
    if isinstance(act, Revocation):
        organising.take_token(connection, actor, act.token, act.reason, now_s)
        return {"id": act.token}
    return _change_running(connection, service, act, actor, now_s)


def _change_running(
    connection: Connection, service: Service, act: Rerun | Stop | SeasonChange, actor: str, now_s: float
) -> dict[str, Any]:
    """Carry out what depends on the season."""
    rules = service.rules_file.current(connection)
    if isinstance(act, Rerun):
        job = organising.run_again(connection, actor, act.submission, act.reason, rules, now_s)
        return {"submission": job.id}
    if isinstance(act, SeasonChange):
        change_season(
            connection,
            rules.season,
            {str(name): value for name, value in act.changes.items()},
            actor,
            act.reason,
            now_s,
        )
        return {"season": rules.season.name}
    if act.act == "freeze":
        organising.freeze(connection, actor, act.problem, act.reason, rules, now_s)
    else:
        organising.thaw(connection, actor, act.problem, act.reason, now_s)
    return {"problem": act.problem}
