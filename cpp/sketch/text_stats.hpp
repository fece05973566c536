// Statistics of the sizes of a stripe's strings and bytes. Definitions: docs/format/statistics.md.
#pragma once
#include "binary/utf8.hpp"
#include "binary/values.hpp"

namespace amudai::sketch {

// Statistics of the values that are not null. Without any, all numbers are 0, except that `min_non_empty` is `none`
// unless some value has at least one byte.
struct TextStats {
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    std::size_t total_bytes = 0;
    std::size_t min_length = none;
    std::size_t min_non_empty = none;
    std::size_t max_length = 0;
    std::size_t ascii_count = 0;
};

// Whether a value is ASCII. Fast for short values: it tests eight bytes at a time, and the last eight may overlap the
// ones before.
inline bool is_short_ascii(Bytes value) {
    constexpr std::uint64_t high_bits = 0x8080808080808080;
    if (value.size() < 8) {
        std::uint64_t word = 0;
        for (const auto byte : value) word |= byte;
        return (word & 0x80) == 0;
    }
    auto seen = load<std::uint64_t>(value, value.size() - 8);
    for (std::size_t i = 0; i + 8 < value.size(); i += 8) seen |= load<std::uint64_t>(value, i);
    return (seen & high_bits) == 0;
}

template <class Values>
void are_ascii(const Values& values, bool* out) {
    for (std::size_t slot = 0; slot < values.count(); ++slot) out[slot] = is_short_ascii(values[slot]);
}

template <class Values>
TextStats text_stats(const Values& values, const Validity& validity) {
    TextStats found;
    std::size_t count = 0;
    // Most columns are entirely ASCII. Testing all bytes at once for that costs next to nothing.
    const bool all_ascii = utf8::is_ascii(values.all());
    for_each_slot(
        values.count(), validity,
        [&](std::size_t slot) {
            const auto length = values.length(slot);
            ++count;
            found.total_bytes += length;
            found.min_length = std::min(found.min_length, length);
            // One less than the length: for an empty value this wraps around to the largest number, which is never the
            // minimum.
            found.min_non_empty = std::min(found.min_non_empty, length - 1);
            found.max_length = std::max(found.max_length, length);
            if (!all_ascii) found.ascii_count += is_short_ascii(values[slot]);
        },
        [](std::size_t) {});
    if (count == 0) found.min_length = 0;
    if (found.min_non_empty != TextStats::none) ++found.min_non_empty;
    if (all_ascii) found.ascii_count = count;
    return found;
}

}  // namespace amudai::sketch
