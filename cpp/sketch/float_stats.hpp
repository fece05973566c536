// What a stripe notes of its floats. Definitions: docs/format/statistics.md.
#pragma once
#include "sketch/ranges.hpp"

namespace amudai::sketch {

// Each value that is not null is counted once. The bounds are of those that are no NaN, if there are any.
struct FloatStats {
    std::size_t zero = 0, positive = 0, negative = 0, nan = 0, positive_infinity = 0, negative_infinity = 0;
    double least = 0, greatest = 0;

    bool has_numbers() const { return zero + positive + negative + positive_infinity + negative_infinity > 0; }
};

template <std::floating_point T>
FloatStats float_stats(std::span<const T> values, const Validity& validity) {
    constexpr auto infinity = std::numeric_limits<T>::infinity();
    using Count = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;  // as wide as a value: vectors stay whole
    FloatStats found;
    Bounds<T> bounds;
    std::array<T, 64> filled;
    std::size_t valid = 0, below = 0, above = 0;
    for (std::size_t first = 0; first < values.size(); first += 64) {
        const auto count = std::min<std::size_t>(64, values.size() - first);
        const auto word = validity.word(first, count);
        if (word == 0) continue;
        valid += static_cast<std::size_t>(std::popcount(word));
        const auto* const at = without_nulls(values.data() + first, count, word, filled);
        bounds.take(at, count);
        Count zeros = 0, negatives = 0, positives = 0, lowest = 0, highest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            zeros += at[i] == 0;
            negatives += at[i] < 0;
            positives += at[i] > 0;
            lowest += at[i] == -infinity;
            highest += at[i] == infinity;
        }
        found.zero += zeros, below += negatives, above += positives;
        found.negative_infinity += lowest, found.positive_infinity += highest;
    }
    found.positive = above - found.positive_infinity;
    found.negative = below - found.negative_infinity;
    found.nan = valid - found.zero - below - above;
    if (!found.has_numbers()) return found;
    found.least = bounds.least() == 0 ? first_zero(values, validity, 0) : bounds.least();
    found.greatest = bounds.greatest() == 0 ? first_zero(values, validity, 0) : bounds.greatest();
    return found;
}

}  // namespace amudai::sketch
