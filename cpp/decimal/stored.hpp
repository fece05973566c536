// Stored decimals: IEEE 754 decimal128 with densely packed digits. Bytes: docs/format/values.md.
#pragma once
#include <array>

#include "base/bytes.hpp"

namespace amudai::decimal {

using Wide = unsigned __int128;

inline constexpr std::size_t value_size = 16;
inline constexpr int bias = 6176, most_digits = 34, low_digits = 18;
inline constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
inline constexpr unsigned combination_infinity = 0b11110, combination_nan = 0b11111;

inline constexpr auto powers = [] {
    std::array<Wide, 39> made{};
    Wide power = 1;
    for (auto& each : made) each = power, power *= 10;
    return made;
}();
inline constexpr auto low_range = static_cast<std::uint64_t>(powers[low_digits]);

// The ten bits of three digits. A digit below 8 keeps three bits, 8 and 9 only their lowest.
constexpr std::uint16_t declet_of(unsigned number) {
    const unsigned x = number / 100, y = number / 10 % 10, z = number % 10;
    const unsigned first = (x & 7) << 7, second = (y & 7) << 4, d = (x & 1) << 7, h = (y & 1) << 4, m = z & 1;
    const unsigned fg = y >> 1 & 3, jk = z >> 1 & 3;
    switch ((x > 7) << 2 | (y > 7) << 1 | (z > 7)) {
        case 0b000: return static_cast<std::uint16_t>(first | second | (z & 7));
        case 0b001: return static_cast<std::uint16_t>(first | second | 0b1000 | m);
        case 0b010: return static_cast<std::uint16_t>(first | jk << 5 | h | 0b1010 | m);
        case 0b100: return static_cast<std::uint16_t>(jk << 8 | d | second | 0b1100 | m);
        case 0b110: return static_cast<std::uint16_t>(jk << 8 | d | h | 0b1110 | m);
        case 0b101: return static_cast<std::uint16_t>(fg << 8 | d | 0b01 << 5 | h | 0b1110 | m);
        case 0b011: return static_cast<std::uint16_t>(first | 0b10 << 5 | h | 0b1110 | m);
        default: return static_cast<std::uint16_t>(d | 0b11 << 5 | h | 0b1110 | m);
    }
}

inline constexpr auto declets = [] {
    std::array<std::uint16_t, 1000> made{};
    for (unsigned number = 0; number < 1000; ++number) made[number] = declet_of(number);
    return made;
}();

inline constexpr auto numbers = [] {
    std::array<std::uint16_t, 1024> made{};
    // The two top bits do not matter for 24 declets that no number packs to.
    for (unsigned number = 0; number < 1000; ++number) {
        const unsigned declet = declets[number];
        made[declet] = static_cast<std::uint16_t>(number);
        if ((declet & 0b1101110) == 0b1101110) {
            for (unsigned top = 0; top < 4; ++top) made[(declet & 0xff) | top << 8] = static_cast<std::uint16_t>(number);
        }
    }
    return made;
}();

// Nine digits and their three declets.
inline std::uint64_t pack_nine(std::uint32_t number) {
    const auto upper = number / 1000, high = upper / 1000;
    return declets[number - 1000 * upper] | std::uint64_t{declets[upper - 1000 * high]} << 10 | std::uint64_t{declets[high]} << 20;
}

// The numbers of declets that stand for thousands, and for millions.
template <std::uint32_t unit>
inline constexpr auto multiples = [] {
    std::array<std::uint32_t, 1024> made{};
    for (std::size_t declet = 0; declet < made.size(); ++declet) made[declet] = unit * numbers[declet];
    return made;
}();

inline std::uint32_t unpack_nine(std::uint32_t bits) {
    return numbers[bits & 1023] + multiples<1000>[bits >> 10 & 1023] + multiples<1'000'000>[bits >> 20 & 1023];
}

// Up to 18 digits and their six declets. The upper three are 0 in most columns.
inline std::uint64_t pack_digits(std::uint64_t number) {
    const auto high = number / 1'000'000'000;
    const auto low = pack_nine(static_cast<std::uint32_t>(number - 1'000'000'000 * high));
    return high ? low | pack_nine(static_cast<std::uint32_t>(high)) << 30 : low;
}

inline std::uint64_t unpack_digits(std::uint64_t bits) {
    constexpr std::uint64_t nine = (1u << 30) - 1;
    const auto low = unpack_nine(static_cast<std::uint32_t>(bits & nine));
    const auto high = static_cast<std::uint32_t>(bits >> 30 & nine);
    return high ? low + 1'000'000'000ull * unpack_nine(high) : low;
}

// The two words of a stored value.
struct Stored {
    std::uint64_t lower, upper;

    static Stored at(const std::uint8_t* value) { return {load<std::uint64_t>(value), load<std::uint64_t>(value + 8)}; }
    void write(std::uint8_t* out) const { store(out, lower), store(out + 8, upper); }

    bool negative() const { return upper >> 63; }
    unsigned combination() const { return static_cast<unsigned>(upper >> 58 & 31); }
    bool is_nan() const { return combination() == combination_nan; }
    bool is_infinite() const { return combination() == combination_infinity; }
    // A combination above 23 means a leading digit of 8 or 9. No declet other than 0 stands for three zeros.
    bool is_zero() const { return combination() < 24 && ((upper & ~(sign_bit | 0b11ull << 61 | 0xfffull << 46)) | lower) == 0; }
};

// The exponent's bits in the upper word. The sign and the leading digit are 0.
inline std::uint64_t head_of(int exponent) {
    const auto biased = static_cast<std::uint64_t>(exponent + bias);
    return biased >> 12 << 61 | (biased & 0xfff) << 46;
}

// A decoded value: (-1)^negative x (high x 10^18 + low) x 10^exponent. The digits of a NaN are its payload; of an
// infinity they are 0. Both have exponent 0.
struct Number {
    bool negative;
    std::uint64_t high, low;
    int exponent;

    Wide coefficient() const { return Wide{high} * low_range + low; }
};

inline Number unpack(const Stored& value) {
    const auto combination = value.combination();
    if (combination == combination_infinity) return {value.negative(), 0, 0, 0};
    constexpr std::uint64_t below = (std::uint64_t{1} << 46) - 1;
    const auto low = unpack_digits(value.lower);
    const auto high = unpack_digits(value.lower >> 60 | (value.upper & below) << 4);
    if (combination == combination_nan) return {value.negative(), high, low, 0};
    const bool large = combination >= 24;
    const unsigned leading = large ? 8 + (combination & 1) : combination & 7, top = large ? combination >> 1 & 3 : combination >> 3;
    const auto exponent = static_cast<int>(top << 12 | static_cast<unsigned>(value.upper >> 46 & 0xfff)) - bias;
    return {value.negative(), high + leading * static_cast<std::uint64_t>(powers[15]), low, exponent};
}

// `coefficient` has up to 34 digits.
inline Stored pack(bool negative, Wide coefficient, std::uint64_t head) {
    const auto high = static_cast<std::uint64_t>(coefficient / low_range), low = static_cast<std::uint64_t>(coefficient % low_range);
    constexpr auto leading_unit = static_cast<std::uint64_t>(powers[15]);
    const auto leading = high / leading_unit, declets_high = pack_digits(high % leading_unit);
    auto upper = head | leading << 58;
    if (leading > 7) upper = (head & ~(0b11ull << 61)) | (0b11000ull | head >> 61 << 1 | (leading - 8)) << 58;
    upper |= declets_high >> 4 | (negative ? sign_bit : 0);
    return {pack_digits(low) | declets_high << 60, upper};
}

// ---- values with up to 18 digits and one exponent, which are nearly all of a column ----

// The head that the values next to this one probably have.
inline std::uint64_t head_like(const Stored& value) {
    const auto combination = value.combination();
    if (combination >= combination_infinity) return head_of(0);
    const std::uint64_t top = combination >= 24 ? combination >> 1 & 3 : combination >> 3;
    return top << 61 | (value.upper & 0xfffull << 46);
}

// 0 if the value has this head and up to 18 digits.
inline std::uint64_t differs(const Stored& value, std::uint64_t head) {
    return ((value.upper & ~sign_bit) ^ head) | value.lower >> 60;
}

inline std::int64_t small_number(const Stored& value) {
    const auto mask = std::uint64_t{0} - (value.upper >> 63);
    return static_cast<std::int64_t>((unpack_digits(value.lower) ^ mask) - mask);
}

inline constexpr std::size_t chunk = 256;  // values at a time, so that what is decoded stays in the first-level cache
using SmallNumbers = std::array<std::int64_t, chunk>;

// The signed coefficients of `count` values, at most a chunk. False if some valid value has another head or more than
// 18 digits. `valid` has a byte for each value, or is null.
inline bool small_numbers(const std::uint8_t* values, const std::uint8_t* valid, std::size_t count, std::uint64_t head,
                          SmallNumbers& out) {
    std::uint64_t other = 0;
    if (!valid) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto value = Stored::at(values + value_size * i);
            other |= differs(value, head);
            out[i] = small_number(value);
        }
    } else {
        for (std::size_t i = 0; i < count; ++i) {
            const auto value = Stored::at(values + value_size * i);
            other |= differs(value, head) & (std::uint64_t{0} - (valid[i] != 0));
            out[i] = valid[i] ? small_number(value) : 0;
        }
    }
    return other == 0;
}

}  // namespace amudai::decimal
