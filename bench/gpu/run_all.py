"""Everything that is measured on a GPU machine, in one command, in the order of what is wanted most.

usage: python bench/gpu/run_all.py FOLDER OUT [--budget SECONDS] [--steps NAME,...]

FOLDER is what `python -m bench.gpu.prepare` made. Standard library and the node's file only: the machine needs Python
3.10, torch with CUDA, cuda-bindings and cupti-python; Helion only for the step `in_process`. Every answer is written to
OUT as soon as it is there, and what is there already is not measured again: after a stop, the same command goes on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

STARTERS = ("causal_conv1d", "fp8_quant", "chunk_fwd_h", "chunk_fwd_o", "recompute_w_u")
EVERY = (*STARTERS, "gdn_forward", "softmax", "rms_norm", "vector_add")  # problem of the season
SPREAD = ("causal_conv1d", "chunk_fwd_h", "recompute_w_u", "fp8_quant", "chunk_fwd_o")
LONG = ("causal_conv1d", "fp8_quant")  # with a benchmark of 20 us or more
PROCESSES = 10
IN_TURN = 3  # timed replays under way: one has the GPU
AT_ONCE = 8  # replays without timing
CALL_S = 240


class Session:
    """One run: where things are, and how much time is left."""

    def __init__(self, folder: Path, out: Path, budget_s: float) -> None:
        self.folder, self.out = folder, out
        self._deadline = time.monotonic() + budget_s

    def left_s(self) -> float:
        return self._deadline - time.monotonic()

    def node(self, *arguments: str) -> dict[str, Any]:
        """Run the node's program; return its events, and how long it took."""
        command = [sys.executable, str(self.folder / "node.pyz"), *arguments]
        started = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=CALL_S, check=False)
            lines, error, code = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired as expired:
            lines, error, code = (expired.stdout or b"").decode(errors="replace"), "overdue", -1
        events = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
        wall_s = round(time.monotonic() - started, 3)
        return {"events": events, "code": code, "stderr": error[-3000:], "wall_s": wall_s}

    def keep(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what is kept under a name, or make and keep it; nothing where no time is left."""
        path = self.out / f"{name}.json"
        if path.is_file():
            return json.loads(path.read_text())
        if self.left_s() < 0:
            return {}
        answer = {**make(), "measured_s": round(time.time(), 3)}
        if answer.get("code", 0) == 0 and "error" not in answer:  # else it is tried again the next time
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(answer))
        return answer

    def replay(self, name: str, *, benchmarks: bool = False) -> dict[str, Any]:
        """Replay an exported artifact; return its report, with events and wall time."""
        folder = self.folder / name
        request = json.loads((folder / "request.json").read_text())
        if benchmarks:
            request["cases"] = [case for case in request["cases"] if case["timed"]]
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "request.json"
            file.write_text(json.dumps(request))
            answer = self.node("replay", str(folder / "artifact"), str(folder / "problem"), str(file))
        reports = [event["report"] for event in answer["events"] if event.get("event") == "report"]
        return {**answer, **(reports[0] if reports else {"error": answer["events"][-1:] or answer["stderr"]})}


def environment(session: Session) -> Iterator[str]:
    answer = session.keep("environment", lambda: session.node("describe"))
    yield f"environment: {json.dumps([e.get('machine') or e for e in answer.get('events', [])])}"


def starters(session: Session) -> Iterator[str]:
    yield from _in_turn(session, {f"starters/{name}": (name, False) for name in EVERY})


def attacks(session: Session) -> Iterator[str]:
    names = sorted(path.parent.name for path in session.folder.glob("attack-*/request.json"))
    yield from _in_turn(session, {f"attacks/{name}": (name, False) for name in names})


def spread(session: Session) -> Iterator[str]:
    wanted = {f"spread/{name}-{number}": (name, True) for number in range(PROCESSES) for name in SPREAD}
    yield from _in_turn(session, wanted)


def alone(session: Session) -> Iterator[str]:
    """Fresh processes one after another, as a service's worker has them, with nothing else on the machine."""
    for name in LONG:
        for number in range(PROCESSES):
            run = partial(session.replay, name, benchmarks=True)
            yield f"alone {name}-{number}: {tell(session.keep(f'alone/{name}-{number}', run))}"


def _in_turn(session: Session, wanted: dict[str, tuple[str, bool]]) -> Iterator[str]:
    """Replay: one has the GPU while the next ones load torch; they take turns by themselves.

    Args:
        session: the run.
        wanted: under which name an answer is kept -> what is replayed, and whether only its benchmarks are.
    """

    def run(key: str) -> dict[str, Any]:
        name, benchmarks = wanted[key]
        return session.keep(key, lambda: session.replay(name, benchmarks=benchmarks))

    with ThreadPoolExecutor(IN_TURN) as pool:
        for key, answer in zip(wanted, pool.map(run, wanted), strict=True):
            yield f"{key}: {tell(answer)}"


def agreement(session: Session) -> Iterator[str]:
    yield from _at_once(session, "agreement", "agree-*")


def lookalikes(session: Session) -> Iterator[str]:
    yield from _at_once(session, "lookalikes", "look-*")


def _at_once(session: Session, step: str, pattern: str) -> Iterator[str]:
    names = sorted(path.parent.name for path in session.folder.glob(f"{pattern}/request.json"))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = pool.map(lambda n: session.keep(f"{step}/{n}", lambda: session.replay(n)), names)
        for name, answer in zip(names, answers, strict=True):
            yield f"{name}: {tell(answer)}"


def rates(session: Session) -> Iterator[str]:
    answer = session.keep("rates", lambda: session.node("rates"))
    yield f"rates: {json.dumps(answer.get('events', [])[-1:])}"


def baselines(session: Session) -> Iterator[str]:
    for name in EVERY:
        folder = session.folder / name
        arguments = ("baseline", str(folder / "problem"), str(folder / "benchmarks.json"))
        answer = session.keep(f"baselines/{name}", lambda arguments=arguments: session.node(*arguments))
        yield f"baseline {name}: {json.dumps(answer.get('events', [])[-4:])[:600]}"


def in_process(session: Session) -> Iterator[str]:
    """FOLDER's artifacts must come from the Triton that is installed here."""
    script = str(Path(__file__).with_name("in_process.py"))
    yield from _in_turn(session, {f"in_process/{name}-replay": (name, True) for name in STARTERS})

    def run(name: str) -> dict[str, Any]:
        command = [sys.executable, script, str(session.folder), name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=CALL_S, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr[-1000:]}

    with ThreadPoolExecutor(len(STARTERS)) as pool:  # they compile side by side, and time in turn
        answers = pool.map(lambda name: session.keep(f"in_process/{name}", partial(run, name)), STARTERS)
        for name, answer in zip(STARTERS, answers, strict=True):
            yield f"in process {name}: {json.dumps(answer)[:400]}"


STEPS = {
    "environment": environment,
    "starters": starters,
    "attacks": attacks,
    "lookalikes": lookalikes,
    "agreement": agreement,
    "spread": spread,
    "alone": alone,
    "rates": rates,
    "baselines": baselines,
    "in_process": in_process,
}


def tell(answer: dict[str, Any]) -> str:
    """Say in a line what came of a replay."""
    if not answer:
        return "no time left"
    if "cases" not in answer:
        return f"error {json.dumps(answer.get('error'))[:300]}"
    failed = next((case for case in answer["cases"] if case["status"] not in ("passed", "not_run")), None)
    times = [sorted(c["samples"]["spans_us"])[len(c["samples"]["spans_us"]) // 2]
             for c in answer["cases"] if c["samples"] and c["samples"]["spans_us"]]  # fmt: skip
    machine = answer["machine"]
    how = f"{failed['status']} {failed['reason']} in {failed['id']}" if failed else "passes"
    where = f"sandbox {machine.get('sandbox')}, {machine.get('start_s')} s + {machine.get('replay_s')} s"
    return f"{how}; medians {times}; {where}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--budget", type=float, default=540.0)
    parser.add_argument("--steps", default=",".join(STEPS))
    options = parser.parse_args()
    session = Session(options.folder, options.out, options.budget)
    options.out.mkdir(parents=True, exist_ok=True)
    for step in options.steps.split(","):
        started = time.monotonic()
        for line in STEPS[step](session):
            print(line, flush=True)
        print(f"-- {step}: {time.monotonic() - started:.1f} s, {session.left_s():.0f} s left", flush=True)


if __name__ == "__main__":
    main()
