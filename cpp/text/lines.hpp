// Lines of a text: where they end, and copies of parts of it.
#pragma once
#include <bit>
#include <vector>

#include "base/bytes.hpp"
#include "bits/byte_chunk.hpp"

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
    const auto* line = begin;
    const auto end_line = [&](const std::uint8_t* feed) {
        const bool has_return = feed > line && feed[-1] == '\r';
        found.has_returns |= has_return;
        found.ends.push_back(feed - has_return - begin);
        line = feed + 1;
        found.starts.push_back(line - begin);
    };
    const auto* at = begin;
    for (; end - at >= static_cast<std::ptrdiff_t>(bits::ByteChunk::size); at += bits::ByteChunk::size) {
        const bits::ByteChunk chunk(at);
        found.is_ascii &= chunk.is_ascii();
        for (auto feeds = chunk.equal('\n'); feeds; feeds &= feeds - 1) end_line(at + std::countr_zero(feeds));
    }
    for (; at < end; ++at) {
        found.is_ascii &= *at < 0x80;
        if (*at == '\n') end_line(at);
    }
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
