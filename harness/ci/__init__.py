"""Continuous integration: what a pull request may change, what is said of it, and what becomes of a merge.

    the gate (untrusted)   `event`, `git`, `examine` with `paths` and `people`, `extract`: what changed, whether it may,
                           and its files on top of the base's checkout; then the engine checks each submission
    its report             `report` is the form; `markdown`, `annotations` and `commands` show it
    the answer (trusted)   `github` and `api_commits` read the pull request anew, `archive` and `report` the gate's word
                           as hostile data; `answer` decides and posts
    after a merge          `merged` says what is to be built, `filing` whose records are believed, `records_branch`
                           keeps them, `held_names` whose the names on them are
    changes to the season  `season_changes`

Verbs are in `cli/ci`; workflows call them and hold no logic of their own.
"""
