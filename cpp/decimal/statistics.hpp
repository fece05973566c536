// Statistics of stored decimals: bounds, and how many there are of each sign.
#pragma once
#include <optional>

#include "decimal/order.hpp"

namespace amudai::decimal {

// The first of the smallest and the first of the largest numbers; none if all values are null or NaN.
struct Extremes {
    std::size_t least, greatest;
};

namespace detail {

template <class Less>
std::size_t first_extreme(const SmallNumbers& numbers, const std::uint8_t* valid, std::size_t count, std::size_t start, Less&& less) {
    auto best = numbers[start];
    if (!valid) {
        for (std::size_t i = 0; i < count; ++i) best = less(numbers[i], best) ? numbers[i] : best;
    } else {
        for (std::size_t i = 0; i < count; ++i) best = valid[i] && less(numbers[i], best) ? numbers[i] : best;
    }
    while (numbers[start] != best || (valid && !valid[start])) ++start;
    return start;
}

}  // namespace detail

// Of at most a chunk. `nans` counts the valid values that are NaN.
inline std::optional<Extremes> extremes(const std::uint8_t* values, const std::uint8_t* valid, std::size_t count, std::size_t& nans) {
    nans = 0;
    std::size_t start = 0;
    while (valid && start < count && !valid[start]) ++start;
    if (start == count) return std::nullopt;
    SmallNumbers small;
    if (small_numbers(values, valid, count, head_like(Stored::at(values + value_size * start)), small)) {
        return Extremes{detail::first_extreme(small, valid, count, start, std::less<>{}),
                        detail::first_extreme(small, valid, count, start, std::greater<>{})};
    }
    std::optional<Extremes> found;
    Key low, high;
    for (std::size_t i = start; i < count; ++i) {
        if (valid && !valid[i]) continue;
        const auto key = key_of(Stored::at(values + value_size * i));
        if (key.place == Key::nan) {
            ++nans;
        } else if (!found) {
            found = Extremes{i, i}, low = high = key;
        } else if (key < low) {
            low = key, found->least = i;
        } else if (high < key) {
            high = key, found->greatest = i;
        }
    }
    return found;
}

struct Statistics {
    std::uint64_t zeros = 0, positive = 0, negative = 0, nans = 0;  // infinities count by their sign
    std::optional<Extremes> ends;
};

// `times` says how often each value occurs: once where it is null.
inline Statistics statistics(const std::uint8_t* values, const std::uint8_t* valid, const std::uint64_t* times, std::size_t count) {
    Statistics found;
    Key low, high;
    for (std::size_t first = 0; first < count; first += chunk) {
        const auto size = std::min(chunk, count - first);
        const auto* const present = valid ? valid + first : nullptr;
        const auto* const from = values + value_size * first;
        for (std::size_t i = 0; i < size; ++i) {
            const auto value = Stored::at(from + value_size * i);
            const std::uint64_t weight = present && !present[i] ? 0 : times ? times[first + i] : 1;
            const bool nan = value.is_nan(), zero = value.is_zero();
            found.nans += nan ? weight : 0, found.zeros += zero ? weight : 0;
            found.negative += !nan && !zero && value.negative() ? weight : 0;
            found.positive += !nan && !zero && !value.negative() ? weight : 0;
        }
        std::size_t nans = 0;
        const auto ends = extremes(from, present, size, nans);
        if (!ends) continue;
        const auto least = key_of(Stored::at(from + value_size * ends->least));
        const auto greatest = key_of(Stored::at(from + value_size * ends->greatest));
        if (!found.ends) found.ends = Extremes{first + ends->least, first + ends->greatest}, low = least, high = greatest;
        if (least < low) low = least, found.ends->least = first + ends->least;
        if (high < greatest) high = greatest, found.ends->greatest = first + ends->greatest;
    }
    return found;
}

// One entry for each chunk of values, the last of which may be shorter, for the range index. Null and NaN are invalid;
// without a valid value both bounds are 16 zero bytes.
inline void ranges(const std::uint8_t* values, const std::uint8_t* valid, std::size_t count, std::uint8_t* least,
                   std::uint8_t* greatest, std::uint16_t* invalid) {
    for (std::size_t first = 0; first < count; first += chunk) {
        const auto size = std::min(chunk, count - first);
        const auto* const from = values + value_size * first;
        std::size_t missing = 0, nans = 0;
        for (std::size_t i = 0; valid && i < size; ++i) missing += !valid[first + i];
        const auto ends = extremes(from, missing ? valid + first : nullptr, size, nans);
        const auto put = [&](std::uint8_t* out, std::size_t at) {
            (ends ? Stored::at(from + value_size * at) : Stored{0, 0}).write(out);
        };
        put(least, ends ? ends->least : 0), put(greatest, ends ? ends->greatest : 0);
        least += value_size, greatest += value_size;
        *invalid++ = static_cast<std::uint16_t>(missing + nans);
    }
}

}  // namespace amudai::decimal
