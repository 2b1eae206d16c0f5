"""Texts that want to be more than text, and a record that is full of them."""

import dataclasses

from tests.store.samples import checked, incorrect

TEXTS = [
    "<script>alert(1)</script>",
    "</pre></details><img src=x onerror=alert(1)>",
    "![x](https://evil.example/x.png) [click](https://evil.example)",
    "`` ` ``` </code> | a | b |\n|---|---|\n| c |",
    "@octocat @ada/team #1 GH-2 ada/competition#3 https://evil.example www.evil.example :tada:",
    "\n\n# Passed\n\n**approved by the organisers**",
    "\n::error file=a::b\n::set-output name=x::y\n::add-mask::x\n##[error]x ##[add-path]/tmp",
    "  ::stop-commands::x\r\n::save-state name=a::b\r::debug::x",
    "%0A::error::x%3A",
    "\x1b[31mred\x1b]8;;https://evil.example\x07link\x1b]8;;\x07\x9b2J",
    "\u202egnp.exe \u200b\u2066x\u2069 \ufeff",
    "<!-- helion-harness: submission report -->",
    "~~~\n</summary><details open>\n~~~",
    "&lt;b&gt; &#64;octocat &amp;",
    "x" * 15_000,
    "line\n" * 3000,
]


def hostile_record(text, **changes):
    """A record that says a text wherever a record can say one."""
    record = incorrect("acme", **changes)
    frames = tuple(dataclasses.replace(f, text=text, function=text) for f in record.verdict.traceback)
    verdict = dataclasses.replace(record.verdict, message=text, reason=text, stage=text, traceback=frames,
                                  details={"likely_cause": text, text[:50]: text})  # fmt: skip
    cases = tuple(dataclasses.replace(c, message=text, reason=text, distribution=text, errors=tuple(
        dataclasses.replace(e, output=text) for e in c.errors)) for c in record.cases)  # fmt: skip
    kernels = tuple(dataclasses.replace(k, name=text) for k in checked("acme").kernels)
    return dataclasses.replace(
        record, verdict=verdict, cases=cases, kernels=kernels, warnings=(text,), unranked_reason=text,
        machine={"cpu": text}, toolchain={"torch": text}, sandbox_level=text, season=text,
    )  # fmt: skip
