"""Presence: which slots of a block hold a value?"""

from pyroaring import BitMap

from tests.oracle.common import OracleError, require, take, unpack, unpack_exact

ALL_NULLS = 1
PLAIN = 2
ROARING = 3

COOKIE = 12346
COOKIE_WITH_RUNS = 12347


def decode(section: bytes, count: int) -> list[bool]:
    """True for each slot with a value. An empty section means that all have one."""
    if not section:
        return [True] * count
    kind = section[0]
    if kind == ALL_NULLS:
        return [False] * count
    if kind == PLAIN:
        return [byte != 0 for byte in unpack_exact(section[1:], count, "u1")]
    require(kind == ROARING, f"presence: expected kind 1, 2 or 3, found {kind}")
    (negated,) = take(section, 1, 1)
    listed = negated == 0  # what it means for a slot to be in the bitmap
    present = [not listed] * count
    for position in roaring_positions(section[2:]):
        require(position < count, f"presence: expected positions below {count}, found {position}")
        present[position] = listed
    return present


def roaring_positions(data: bytes) -> list[int]:
    """The positions in a 32-bit Roaring bitmap of the portable format; bytes behind it are not looked at."""
    cookie = int.from_bytes(take(data, 0, 4), "little")
    if cookie == COOKIE:
        count, at = int.from_bytes(take(data, 4, 4), "little"), 8
        require(count <= 1 << 16, f"roaring bitmap: expected at most 65536 containers, found {count}")
        is_run = [False] * count
    elif cookie % (1 << 16) == COOKIE_WITH_RUNS:
        count, at = (cookie >> 16) + 1, 4
        flags = take(data, at, (count + 7) // 8)
        at += len(flags)
        is_run = [bool(flags[i // 8] >> (i % 8) & 1) for i in range(count)]
    else:
        raise OracleError(f"roaring bitmap: expected cookie 12346 or 12347, found {cookie}")
    keys = unpack(take(data, at, 4 * count), 2 * count, "u2")
    at += 4 * count
    # Where each container starts; with runs the list is left out for fewer than four. They follow each other anyway.
    if cookie == COOKIE or count >= 4:
        take(data, at, 4 * count)
        at += 4 * count

    positions: list[int] = []
    for i in range(count):
        high, cardinality = keys[2 * i] << 16, keys[2 * i + 1] + 1
        if is_run[i]:
            (runs,) = unpack(take(data, at, 2), 1, "u2")
            part = unpack(take(data, at + 2, 4 * runs), 2 * runs, "u2")
            at += 2 + 4 * runs
            for start, more in zip(part[::2], part[1::2], strict=True):
                require(start + more < 1 << 16, f"roaring run: expected an end below 65536, found {start + more}")
                positions += range(high + start, high + start + more + 1)
        elif cardinality <= 4096:
            positions += [high + low for low in unpack(take(data, at, 2 * cardinality), cardinality, "u2")]
            at += 2 * cardinality
        else:
            part = list(take(data, at, 8192))
            positions += [high + low for low in range(1 << 16) if part[low // 8] >> (low % 8) & 1]
            at += 8192
    return positions


def encode(present: list[bool], kind: int | None = None, negated: bool = True, runs: bool = False) -> bytes:
    """The section of one kind, by default the simplest that tells the truth.

    A Roaring bitmap lists the nulls if `negated`, else the present slots; `runs` lets it use run containers.
    """
    if kind is None:
        if all(present):
            return b""
        kind = PLAIN if any(present) else ALL_NULLS
    if kind == ALL_NULLS:
        require(not any(present), "presence: kind 1 is for nulls only")
        return bytes([ALL_NULLS])
    if kind == PLAIN:
        return bytes([PLAIN, *present])
    require(kind == ROARING, f"presence: expected kind 1, 2 or 3, found {kind}")
    bitmap = BitMap(i for i, here in enumerate(present) if here != negated)
    if runs:
        bitmap.run_optimize()
    return bytes([ROARING, negated]) + bitmap.serialize()
