"""The one file of an uploaded artifact, out of a zip file of anybody's.

Nothing is written to disk, so names in it matter little: the file must have the expected one, be the only one, and be
no larger than allowed when it is unpacked, whatever its header claims.
"""

from __future__ import annotations

import io
import zipfile
import zlib

from harness.ci.report import ReportError

_LINK, _KIND = 0o120000, 0o170000


def read_only_member(content: bytes, name: str, max_bytes: int) -> bytes:
    """Return the one file that a zip file holds.

    Args:
        content: the zip file.
        name: what the file must be called.
        max_bytes: the largest file to accept.

    Raises:
        ReportError: it is no such zip file.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len(members) != 1 or members[0].filename != name:
                raise ReportError(f"the artifact must hold {name} and nothing else")
            member = members[0]
            if member.file_size > max_bytes or member.flag_bits & 1 or (member.external_attr >> 16) & _KIND == _LINK:
                raise ReportError(f"{name} in the artifact is not a plain file of at most {max_bytes >> 10} KiB")
            with archive.open(member) as file:
                unpacked = file.read(max_bytes + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError, RuntimeError) as error:
        raise ReportError(f"the artifact is not a zip file that can be read ({type(error).__name__})") from None
    if len(unpacked) > max_bytes:
        raise ReportError(f"{name} in the artifact has more than {max_bytes >> 10} KiB")
    return unpacked
