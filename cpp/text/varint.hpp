// Varints: numbers in as few bytes as they need, seven bits to a byte, the lowest bits first.
#pragma once
#include "base/bytes.hpp"

namespace amudai::text {

inline constexpr std::size_t max_varint = 10;

template <class Number>
std::uint8_t* put_varint(std::uint8_t* to, Number number) {
    for (; number >= 0x80; number >>= 7) *to++ = static_cast<std::uint8_t>(number | 0x80);
    *to++ = static_cast<std::uint8_t>(number);
    return to;
}

// Reads the number at `at` and moves `at` past it. Never reads at or beyond `end`.
inline std::uint64_t get_varint(const std::uint8_t*& at, const std::uint8_t* end) {
    std::uint64_t number = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        const std::uint64_t byte = *at++;
        number |= (byte & 0x7f) << shift;
        if (byte < 0x80) return number;
    }
    throw std::invalid_argument("run: a number has no end");
}

}  // namespace amudai::text
