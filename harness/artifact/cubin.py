"""What a cubin's header says: that it is one, whole, and for which GPU. Hostile bytes; nothing is executed here.

Standard library only, for machines that have little else. What is inside a cubin is `assemble.cubin`'s.
"""

from __future__ import annotations

import struct

from harness.errors import ArtifactError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_IDENTITY = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian
_CUDA = 190
_OLD_ABI, _NEW_ABI = 7, 8
_SECTION_BYTES, _SEGMENT_BYTES = 64, 56


def read_architecture(cubin: bytes) -> int:
    """Return the architecture that a cubin is for: 90 for compute capability 9.0, and so on.

    Raises:
        ArtifactError: not a cubin, cut off, or of a form that is not known.
    """
    if len(cubin) < _HEADER.size or not cubin.startswith(_IDENTITY):
        raise ArtifactError("it is not an ELF file")
    identity, _, machine, _, _, segments, sections, flags, _, _, segment_count, _, section_count, _ = _HEADER.unpack(
        cubin[: _HEADER.size]
    )
    if machine != _CUDA:
        raise ArtifactError("it is an ELF file, but not for a GPU")
    ends = (sections + section_count * _SECTION_BYTES, segments + segment_count * _SEGMENT_BYTES)
    if not section_count or max(ends) > len(cubin):
        raise ArtifactError("it is cut off")
    abi = identity[8]
    if abi not in (_OLD_ABI, _NEW_ABI):
        raise ArtifactError(f"its form ({abi}) is not known")
    return int(flags if abi == _OLD_ABI else flags >> 8) & 0xFF
