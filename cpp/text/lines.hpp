// Lines of a text: where they end, and copies of parts of it.
#pragma once
#include <vector>

#include "base/bytes.hpp"

namespace amudai::text {

// The places of all line feeds.
inline std::vector<std::int64_t> line_ends(Bytes data) {
    std::vector<std::int64_t> ends;
    if (data.empty()) return ends;
    ends.reserve(data.size() / 64 + 16);
    const auto* const begin = data.data();
    const auto* const end = begin + data.size();
    for (const auto* at = begin; at < end; ++at) {
        at = static_cast<const std::uint8_t*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        if (at == nullptr) break;
        ends.push_back(at - begin);
    }
    return ends;
}

// The bytes of all parts data[from[i], to[i]); a part with to[i] < 0 has none.
inline std::size_t parts_size(Bytes data, std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (to[i] < 0) continue;
        const auto first = static_cast<std::uint64_t>(from[i]), last = static_cast<std::uint64_t>(to[i]);
        if (first > last || last > data.size()) {
            refuse("part", "one inside of " + std::to_string(data.size()) + " bytes", last);
        }
        size += last - first;
    }
    require_range("bytes of all parts", size, 0, std::numeric_limits<std::int32_t>::max());
    return size;
}

// Copies the parts one after the other into `out`, which has `parts_size` bytes; offsets as Arrow has them.
inline void gather_parts(Bytes data, std::span<const std::int64_t> from, std::span<const std::int64_t> to,
                         std::span<std::int32_t> offsets, MutableBytes out) {
    std::size_t size = 0;
    offsets[0] = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (to[i] >= 0 && to[i] > from[i]) {
            const auto count = static_cast<std::size_t>(to[i] - from[i]);
            std::memcpy(out.data() + size, data.data() + from[i], count);
            size += count;
        }
        offsets[i + 1] = static_cast<std::int32_t>(size);
    }
}

}  // namespace amudai::text
