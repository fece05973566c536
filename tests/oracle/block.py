"""A whole block: envelope, presence, values, checksum."""

import struct

import xxhash

from tests.oracle import presence, section
from tests.oracle.binary import block_dictionary, region
from tests.oracle.common import align8, pad8, require, take


def checksum(data: bytes) -> int:
    """The 64 bits of XXH3, one half folded onto the other."""
    digest = xxhash.xxh3_64_intdigest(data)
    return digest >> 32 ^ digest & 0xFFFFFFFF


def open_block(block: bytes, checksums: bool = True) -> tuple[bytes, bytes]:
    """The presence section and the values of a block; padding behind the values is not looked at."""
    if checksums:
        require(len(block) >= 4, f"block: expected a checksum of 4 bytes, found {len(block)} bytes in all")
        block, stored = block[:-4], int.from_bytes(block[-4:], "little")
        require(stored == checksum(block), f"block checksum: expected {checksum(block):08x}, found {stored:08x}")
    presence_size, values_size = struct.unpack("<II", take(block, 0, 8))
    return take(block, 8, presence_size), take(block, 8 + align8(presence_size), values_size)


def build(presence_section: bytes, values: bytes, checksums: bool = True) -> bytes:
    """A block with zeros where padding is due: its length is a multiple of 8, the checksum included."""
    block = struct.pack("<II", len(presence_section), len(values)) + pad8(presence_section) + values
    if not checksums:
        return pad8(block)
    block += bytes(-(len(block) + 4) % 8)
    return block + checksum(block).to_bytes(4, "little")


def decode_numeric(block: bytes, count: int, dtype: str, checksums: bool = True) -> list[int | None]:
    """The values of a numeric block, floats as bit patterns; None for nulls."""
    presence_section, values = open_block(block, checksums)
    present = presence.decode(presence_section, count)
    decoded = section.decode(values, count, dtype, 8 + align8(len(presence_section)))
    return [value if here else None for value, here in zip(decoded, present, strict=True)]


def decode_binary(block: bytes, count: int, fixed_size: int | None, checksums: bool = True) -> list[bytes | None]:
    """The values of a block of strings or bytes; None for nulls. `fixed_size` is None for values of any length."""
    presence_section, values = open_block(block, checksums)
    present = presence.decode(presence_section, count)
    decoded = region.decode(values, count, fixed_size, present)
    if region.code(values) == block_dictionary.CODE:
        # The codes say what is null; should presence disagree, they win.
        return decoded
    return [value if here else None for value, here in zip(decoded, present, strict=True)]
