"""What a cubin says of its own kernel: registers, stack and static shared memory.

Read from the ELF file's `.nv.info` sections, so that the numbers are those of the code that will run. Attribute
numbers as shown by `cuobjdump -elf`, with which they were compared.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from harness.errors import ArtifactError

_FORMAT_SIZED = 0x04
_REGISTERS = 0x2F
_FRAME_BYTES = 0x11
_MACHINE_CUDA = 190


@dataclass(frozen=True)
class Resources:
    """Per-thread registers and stack bytes (0: nothing spills), static shared memory of a block in bytes."""

    registers: int
    stack_bytes: int
    static_shared_bytes: int


def read_resources(cubin: bytes, kernel: str) -> Resources:
    """Read what the kernel called `kernel` needs.

    Raises:
        ArtifactError: not a cubin, or one without that kernel.
    """
    try:
        elf = ELFFile(io.BytesIO(cubin))
        if elf["e_machine"] not in ("EM_CUDA", _MACHINE_CUDA):
            raise ArtifactError("cubin: an ELF file, but not for a GPU")
        table, info = elf.get_section_by_name(".symtab"), elf.get_section_by_name(".nv.info")
        if not isinstance(table, SymbolTableSection) or info is None:
            raise ArtifactError(f"cubin: no symbols or no kernel information beside {kernel}")
        attributes = _attributes(info.data(), [symbol.name for symbol in table.iter_symbols()])
        shared = elf.get_section_by_name(f".nv.shared.{kernel}")
        return Resources(
            registers=attributes[_REGISTERS, kernel],
            stack_bytes=attributes.get((_FRAME_BYTES, kernel), 0),
            static_shared_bytes=shared["sh_size"] if shared else 0,
        )
    except (ELFError, KeyError, IndexError, AttributeError, struct.error, UnicodeDecodeError, ValueError):
        raise ArtifactError(f"cubin: not a cubin with a kernel {kernel}") from None


def _attributes(data: bytes, symbols: list[str]) -> dict[tuple[int, str], int]:
    """Return the (attribute, symbol) -> value pairs of a `.nv.info` section."""
    found = {}
    position = 0
    while position < len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, position)
        position += 4
        if form == _FORMAT_SIZED:
            if size == 8:
                symbol, value = struct.unpack_from("<II", data, position)
                found[attribute, symbols[symbol]] = value
            position += size
    return found


def differing_sections(first: bytes, second: bytes) -> tuple[str, ...]:
    """Return the names of the sections in which two cubins differ, code first; "its header" where no section does.

    Raises:
        ArtifactError: one of them is not an ELF file.
    """
    one, other = _sections(first), _sections(second)
    names = [name for name in {*one, *other} if one.get(name) != other.get(name)]
    return tuple(sorted(names, key=lambda name: (not name.startswith(".text"), name))) or (
        ("its header",) if first != second else ()
    )


def _sections(cubin: bytes) -> dict[str, bytes]:
    try:
        return {section.name: section.data() for section in ELFFile(io.BytesIO(cubin)).iter_sections()}
    except (ELFError, AttributeError, struct.error, UnicodeDecodeError, ValueError, OverflowError, MemoryError):
        raise ArtifactError("cubin: not an ELF file that can be read") from None
