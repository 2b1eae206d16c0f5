"""`harness dry-run`: the main job with a GPU of one's own, here or over ssh; nothing is recorded."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.output import print_json, print_renderable
from harness.cli.request import Options, resolve, submission_options
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.engine.request import BuildRequest
    from harness.engine.workspace import Workspace


PYTHON = "python3"


@click.command()
@submission_options
@click.option("--node", help="A GPU machine to replay on: user@host, or a name of your ssh configuration.")
@click.option("--python", show_default=PYTHON, help="The Python on the node that has torch.")
@click.option("--ssh-config", type=click.Path(path_type=Path, exists=True), help="Another ssh configuration.")
@click.option("--on-cpu", is_flag=True, help="Check on the node's CPUs, without times; it needs Triton and no GPU.")
@click.option("--full", is_flag=True, help="Check benchmarks by all their programs on this CPU, not a sample.")
def command(
    node: str | None, python: str | None, ssh_config: Path | None, on_cpu: bool, full: bool, **values: Any
) -> int:
    """Judge and time the submission for PROBLEM as a ranked run would, and record nothing.

    With --node it is built here for that machine's GPU, sent there over ssh and replayed; without, on this machine's
    GPU; without either it is compiled, the floor is told, and no value is checked (`harness submit` checks on the
    CPU). What is sent runs on the node with your rights: for a submission of somebody else's, that is their machine
    code on your GPU.
    """
    options = Options(**values)
    if node is None:
        _refuse_for_no_node(python=python, ssh_config=ssh_config, on_cpu=on_cpu)
        return _run_here(options, full=full)
    if on_cpu and full:
        raise UsageError("--full is for the check on this machine, which --on-cpu leaves out: give one of them")
    from harness.engine.dry_run import name_node
    from harness.engine.ssh_node import ssh_node

    chosen = PYTHON if python is None else python
    way = ssh_node(node, python=chosen, config=ssh_config, on_cpu=on_cpu)  # a bad name costs nothing
    workspace, request = resolve(options)
    with name_node(node, chosen):
        if not on_cpu:
            request = _build_for(node, way, request, options)
        return _replay(request, workspace, options, way, full=full, on_cpu=on_cpu)


def _refuse_for_no_node(*, python: str | None, ssh_config: Path | None, on_cpu: bool) -> None:
    if on_cpu:
        raise UsageError("--on-cpu needs --node (make: NODE): `harness submit` checks on this machine's CPUs")
    if python is not None:
        raise UsageError("--python (make: NODE_PYTHON) is of a node: give --node (make: NODE), too, or leave it out")
    if ssh_config is not None:
        raise UsageError("--ssh-config leads to a node: give --node, too, or leave it out")


def _run_here(options: Options, *, full: bool) -> int:
    from harness.engine.dry_run import NO_CHECK
    from harness.engine.gpu_node import find_node

    workspace, request = resolve(options)
    way = find_node(request.target, workspace.state)
    if way is not None:
        return _replay(request, workspace, options, way, full=full, on_cpu=False)
    if full:
        raise UsageError(NO_CHECK.format(target=request.target.title, problem=request.problem.name))
    return _compile_only(request, workspace, options)


def _build_for(node: str, way: list[str], request: BuildRequest, options: Options) -> BuildRequest:
    """Ask a node what GPU it has, and return the request with that for its target."""
    from harness.engine.dry_run import find_node_target
    from harness.engine.ssh_node import CONNECT_S
    from harness.target import load_target

    if not options.as_json:
        print(f"asking {node} what GPU it has (up to {CONNECT_S} s to reach it)", file=sys.stderr, flush=True)
    wanted = load_target(options.target) if options.target else None
    target = find_node_target(way, node, wanted, request.season)
    print(f"note: {node} has {target.title}: building for {target.name}", file=sys.stderr)
    return dataclasses.replace(request, target=target)


def _replay(
    request: BuildRequest, workspace: Workspace, options: Options, way: list[str], *, full: bool, on_cpu: bool
) -> int:
    from harness.board.reading import fell_short
    from harness.board.show import render_record
    from harness.cli.progress import show_progress
    from harness.engine.submit import DRY_RUN, run_dry
    from harness.store import encode_record
    from harness.verdict import Kind

    with show_progress(quiet=options.as_json) as listener:
        record = run_dry(request, workspace, listener, full=full, node=way, on_cpu=on_cpu).record
    if options.as_json:
        print_json(encode_record(record))
    else:
        print_renderable(render_record(record, environment=not fell_short(record)), f"\n{DRY_RUN}")
    return Kind(record.kind).exit_code


def _compile_only(request: BuildRequest, workspace: Workspace, options: Options) -> int:
    from harness.cli.build import end_failed_build
    from harness.cli.progress import show_progress
    from harness.cli.report import render_build, render_floors
    from harness.engine.build import run_build
    from harness.engine.dry_run import NO_GPU, list_floors_us
    from harness.engine.report import report_build, report_kernels
    from harness.store.codec import encode
    from harness.verdict import Verdict

    with show_progress(quiet=options.as_json) as listener:
        built = run_build(request, workspace, listener)
    if isinstance(built, Verdict):
        return end_failed_build(request, built, as_json=options.as_json)
    floors_us = {case.id: floor for case, floor in list_floors_us(request).items()}
    sentence = NO_GPU.format(target=request.target.title, problem=request.problem.name)
    build = report_build(built.artifact, request.season.budgets.compile_cpu_s)
    kernels = report_kernels(built.artifact, request.target, built.cached)
    if options.as_json:
        parts = {"build": encode(build), "kernels": [encode(kernel) for kernel in kernels], "floors_us": floors_us}
        print_json({**parts, "note": sentence})
    else:
        print_renderable(
            *render_build(build, kernels, built.artifact.stored_in), *render_floors(floors_us, request.target.title)
        )
        print(f"\n{sentence}")
    return 0
