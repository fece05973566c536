// The order of stored decimals by value: 1.0 equals 1.00, and -0 equals 0.
#pragma once
#include <compare>
#include <vector>

#include "decimal/records.hpp"
#include "numeric/compare.hpp"

namespace amudai::decimal {

// Keys compare as the numbers do. All NaNs have the same key, which is greater than all others.
//
// `place` is where the first digit stands, from 1 on; 0 for zero. `upper` and `lower` are the first 34 digits: 16 and
// 18 of them. All three have the sign of the number. `rest` is for bounds with more than 34 digits: the sign of the
// digits that are left.
struct Key {
    std::int64_t place = 0, upper = 0, lower = 0, rest = 0;

    static constexpr std::int64_t places = 10'000, infinity = 30'000, nan = 40'000;

    auto operator<=>(const Key&) const = default;
    Key operator-() const { return {-place, -upper, -lower, -rest}; }
};

// How many digits a number has, at most 38; 0 has none.
inline int digits_of(Wide number) {
    const auto high = static_cast<std::uint64_t>(number >> 64), low = static_cast<std::uint64_t>(number);
    const auto bits = high ? 64 + std::bit_width(high) : std::bit_width(low);
    const auto digits = static_cast<int>(bits) * 1233 >> 12;  // 1233 / 4096 is nearly log10(2); one too few at most
    return digits + (number >= powers[static_cast<std::size_t>(digits)]);
}

inline Key key_of(const Stored& value) {
    if (value.is_nan()) return {Key::nan};
    if (value.is_zero()) return {};
    Key key{Key::infinity};
    if (!value.is_infinite()) {
        const auto number = unpack(value);
        const auto coefficient = number.coefficient();
        const auto digits = digits_of(coefficient);
        const auto aligned = coefficient * powers[static_cast<std::size_t>(most_digits - digits)];
        key.place = number.exponent + digits + Key::places;
        key.upper = static_cast<std::int64_t>(aligned / low_range), key.lower = static_cast<std::int64_t>(aligned % low_range);
    }
    return value.negative() ? -key : key;
}

namespace detail {

// The smallest integer n, at most 10^18 and at least -10^18, for which n x 10^exponent is not below the bound.
inline std::int64_t at_least(const Key& bound, int exponent) {
    constexpr auto most = static_cast<std::int64_t>(low_range);
    if (bound.place == 0) return bound.rest > 0 ? 1 : 0;
    const bool negative = bound.place < 0;
    const auto size = negative ? -bound : bound;
    const auto shift = size.place - Key::places - most_digits - exponent;
    if (size.place >= Key::infinity || shift >= 0) return negative ? -most : most;
    if (shift < -most_digits) return negative ? 0 : 1;
    const auto power = powers[static_cast<std::size_t>(-shift)];
    const auto digits = Wide{static_cast<std::uint64_t>(size.upper)} * low_range + static_cast<std::uint64_t>(size.lower);
    auto quotient = digits / power;
    const bool exact = digits % power == 0;
    // Upwards: away from zero for a positive bound, towards it for a negative one.
    if (!negative && (!exact || size.rest > 0)) ++quotient;
    if (negative && exact && size.rest < 0) --quotient;
    const auto near = static_cast<std::int64_t>(std::min<Wide>(quotient, low_range));
    return negative ? -near : near;
}

}  // namespace detail

// Ranges of decimals, of which a value must be in one. NaN is in none of them.
class Ranges {
public:
    struct Range {
        Key low, high;
    };

    explicit Ranges(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
        std::erase_if(ranges_, [](const Range& range) { return range.high < range.low; });
        std::ranges::sort(ranges_, {}, &Range::low);
        std::size_t kept = 0;
        for (const auto& range : ranges_) {
            if (kept && range.low <= ranges_[kept - 1].high) ranges_[kept - 1].high = std::max(ranges_[kept - 1].high, range.high);
            else ranges_[kept++] = range;
        }
        ranges_.resize(kept);
    }

    bool holds(const Stored& value) const {
        const auto key = key_of(value);
        const auto above = std::ranges::upper_bound(ranges_, key, {}, &Range::low);
        return key.place < Key::nan && above != ranges_.begin() && key <= std::prev(above)->high;
    }

    // Bit i of `out` says whether value i is in one of the ranges. There is room for whole words.
    void compare(const std::uint8_t* values, std::size_t count, std::uint8_t* out) {
        SmallNumbers small;
        for (std::size_t first = 0; first < count; first += chunk) {
            const auto size = std::min(chunk, count - first);
            const auto* const from = values + value_size * first;
            look_near(head_like(Stored::at(from)));
            if (small_numbers(from, nullptr, size, head_, small)) {
                compare_small({small.data(), size}, out + first / 8);
            } else {
                bits::test_each(size, out + first / 8, [&](std::size_t i) {
                    const auto value = Stored::at(from + value_size * i);
                    if (differs(value, head_) == 0) return holds_small(small_number(value));
                    return value.is_zero() ? holds_small(0) : holds(value);
                });
            }
        }
    }

    // The same for the records [first, first + count) of a Zstandard frame.
    void compare(std::span<const Group> groups, std::size_t first, std::size_t count, std::uint8_t* out) {
        SmallNumbers small;
        std::array<std::uint8_t, value_size * chunk> stored;
        for (const auto end = first + count; first < end; first += chunk, out += chunk / 8) {
            const auto size = std::min(chunk, end - first);
            binary::zstd_records::expand(groups, first, 1, stored.data());
            look_near(head_like(Stored::at(stored.data())));
            if (small_numbers(groups, first, size, head_, small)) {
                compare_small({small.data(), size}, out);
            } else {
                binary::zstd_records::expand(groups, first, size, stored.data());
                compare(stored.data(), size, out);
            }
        }
    }

private:
    // Expresses the ranges in integers x 10^exponent, the exponent of this head.
    void look_near(std::uint64_t head) {
        if (has_head_ && head == head_) return;
        head_ = head, has_head_ = true;
        near_.clear(), lows_.clear();
        const auto exponent = static_cast<int>(head >> 61 << 12 | (head >> 46 & 0xfff)) - bias;
        for (const auto& range : ranges_) {
            const auto low = detail::at_least(range.low, exponent), high = -detail::at_least(-range.high, exponent);
            if (low > high) continue;
            near_.push_back(numeric::Range<std::int64_t>::between(low, high));
            lows_.push_back(low);
        }
    }

    bool holds_small(std::int64_t number) const {
        const auto above = std::ranges::upper_bound(lows_, number);
        return above != lows_.begin() && near_[static_cast<std::size_t>(above - lows_.begin()) - 1].holds(number);
    }

    void compare_small(std::span<const std::int64_t> values, std::uint8_t* out) const {
        if (near_.empty()) return bits::fill(out, 0, values.size(), false);
        if (near_.size() <= 2) return numeric::compare_values<std::int64_t>(values, near_, out);
        bits::test_each(values.size(), out, [&](std::size_t i) { return holds_small(values[i]); });
    }

    std::vector<Range> ranges_;
    std::vector<numeric::Range<std::int64_t>> near_;
    std::vector<std::int64_t> lows_;
    std::uint64_t head_ = 0;
    bool has_head_ = false;
};

}  // namespace amudai::decimal
