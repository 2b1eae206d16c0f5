"""A cubin from outside: that it is one, whole, for which GPU, and which bytes of it a GPU executes and reads.

Hostile bytes: what a header says of places and sizes is held against the file before it is followed, and no name is
longer than it may be. Standard library only, for machines that have little else. What a kernel needs (registers, shared
memory) is `assemble.cubin`'s.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from harness.errors import ArtifactError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_IDENTITY = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian
_CUDA = 190
_OLD_ABI, _NEW_ABI = 7, 8
_SECTION_BYTES, _SEGMENT_BYTES = 64, 56
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NO_BYTES = 8
_EXECUTED = (b".text", b".nv.constant", b".nv.global.init")
_LONGEST_NAME = max(map(len, _EXECUTED))


@dataclass(frozen=True)
class _Header:
    """The architecture, where the table of sections begins, how many it has, and which one holds their names."""

    architecture: int
    sections_at: int
    section_count: int
    names_at: int


def read_architecture(cubin: bytes) -> int:
    """Return the architecture that a cubin is for: 90 for compute capability 9.0, and so on.

    Raises:
        ArtifactError: not a cubin, cut off, or of a form that is not known.
    """
    return _read_header(cubin).architecture


def read_code(cubin: bytes) -> tuple[bytes, ...]:
    """Return the machine code of a cubin and the constants that it reads, by content: no names, nothing for debuggers.

    Raises:
        ArtifactError: not a cubin, cut off, without code, or with sections that are not of its own bytes.
    """
    header = _read_header(cubin)
    places = range(header.sections_at, header.sections_at + header.section_count * _SECTION_BYTES, _SECTION_BYTES)
    table = [_SECTION.unpack_from(cubin, place) for place in places]
    if header.names_at >= len(table):
        raise ArtifactError("its sections have no names")
    names = _content(cubin, table[header.names_at])
    executed, total = [], 0
    for section in table:
        name, kind = names[section[0] : section[0] + _LONGEST_NAME], section[1]
        if kind != _NO_BYTES and name.startswith(_EXECUTED):
            executed.append(_content(cubin, section))
            total += len(executed[-1])
            if total > len(cubin):
                raise ArtifactError("its sections overlap")
    if not total:
        raise ArtifactError("it holds no code")
    return tuple(sorted(executed))


def _read_header(cubin: bytes) -> _Header:
    if len(cubin) < _HEADER.size or not cubin.startswith(_IDENTITY):
        raise ArtifactError("it is not an ELF file")
    identity, _, machine, _, _, segments, sections, flags, _, _, segment_count, _, section_count, names_at = (
        _HEADER.unpack(cubin[: _HEADER.size])
    )
    if machine != _CUDA:
        raise ArtifactError("it is an ELF file, but not for a GPU")
    ends = (sections + section_count * _SECTION_BYTES, segments + segment_count * _SEGMENT_BYTES)
    if not section_count or max(ends) > len(cubin):
        raise ArtifactError("it is cut off")
    abi = identity[8]
    if abi not in (_OLD_ABI, _NEW_ABI):
        raise ArtifactError(f"its form ({abi}) is not known")
    architecture = int(flags if abi == _OLD_ABI else flags >> 8) & 0xFF
    return _Header(architecture, sections, section_count, names_at)


def _content(cubin: bytes, section: tuple[int, ...]) -> bytes:
    start, size_bytes = section[4], section[5]
    if start + size_bytes > len(cubin):
        raise ArtifactError("one of its sections lies outside of it")
    return cubin[start : start + size_bytes]
