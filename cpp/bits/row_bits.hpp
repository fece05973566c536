// Sets of positions as bitmaps of 64-bit words. They replace ranges if a set would have very many ranges.
#pragma once
#include "bits/ranges.hpp"

namespace amudai::bits {

inline constexpr std::size_t word_bits = 64;

inline std::size_t count_words(std::span<const std::uint64_t> words) {
    std::size_t found = 0;
    for (const auto word : words) found += static_cast<std::size_t>(std::popcount(word));
    return found;
}

// Copies `count` bits to bit `offset` of `words`, which must have room for them. All other bits become 0.
inline void align(const std::uint8_t* bitmap, std::size_t count, std::size_t offset, std::span<std::uint64_t> words) {
    std::ranges::fill(words, 0);
    copy(bitmap, 0, reinterpret_cast<std::uint8_t*>(words.data()), offset, count);
}

// Sets the bits of the positions that lie within `words`, whose first bit is position `base`. All other bits become 0.
inline void mark(const Ranges& ranges, std::uint64_t base, std::span<std::uint64_t> words) {
    std::ranges::fill(words, 0);
    const auto stop = base + word_bits * words.size();
    for (auto i = seek(ranges.ends, 0, base + 1); i < ranges.size() && ranges.starts[i] < stop; ++i) {
        const auto start = std::max(ranges.starts[i], base) - base, end = std::min(ranges.ends[i], stop) - base;
        if (end - start == 1) words[start / word_bits] |= std::uint64_t{1} << start % word_bits;
        else fill(reinterpret_cast<std::uint8_t*>(words.data()), start, end - start, true);
    }
}

}  // namespace amudai::bits
