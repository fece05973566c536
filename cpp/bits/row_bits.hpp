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

// Calls use(first bit, number of bits) for each range, as far as it lies within `words` words of which the first bit is
// position `base`.
template <class Use>
void for_each_within(const Ranges& ranges, std::uint64_t base, std::size_t words, Use&& use) {
    const auto stop = base + word_bits * words;
    for (auto i = seek(ranges.ends, 0, base + 1); i < ranges.size() && ranges.starts[i] < stop; ++i) {
        const auto start = std::max(ranges.starts[i], base);
        use(static_cast<std::size_t>(start - base), static_cast<std::size_t>(std::min(ranges.ends[i], stop) - start));
    }
}

// Sets the bits of the positions that lie within `words`, whose first bit is position `base`. All other bits become 0.
inline void mark(const Ranges& ranges, std::uint64_t base, std::span<std::uint64_t> words) {
    std::ranges::fill(words, 0);
    for_each_within(ranges, base, words.size(), [&](auto at, auto count) {
        if (count == 1) words[at / word_bits] |= std::uint64_t{1} << at % word_bits;
        else fill(reinterpret_cast<std::uint8_t*>(words.data()), at, count, true);
    });
}

// Clears the bits of the positions that lie within `words`, whose first bit is position `base`.
inline void unmark(const Ranges& ranges, std::uint64_t base, std::span<std::uint64_t> words) {
    for_each_within(ranges, base, words.size(), [&](auto at, auto count) {
        if (count == 1) words[at / word_bits] &= ~(std::uint64_t{1} << at % word_bits);
        else fill(reinterpret_cast<std::uint8_t*>(words.data()), at, count, false);
    });
}

// How many positions of the ranges have their bit set in `words`, whose first bit is position `base`.
inline std::size_t count_marked(const Ranges& ranges, std::uint64_t base, std::span<const std::uint64_t> words) {
    std::size_t found = 0;
    for_each_within(ranges, base, words.size(), [&](auto at, auto count) {
        if (count == 1) found += words[at / word_bits] >> at % word_bits & 1;
        else found += count_set(reinterpret_cast<const std::uint8_t*>(words.data()), at, count);
    });
    return found;
}

}  // namespace amudai::bits
