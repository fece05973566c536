"""Which bytes hold which decimal? The table of docs/format/values.md."""

from __future__ import annotations

DECIMALS = {
    "0": "00000000000000000000000000000822",
    "7": "07000000000000000000000000000822",
    "2.50": "50010000000000000000000000800722",
    "-19.99": "ff0400000000000000000000008007a2",
    "1E+1": "01000000000000000000000000400822",
    "9999999999999999999999999999999999": "fffcf3cf3ffffcf3cf3ffffcf30f086e",
    "12345678901234567890.12345678901235": "3535827771123c6fe5281e9c4b930426",
    "0E-6176": "00000000000000000000000000000000",
    "1E-6176": "01000000000000000000000000000000",
    "Infinity": "00000000000000000000000000000078",
    "NaN": "0000000000000000000000000000007c",
}


def decimal_bytes(*numbers: str | None) -> list[bytes | None]:
    """The stored form of numbers that the table has."""
    return [None if number is None else bytes.fromhex(DECIMALS[number]) for number in numbers]
