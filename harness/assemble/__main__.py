"""The assembler's process: `python -m harness.assemble REQUEST OUT`.

Reads a request {"architecture", "jobs", "kernel_wall_s", "kernels": [{"key", "ttir", "options", "ptx_options"}]},
forks one child per kernel, at most `jobs` at a time, and writes `<key>.cubin` and `<key>.json` under OUT. A child
that fails or aborts takes nothing else with it, nor does what its compilers print (whole PTX files, on failure): that
is dropped, but for what NVIDIA's assembler says of its code, and LLVM before it ends the process. One JSON line per
event goes to the protocol stream.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, TextIO, cast

from harness.assemble.addresses import fix_addresses
from harness.assemble.last_words import read_last_words
from harness.assemble.ptxas import read_complaints
from harness.errors import ArtifactError
from harness.kernel import MAX_CUBIN_BYTES, encode_facts, parse_facts


def run_requests(request: dict[str, Any], out: Path, protocol: TextIO) -> None:
    """Assemble every kernel of the request, reporting on `protocol`."""
    from harness.assemble import compile as _  # noqa: F401 - imported before forking, so that children share it

    waiting = list(request["kernels"])
    running: dict[int, tuple[dict[str, Any], float, BinaryIO]] = {}
    while waiting or running:
        while waiting and len(running) < request["jobs"]:
            kernel = waiting.pop(0)
            _report(protocol, event="start", kernel=kernel["key"])
            said = cast(BinaryIO, TemporaryFile(dir=out))  # noqa: SIM115  closed when its child has ended
            running[_fork(kernel, request, out, said)] = (kernel, time.monotonic(), said)
        process, status, usage = os.wait4(-1, 0)
        if process in running:
            kernel, started, said = running.pop(process)
            with said:
                result = _read_result(kernel, status, request, out, said)
            cpu_s = round(usage.ru_utime + usage.ru_stime, 3)
            _report(protocol, kernel=kernel["key"], cpu_s=cpu_s, wall_s=round(time.monotonic() - started, 3), **result)


def _fork(kernel: dict[str, Any], request: dict[str, Any], out: Path, said: BinaryIO) -> int:
    process = os.fork()
    if process:
        return process
    signal.setitimer(signal.ITIMER_REAL, request["kernel_wall_s"])
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(said.fileno(), 2)
    try:
        result = _assemble(kernel, request["architecture"], out)
    except BaseException as error:  # whatever a compiler raises becomes this kernel's result
        result = {"event": "failed", "reason": _reason(error), "message": _tell(error)}
    (out / f"{kernel['key']}.result").write_text(json.dumps(result), encoding="utf-8")
    os._exit(0)


def _assemble(kernel: dict[str, Any], architecture: int, out: Path) -> dict[str, Any]:
    from harness.assemble.compile import assemble_ttir

    path = out / f"{kernel['key']}.ttir"
    path.write_text(kernel["ttir"], encoding="utf-8")
    cubin, facts = assemble_ttir(path, kernel["options"], architecture, kernel.get("ptx_options"))
    document = json.dumps(encode_facts(facts))
    parse_facts(json.loads(document))  # a name, or a number of parameters, that no launch takes: the kernel's fault
    if len(cubin) > MAX_CUBIN_BYTES:
        raise ArtifactError(f"its machine code has {len(cubin):,} bytes; {MAX_CUBIN_BYTES:,} are allowed")
    (out / f"{kernel['key']}.cubin").write_bytes(cubin)
    (out / f"{kernel['key']}.json").write_text(document, encoding="utf-8")
    return {"event": "assembled"}


def _read_result(
    kernel: dict[str, Any], status: int, request: dict[str, Any], out: Path, said: BinaryIO
) -> dict[str, Any]:
    path, code = out / f"{kernel['key']}.result", os.waitstatus_to_exitcode(status)
    if code == -signal.SIGALRM:
        message = _tell_timeout(kernel["options"], request["kernel_wall_s"])
        return {"event": "failed", "reason": "kernel_timeout", "message": message}
    if code or not path.exists():
        died = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        why = read_last_words(said)
        message = f"Triton's compiler ended with {died}" + (f": {why}" if why else "")
        return {"event": "failed", "reason": "compiler_crash", "message": message}
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def _reason(error: BaseException) -> str:
    names = {
        "RefusedIRError": "refused_operation",
        "OutOfResources": "out_of_resources",
        "PTXASError": "assembler_error",
    }
    return names.get(type(error).__name__, "compiler_error")


def _tell_timeout(options: dict[str, Any], limit_s: float) -> str:
    from harness.assemble.compile import describe_options

    return (
        f"its assembly, with {describe_options(options)}, took longer than the {limit_s:g} s that a kernel has "
        "(kernel_wall_s in shapes.yaml): use fewer elements a program, or more warps"
    )


def _tell(error: BaseException) -> str:
    """Return what went wrong: the assembler's own errors, else the first line that tells of one."""
    text = str(error)
    complaints = read_complaints(text)
    if complaints:
        return "\n  ".join(("NVIDIA's assembler refuses its code:", *complaints))
    return _first_error(text)


def _first_error(text: str) -> str:
    """Return the first line that tells of an error: the rest is whole IR files."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if "error" in line.lower()]
    return (told or lines or ["no message"])[0][:500]


def _report(protocol: TextIO, **event: Any) -> None:
    protocol.write(json.dumps(event) + "\n")
    protocol.flush()


def main() -> None:
    """Run the process; its own stdout becomes the protocol's alone."""
    fix_addresses()
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    out = Path(sys.argv[2])
    out.mkdir(exist_ok=True)
    run_requests(request, out, protocol)


if __name__ == "__main__":
    main()
