// Numbers as text: integers, decimals and doubles, with the digits that Python writes.
#pragma once
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/bytes.hpp"

namespace amudai::exports {

// No function of this file writes more bytes.
inline constexpr std::size_t max_number = 64;

namespace detail {

inline constexpr auto pairs = [] {
    std::array<std::uint8_t, 200> digits{};
    for (unsigned i = 0; i < 100; ++i) {
        digits[2 * i] = static_cast<std::uint8_t>('0' + i / 10);
        digits[2 * i + 1] = static_cast<std::uint8_t>('0' + i % 10);
    }
    return digits;
}();

inline constexpr auto powers = [] {
    std::array<std::uint64_t, 20> found{1};
    for (std::size_t i = 1; i < found.size(); ++i) found[i] = 10 * found[i - 1];
    return found;
}();

}  // namespace detail

inline std::uint8_t* put_pair(std::uint8_t* to, std::uint64_t below_hundred) {
    std::memcpy(to, &detail::pairs[2 * below_hundred], 2);
    return to + 2;
}

constexpr unsigned digit_count(std::uint64_t number) {
    const auto guess = static_cast<unsigned>(std::bit_width(number | 1)) * 1233 >> 12;
    return guess + (number >= detail::powers[guess]) + (number == 0);
}

// Writes the last `width` digits of a number, with zeros in front if it has fewer.
inline std::uint8_t* put_padded(std::uint8_t* to, std::uint64_t number, unsigned width) {
    auto left = width;
    for (; left >= 2; left -= 2, number /= 100) put_pair(to + left - 2, number % 100);
    if (left) *to = static_cast<std::uint8_t>('0' + number % 10);
    return to + width;
}

inline std::uint8_t* put_unsigned(std::uint8_t* to, std::uint64_t number) { return put_padded(to, number, digit_count(number)); }

// The absolute value, which the smallest number does not have in its own type.
inline std::uint64_t magnitude(std::int64_t number) {
    return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

inline std::uint8_t* put_integer(std::uint8_t* to, std::uint64_t number) { return put_unsigned(to, number); }

inline std::uint8_t* put_integer(std::uint8_t* to, std::int64_t number) {
    if (number < 0) *to++ = '-';
    return put_unsigned(to, magnitude(number));
}

// Writes `value` / 10^`scale` as Python does: with an exponent only if the scale is negative, or if at least six zeros
// follow the point.
inline std::uint8_t* put_decimal(std::uint8_t* to, __int128 value, int scale) {
    constexpr auto chunk = detail::powers[19];
    auto rest = static_cast<unsigned __int128>(value);
    if (value < 0) {
        *to++ = '-';
        rest = 0 - rest;
    }
    std::uint8_t digits[40];
    auto* end = digits;
    if (rest < chunk) {
        end = put_unsigned(end, static_cast<std::uint64_t>(rest));
    } else {
        const auto high = rest / chunk;
        const auto middle = static_cast<std::uint64_t>(high % chunk), top = static_cast<std::uint64_t>(high / chunk);
        end = top ? put_padded(put_unsigned(end, top), middle, 19) : put_unsigned(end, middle);
        end = put_padded(end, static_cast<std::uint64_t>(rest % chunk), 19);
    }
    const auto count = static_cast<int>(end - digits), before_point = count - scale;
    const auto put = [&](int first, int last) {
        std::memcpy(to, digits + first, static_cast<std::size_t>(last - first));
        to += last - first;
    };
    if (scale < 0 || before_point <= -6) {
        put(0, 1);
        if (count > 1) *to++ = '.';
        put(1, count);
        *to++ = 'E';
        *to++ = before_point > 0 ? '+' : '-';
        return put_unsigned(to, magnitude(before_point - 1));
    }
    if (before_point > 0) {
        put(0, before_point);
    } else {
        *to++ = '0';
    }
    if (scale == 0) return to;
    *to++ = '.';
    for (auto zeros = before_point; zeros < 0; ++zeros) *to++ = '0';
    put(std::max(before_point, 0), count);
    return to;
}

// Writes a finite double in the fewest digits that give it back, in the form that Python uses: 0.5, 1e-05, 1e+16.
inline std::uint8_t* put_double(std::uint8_t* to, double value) {
    if (std::signbit(value)) {
        *to++ = '-';
        value = -value;
    }
    // A fast way for doubles with few digits, such as prices. Only one decimal of up to 15 digits gives a double back,
    // so it is the shortest. The division of two exact doubles is rounded as the text is when it is read.
    constexpr double scale = 1e6;
    if (value < 1e9 && (value >= 1e-4 || value == 0)) {
        const auto scaled = static_cast<std::uint64_t>(value * scale + 0.5);
        if (static_cast<double>(scaled) / scale == value) {
            to = put_unsigned(to, scaled / 1'000'000);
            *to++ = '.';
            auto* const fraction = to;
            to = put_padded(to, scaled % 1'000'000, 6);
            while (to > fraction + 1 && to[-1] == '0') --to;
            return to;
        }
    }
    char text[32];
    const auto* const end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
    // "d.ddde-xx" or "de+xx": the digits without their point, and the exponent.
    std::uint8_t digits[24];
    int count = 0, exponent = 0;
    const auto* at = text;
    for (; *at != 'e'; ++at) {
        if (*at != '.') digits[count++] = static_cast<std::uint8_t>(*at);
    }
    const bool is_small = *++at == '-';
    for (++at; at < end; ++at) exponent = 10 * exponent + (*at - '0');
    if (is_small) exponent = -exponent;

    const auto put = [&](int first, int last) {
        for (auto i = first; i < last; ++i) *to++ = i < count ? digits[i] : '0';
    };
    if (exponent < -4 || exponent >= 16) {
        put(0, 1);
        if (count > 1) *to++ = '.';
        put(1, count);
        *to++ = 'e';
        *to++ = is_small ? '-' : '+';
        return put_padded(to, magnitude(exponent), magnitude(exponent) < 100 ? 2 : 3);
    }
    if (exponent < 0) {
        *to++ = '0';
        *to++ = '.';
        for (auto zeros = exponent + 1; zeros < 0; ++zeros) *to++ = '0';
        put(0, count);
        return to;
    }
    put(0, exponent + 1);
    *to++ = '.';
    put(exponent + 1, std::max(count, exponent + 2));
    return to;
}

}  // namespace amudai::exports
