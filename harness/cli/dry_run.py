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


@click.command()
@submission_options
@click.option("--node", help="A GPU machine to replay on: user@host, or a name of your ssh configuration.")
@click.option("--python", default="python3", show_default=True, help="The Python on the node that has torch.")
@click.option("--ssh-config", type=click.Path(path_type=Path, exists=True), help="Another ssh configuration.")
@click.option("--on-cpu", is_flag=True, help="Check on the node's CPUs, without times; it needs Triton and no GPU.")
@click.option("--full", is_flag=True, help="Check benchmarks by all their programs on the CPU, not a sample.")
def command(node: str | None, python: str, ssh_config: Path | None, on_cpu: bool, full: bool, **values: Any) -> int:
    """Judge and time the submission for PROBLEM as a ranked run would, and record nothing.

    With --node it is built here for that machine's GPU, sent there over ssh and replayed; without, on this machine's
    GPU; without either it is compiled, and the floor is told. What is sent runs on the node with your rights: for a
    submission of somebody else's, that is their machine code on your GPU.
    """
    options = Options(**values)
    way = None
    if node is not None:
        from harness.engine.ssh_node import ssh_node

        way = ssh_node(node, python=python, config=ssh_config, on_cpu=on_cpu)  # a bad name costs nothing
    elif on_cpu:
        raise UsageError("--on-cpu needs --node: `harness submit` checks on this machine's CPUs")
    workspace, request = resolve(options)
    if way is None:
        from harness.engine.gpu_node import find_node

        way = find_node(request.target, workspace.state)
    elif not on_cpu:
        from harness.engine.dry_run import find_node_target
        from harness.target import load_target

        wanted = load_target(options.target) if options.target else None
        target = find_node_target(way, str(node), wanted, request.season)
        request = dataclasses.replace(request, target=target)
        print(f"note: {node} has {target.title}: building for {target.name}", file=sys.stderr)
    if way is None:
        return _compile_only(request, workspace, options)
    return _replay(request, workspace, options, way, full=full, on_cpu=on_cpu)


def _replay(
    request: BuildRequest, workspace: Workspace, options: Options, node: list[str], *, full: bool, on_cpu: bool
) -> int:
    from harness.board.history import list_changes
    from harness.board.show import render_record
    from harness.cli.progress import show_progress
    from harness.engine.submit import DRY_RUN, run_dry
    from harness.store import encode_record, open_store
    from harness.verdict import Kind

    with show_progress(quiet=options.as_json) as listener:
        record = run_dry(request, workspace, listener, full=full, node=node, on_cpu=on_cpu).record
    if options.as_json:
        print_json(encode_record(record))
    else:
        with open_store(workspace.database) as store:
            previous = store.previous(record.team, record.problem, record.target, division=record.division)
        print_renderable(render_record(record, changes=list_changes(record, previous)), f"\n{DRY_RUN}")
    return Kind(record.kind).exit_code


def _compile_only(request: BuildRequest, workspace: Workspace, options: Options) -> int:
    from harness.cli.progress import show_progress
    from harness.cli.report import render_build, render_floors
    from harness.engine.build import run_build
    from harness.engine.dry_run import NO_GPU, list_floors_us
    from harness.engine.report import report_build, report_kernels, report_verdict
    from harness.store.codec import encode
    from harness.verdict import Verdict

    with show_progress(quiet=options.as_json) as listener:
        built = run_build(request, workspace, listener)
    if isinstance(built, Verdict):
        verdict = report_verdict(built)
        if options.as_json:
            print_json({"verdict": encode(verdict)})
        else:
            print_renderable(*render_build(verdict, None, (), None))
        return built.kind.exit_code
    floors_us = {case.id: floor for case, floor in list_floors_us(request).items()}
    sentence = NO_GPU.format(target=request.target.title, problem=request.problem.name)
    build = report_build(built.artifact, request.season.budgets.compile_cpu_s)
    kernels = report_kernels(built.artifact, request.target, built.cached)
    if options.as_json:
        parts = {"build": encode(build), "kernels": [encode(kernel) for kernel in kernels], "floors_us": floors_us}
        print_json({**parts, "note": sentence})
    else:
        folder = workspace.artifacts / built.artifact.manifest.key
        print_renderable(*render_build(None, build, kernels, folder), *render_floors(floors_us, request.target.title))
        print(f"\n{sentence}")
    return 0
