"""What LLVM says before it ends the process: of a constraint of inline assembly, say, that no register can meet.

It is said on stderr, where whole IR files are printed too, and it echoes hostile text: of it one line is taken, cut,
and without what cannot be printed. A failed assertion of LLVM's is no word to anybody, and left out.
"""

from __future__ import annotations

import os
import re
from typing import BinaryIO

from harness.assemble.ptxas import printable

_WORDS = re.compile(
    r"^(?:[^\n]*?:[ ])?(?:LLVM[ ]ERROR|error):[ ](?P<error>[^\n]+)$"
    r"|^Failure value returned from cantFail wrapped call\n(?P<failure>[^\n]+)$",
    re.MULTILINE,
)
_MOST_BYTES = 1 << 14


def read_last_words(said: BinaryIO) -> str:
    """Return what ended the process, "" if that was not said.

    Args:
        said: what it wrote to stderr.
    """
    size = said.seek(0, os.SEEK_END)
    said.seek(max(0, size - _MOST_BYTES))
    found = _WORDS.search(said.read(_MOST_BYTES).decode("utf-8", errors="replace"))
    return printable(found["error"] or found["failure"]) if found else ""
