// Decimals that are stored as integers: 123.45 of a decimal(15, 2) is 12345.
#pragma once
#include "decimal/unscaled.hpp"

namespace amudai::decimal {

// Writes integers of `Width` bytes, as Arrow has them. Null values become 0. Returns the first valid value with more than
// `precision` digits; the output from there on is undefined. `valid` has a byte for each value, or is null.
template <std::size_t Width>
std::optional<std::size_t> from_scaled(std::span<const std::int64_t> numbers, const std::uint8_t* valid, int precision, std::uint8_t* out) {
    const auto limit = static_cast<std::int64_t>(detail::limit_of(precision));
    for (std::size_t first = 0; first < numbers.size(); first += chunk) {
        const auto size = std::min(chunk, numbers.size() - first);
        bool fits = true;
        for (std::size_t i = first; i < first + size; ++i) {
            const auto number = valid && !valid[i] ? 0 : numbers[i];
            fits &= number < limit && number > -limit;
            detail::write_signed<Width>(number, out + Width * i);
        }
        if (fits) continue;
        for (std::size_t i = first; i < first + size; ++i) {
            if ((!valid || valid[i]) && (numbers[i] >= limit || numbers[i] <= -limit)) return i;
        }
    }
    return std::nullopt;
}

}  // namespace amudai::decimal
