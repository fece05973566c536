// 32-bit Roaring bitmaps in the portable form, read as ranges. Array, bitmap and run containers.
#pragma once
#include <bit>

#include "base/bytes.hpp"

namespace amudai::roaring {

inline constexpr std::uint32_t cookie_plain = 12346;
inline constexpr std::uint32_t cookie_runs = 12347;
inline constexpr std::size_t container_values = 65536;
inline constexpr std::size_t bitmap_bytes = 8192;
inline constexpr std::size_t array_most = 4096;
inline constexpr std::size_t offsets_from = 4;  // with runs, fewer containers than this carry no offsets

// Calls `range(first, length)` for the positions in ascending order; every one must be below `limit`.
template <class Range>
void decode(Bytes bytes, std::size_t limit, Range&& range) {
    require_at_least("roaring bitmap bytes", bytes.size(), 4);
    const auto cookie = load<std::uint32_t>(bytes, 0);
    std::size_t at = 4;
    std::size_t containers = 0;
    Bytes run_flags;
    if ((cookie & 0xffff) == cookie_runs) {
        containers = (cookie >> 16) + 1;
        run_flags = part("roaring run flags", bytes, at, (containers + 7) / 8);
        at += run_flags.size();
    } else {
        require_equal("roaring cookie", cookie, cookie_plain);
        require_at_least("roaring bitmap bytes", bytes.size(), 8);
        containers = load<std::uint32_t>(bytes, 4);
        require_range("roaring containers", containers, 0, 65536);
        at = 8;
    }
    const auto headers = part("roaring container headers", bytes, at, 4 * containers);
    at += headers.size();
    if (run_flags.empty() || containers >= offsets_from) {
        part("roaring container offsets", bytes, at, 4 * containers);
        at += 4 * containers;
    }
    std::size_t next = 0;  // ascending order is what makes ranges disjoint
    const auto emit = [&](std::size_t first, std::size_t length) {
        require_at_least("roaring position", first, next);
        require_range("roaring position", first + length - 1, 0, limit ? limit - 1 : 0);
        range(first, length);
        next = first + length;
    };
    for (std::size_t i = 0; i < containers; ++i) {
        const auto base = std::size_t{load<std::uint16_t>(headers, 4 * i)} * container_values;
        const auto cardinality = std::size_t{load<std::uint16_t>(headers, 4 * i + 2)} + 1;
        if (!run_flags.empty() && (run_flags[i / 8] >> (i % 8) & 1)) {
            const auto count = std::size_t{load<std::uint16_t>(part("roaring run count", bytes, at, 2), 0)};
            const auto runs = part("roaring runs", bytes, at + 2, 4 * count);
            for (std::size_t run = 0; run < count; ++run) {
                emit(base + load<std::uint16_t>(runs, 4 * run), std::size_t{load<std::uint16_t>(runs, 4 * run + 2)} + 1);
            }
            at += 2 + runs.size();
        } else if (cardinality <= array_most) {
            const auto array = part("roaring array", bytes, at, 2 * cardinality);
            for (std::size_t k = 0; k < cardinality; ++k) emit(base + load<std::uint16_t>(array, 2 * k), 1);
            at += array.size();
        } else {
            const auto bitmap = part("roaring bitmap", bytes, at, bitmap_bytes);
            std::size_t found = 0;
            for (std::size_t word = 0; word < bitmap_bytes / 8; ++word) {
                auto bits = load<std::uint64_t>(bitmap, 8 * word);
                found += static_cast<std::size_t>(std::popcount(bits));
                for (; bits; bits &= bits - 1) emit(base + 64 * word + static_cast<std::size_t>(std::countr_zero(bits)), 1);
            }
            require_equal("roaring bitmap cardinality", found, cardinality);
            at += bitmap_bytes;
        }
    }
}

}  // namespace amudai::roaring
