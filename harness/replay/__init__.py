"""Replay: executing launch plans (runners, untrusted) and judging what comes back (the judge, ours)."""
