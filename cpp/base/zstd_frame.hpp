// What a Zstandard frame says about itself, without inflating it (RFC 8878, section 3.1.1).
#pragma once
#include "base/bytes.hpp"

namespace amudai {

// Whether `bytes` are one frame and nothing else, and the frame states that it holds `content` bytes. Of the blocks
// inside, only the sizes are read.
inline bool is_zstd_frame_of(Bytes bytes, std::uint64_t content) {
    constexpr std::uint32_t magic = 0xFD2FB528;
    if (bytes.size() < 5 || load<std::uint32_t>(bytes, 0) != magic) return false;
    const unsigned descriptor = bytes[4];
    const bool single_segment = descriptor >> 5 & 1, has_checksum = descriptor >> 2 & 1;
    constexpr std::size_t dictionary_sizes[] = {0, 1, 2, 4}, content_sizes[] = {0, 2, 4, 8};
    const auto kind = descriptor >> 6;
    const auto content_size = kind == 0 && single_segment ? 1 : content_sizes[kind];
    auto at = 5 + !single_segment + dictionary_sizes[descriptor & 3];
    if (content_size == 0 || bytes.size() < at + content_size) return false;
    std::uint64_t stated = 0;
    std::memcpy(&stated, bytes.data() + at, content_size);
    if (content_size == 2) stated += 256;
    if (stated != content) return false;
    at += content_size;
    for (bool is_last = false; !is_last;) {
        if (bytes.size() - at < 3) return false;
        const unsigned header = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16;
        is_last = header & 1;
        const std::size_t size = (header >> 1 & 3) == 1 ? 1 : header >> 3;  // type 1 repeats a single byte
        if (bytes.size() - at - 3 < size) return false;
        at += 3 + size;
    }
    return bytes.size() - at == (has_checksum ? 4 : 0);
}

}  // namespace amudai
