// Arrow's decimals, which are integers x 10^-scale in two's complement, to stored decimals and back.
#pragma once
#include <optional>

#include "decimal/stored.hpp"

namespace amudai::decimal {

namespace detail {

using Words = std::array<std::uint64_t, 4>;  // a number of 256 bits, its lowest word first

// The value x 10^scale. False if that is no integer or has more than `precision` digits.
inline bool scale_exactly(const Stored& value, std::int64_t scale, int precision, Words& words) {
    words = {};
    if (value.is_zero()) return true;
    if (value.is_nan() || value.is_infinite()) return false;
    const auto number = unpack(value);
    auto coefficient = number.coefficient();
    auto shift = number.exponent + scale;
    if (shift <= -most_digits || shift >= precision) return false;
    if (shift < 0) {
        const auto power = powers[static_cast<std::size_t>(-shift)];
        if (coefficient % power != 0) return false;
        coefficient /= power, shift = 0;
    }
    const auto room = precision - shift;
    if (room < most_digits && coefficient >= powers[static_cast<std::size_t>(room)]) return false;
    words = {static_cast<std::uint64_t>(coefficient), static_cast<std::uint64_t>(coefficient >> 64), 0, 0};
    while (shift > 0) {
        const auto step = std::min<std::int64_t>(shift, low_digits);
        Wide carry = 0;
        for (auto& word : words) {
            carry += word * powers[static_cast<std::size_t>(step)];
            word = static_cast<std::uint64_t>(carry), carry >>= 64;
        }
        shift -= step;
    }
    return true;
}

template <std::size_t Width>
void write_signed(std::int64_t number, std::uint8_t* out) {
    if constexpr (Width == 4) {
        store(out, static_cast<std::int32_t>(number));
    } else {
        store(out, number);
        for (std::size_t at = 8; at < Width; at += 8) store(out + at, number >> 63);
    }
}

template <std::size_t Width>
void write_words(Words words, bool negative, std::uint8_t* out) {
    const auto mask = std::uint64_t{0} - negative;
    std::uint64_t carry = negative;
    for (auto& word : words) {
        word = (word ^ mask) + carry;
        carry &= word == 0;
    }
    std::memcpy(out, words.data(), Width);
}

// An integer of Arrow as sign and magnitude; a magnitude of 2^127 stands for anything larger.
template <std::size_t Width>
Wide magnitude_of(const std::uint8_t* value, bool& negative) {
    if constexpr (Width <= 8) {
        std::int64_t number;
        if constexpr (Width == 4) number = load<std::int32_t>(value);
        else number = load<std::int64_t>(value);
        negative = number < 0;
        return negative ? std::uint64_t{0} - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    } else {
        const auto number = Wide{load<std::uint64_t>(value + 8)} << 64 | load<std::uint64_t>(value);
        negative = value[Width - 1] >> 7;
        const auto mask = std::uint64_t{0} - negative;
        for (std::size_t at = 16; at < Width; at += 8) {
            if (load<std::uint64_t>(value + at) != mask) return Wide{1} << 127;
        }
        if (negative && number == 0) return Wide{1} << 127;  // -2^128
        return negative ? Wide{0} - number : number;
    }
}

// Whether the integer lies between -limit and limit, of at most 18 digits, and which it is.
template <std::size_t Width>
bool is_small(const std::uint8_t* value, std::uint64_t limit, std::int64_t& number) {
    if constexpr (Width == 4) number = load<std::int32_t>(value);
    else number = load<std::int64_t>(value);
    std::uint64_t other = 0;
    for (std::size_t at = 8; at < Width; at += 8) other |= load<std::uint64_t>(value + at) ^ static_cast<std::uint64_t>(number >> 63);
    return other == 0 && static_cast<std::uint64_t>(number) + limit - 1 <= 2 * limit - 2;
}

inline std::uint64_t limit_of(int precision) {
    return static_cast<std::uint64_t>(powers[static_cast<std::size_t>(std::min(precision, low_digits))]);
}

// Whether the stored decimals with this many digits behind the point have a common head.
inline bool has_head(std::int64_t scale) { return scale >= bias - 12287 && scale <= bias; }

// Writes small numbers; false if one of them is not between -limit and limit.
template <std::size_t Width>
bool write_small(const SmallNumbers& numbers, std::size_t count, std::int64_t limit, std::uint8_t* out) {
    bool fits = true;
    for (std::size_t i = 0; i < count; ++i) {
        fits &= numbers[i] < limit && numbers[i] > -limit;
        write_signed<Width>(numbers[i], out + Width * i);
    }
    return fits;
}

}  // namespace detail

// Writes values x 10^scale, integers of `Width` bytes. Null values become 0. Returns the first valid value for which
// there is no such integer of up to `precision` digits; the output from there on is undefined.
template <std::size_t Width>
std::optional<std::size_t> to_unscaled(const std::uint8_t* values, const std::uint8_t* valid, std::size_t count,
                                       std::int64_t scale, int precision, std::uint8_t* out) {
    const bool has_head = detail::has_head(scale);
    const auto head = head_of(has_head ? static_cast<int>(-scale) : 0);
    const auto limit = static_cast<std::int64_t>(detail::limit_of(precision));
    SmallNumbers small;
    for (std::size_t first = 0; first < count; first += chunk) {
        const auto size = std::min(chunk, count - first);
        const auto* const from = values + value_size * first;
        const auto* const present = valid ? valid + first : nullptr;
        auto* const to = out + Width * first;
        if (has_head && small_numbers(from, present, size, head, small) && detail::write_small<Width>(small, size, limit, to)) continue;
        for (std::size_t i = 0; i < size; ++i) {
            detail::Words words{};
            const auto value = Stored::at(from + value_size * i);
            const bool is_valid = !present || present[i];
            if (is_valid && !detail::scale_exactly(value, scale, precision, words)) return first + i;
            detail::write_words<Width>(words, is_valid && value.negative(), to + Width * i);
        }
    }
    return std::nullopt;
}

// The inverse. Returns the first valid value with more than `precision` digits. Null values become 16 zero bytes.
template <std::size_t Width>
std::optional<std::size_t> from_unscaled(const std::uint8_t* values, const std::uint8_t* valid, std::size_t count, int scale,
                                         int precision, std::uint8_t* out) {
    const auto head = head_of(-scale);
    const auto limit = detail::limit_of(precision);
    for (std::size_t i = 0; i < count; ++i) {
        const auto* const from = values + Width * i;
        auto* const to = out + value_size * i;
        std::int64_t number = 0;
        if (valid && !valid[i]) {
            Stored{0, 0}.write(to);
        } else if (detail::is_small<Width>(from, limit, number)) {
            const auto mask = static_cast<std::uint64_t>(number >> 63);
            Stored{pack_digits((static_cast<std::uint64_t>(number) ^ mask) - mask), head | (mask & sign_bit)}.write(to);
        } else {
            bool negative = false;
            const auto magnitude = detail::magnitude_of<Width>(from, negative);
            if (magnitude >= powers[static_cast<std::size_t>(precision)]) return i;
            pack(negative, magnitude, head).write(to);
        }
    }
    return std::nullopt;
}

}  // namespace amudai::decimal
