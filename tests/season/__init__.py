"""A season of the tests' own over the repository's problems: organisers change the repository's shapes.yaml freely.

`problems` and `submissions` here are links to the repository's. shapes.yaml was copied once; nothing holds it against
the other, and a test that needs a problem, a suite or a target to be listed takes it from here.
"""

from pathlib import Path

SEASON_ROOT = Path(__file__).parent
