// Lines of a text: where they end, and copies of parts of it.
#pragma once
#include <vector>

#include "base/bytes.hpp"

namespace amudai::text {

// Lines of a text without their ends: a line feed, or a carriage return and a line feed. What follows the last line feed
// is no line.
struct SplitLines {
    std::vector<std::int64_t> starts, ends;  // `starts` has one more: what follows the last line
    bool has_returns = false;  // whether some line ends with a carriage return and a line feed
    bool is_ascii = true;
};

inline SplitLines split_lines(Bytes data) {
    SplitLines found;
    found.starts.reserve(data.size() / 64 + 16);
    found.ends.reserve(data.size() / 64 + 16);
    found.starts.push_back(0);
    const auto* const begin = data.data();
    const auto* const end = begin + data.size();
    // In pieces, which are still in the cache when they are read again.
    constexpr std::ptrdiff_t piece_size = 1 << 14;
    const auto* line = begin;
    std::uint8_t all = 0;
    for (const auto* piece = begin; piece < end;) {
        const auto* const piece_end = piece + std::min(end - piece, piece_size);
        for (const auto* at = piece; at < piece_end; ++at) all |= *at;
        while (piece < piece_end) {
            const auto* const feed =
                static_cast<const std::uint8_t*>(std::memchr(piece, '\n', static_cast<std::size_t>(piece_end - piece)));
            if (feed == nullptr) break;
            const bool has_return = feed > line && feed[-1] == '\r';
            found.has_returns |= has_return;
            found.ends.push_back(feed - has_return - begin);
            piece = line = feed + 1;
            found.starts.push_back(line - begin);
        }
        piece = piece_end;
    }
    found.is_ascii = all < 0x80;
    return found;
}

// Arrow's offsets of the parts data[from[i], to[i]); a part with to[i] < 0 is empty.
inline void part_offsets(std::size_t data_size, std::span<const std::int64_t> from, std::span<const std::int64_t> to,
                         std::span<std::int32_t> offsets) {
    std::size_t size = 0;
    offsets[0] = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (to[i] >= 0) {
            const auto first = static_cast<std::uint64_t>(from[i]), last = static_cast<std::uint64_t>(to[i]);
            if (first > last || last > data_size) {
                refuse("part", "one inside of " + std::to_string(data_size) + " bytes", last);
            }
            size += last - first;
            require_range("bytes of all parts", size, 0, std::numeric_limits<std::int32_t>::max());
        }
        offsets[i + 1] = static_cast<std::int32_t>(size);
    }
}

// Copies parts one after the other into `out`. Part i begins at from[i] and is as long as the offsets say.
inline void gather_parts(Bytes data, std::span<const std::int64_t> from, std::span<const std::int32_t> offsets, MutableBytes out) {
    for (std::size_t i = 0; i < from.size(); ++i) {
        const auto begin = static_cast<std::uint32_t>(offsets[i]), end = static_cast<std::uint32_t>(offsets[i + 1]);
        if (begin == end) continue;
        const auto size = std::size_t{end} - begin;
        const auto first = static_cast<std::uint64_t>(from[i]);
        if (begin > end || end > out.size()) refuse("part", "one that fits into " + std::to_string(out.size()) + " bytes", end);
        if (first > data.size() || size > data.size() - first) {
            refuse("part", "one inside of " + std::to_string(data.size()) + " bytes", first + size);
        }
        std::memcpy(out.data() + begin, data.data() + first, size);
    }
}

}  // namespace amudai::text
