"""Compressed frames, one at a time: Zstandard, with a shared dictionary or without, and Pco."""

from __future__ import annotations

from threading import local
from typing import Any, Final

import numpy as np
import zstandard

from amudai.encoding.binary.shared import ZSTD_SHARED
from amudai.encoding.pco_codec import inflate_pco
from amudai.encoding.shared import SharedDecoder
from amudai.errors import CorruptedData

__all__ = ["has_known_size", "inflated", "inflated_into"]

_PCO: Final = "pco_"  # before the type of the values, in the name of a codec

_threads = local()


def has_known_size(codec: str) -> bool:
    """Whether the size of the content is known from the name of the codec and the number of values."""
    return codec.startswith(_PCO)


def _decompressor(codec: str, shared: SharedDecoder | None) -> zstandard.ZstdDecompressor:
    if codec == ZSTD_SHARED.name:
        assert shared is not None  # the kernels have compared it with the block
        return shared.decompressor()
    found: zstandard.ZstdDecompressor | None = getattr(_threads, "zstd", None)
    if found is None:
        # One for each thread: a decompressor is not thread-safe. The reference writes windows up to 128 MiB.
        found = _threads.zstd = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    return found


def inflated_into(frame: memoryview, place: memoryview, codec: str, shared: SharedDecoder | None) -> bool:
    """Fill `place` with the content of one frame. False if the content has another size."""
    if codec.startswith(_PCO):
        inflate_pco(bytes(frame), codec.removeprefix(_PCO), place)
        return True
    try:
        reader = _decompressor(codec, shared).stream_reader(frame)
        done = reader.readinto(place)
        while 0 < done < len(place):
            found = reader.readinto(place[done:])
            done = done + found if found else 0
        # The end of the frame, with its checksum, comes after the last byte.
        return done == len(place) and reader.readinto(bytearray(1)) == 0
    except zstandard.ZstdError:
        return False


def inflated(frames: memoryview, size: int, codec: str, shared: SharedDecoder | None = None) -> Any:
    """The content of one frame or several in a row, `size` bytes. `shared` is the dictionary of their column."""
    if codec.startswith(_PCO):
        place = np.empty(size, np.uint8)
        inflate_pco(bytes(frames), codec.removeprefix(_PCO), place.data)
        return place
    decompressor = _decompressor(codec, shared)
    try:
        stated = zstandard.frame_content_size(frames)
        if stated in (-1, size):
            # One byte more than expected, to detect a longer frame.
            content: bytes = decompressor.decompress(frames, max_output_size=size + 1, allow_extra_data=False)
            if len(content) == size and (stated == size or _frame_size(frames) == len(frames)):
                return content
    except zstandard.ZstdError:
        pass  # damaged, or several frames in a row
    return _inflated_by_frame(decompressor, frames, size)


def _frame_size(frames: memoryview) -> int:
    """The size of the first frame, which is valid. zstandard ignores data after a frame that states no content size."""
    at = zstandard.frame_header_size(frames)
    while True:
        header = int.from_bytes(frames[at : at + 3], "little")  # last one?, kind (1: one byte, repeated), size
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
        if header & 1:
            return at + 4 * bool(zstandard.get_frame_parameters(frames).has_checksum)


def _inflated_by_frame(decompressor: zstandard.ZstdDecompressor, frames: memoryview, size: int) -> bytes:
    content, frame = bytearray(), None
    # Fed in small steps: a few bytes may decompress to gigabytes.
    for at in range(0, len(frames), 256):
        piece = bytes(frames[at : at + 256])
        while piece:
            frame = frame or decompressor.decompressobj()
            try:
                content += frame.decompress(piece)
            except zstandard.ZstdError as error:
                raise CorruptedData(f"Zstandard frame: {error}") from error
            if len(content) > size:
                raise CorruptedData(f"bytes of a Zstandard frame: expected {size}, found more")
            if not frame.eof:
                break
            piece, frame = frame.unused_data, None
    if frame is not None or len(content) != size:
        raise CorruptedData(f"bytes of a Zstandard frame: expected {size}, found {len(content)}")
    return bytes(content)
