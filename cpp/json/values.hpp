// JSON tokens as values: texts without their escapes, numbers as doubles, any value without spaces.
#pragma once
#include "json/cursor.hpp"

namespace amudai::json {

inline std::string_view view(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

inline void append_utf8(std::vector<std::uint8_t>& out, unsigned point) {
    const auto tail = [&](unsigned shift) { out.push_back(static_cast<std::uint8_t>(0x80 | (point >> shift & 0x3f))); };
    if (point < 0x80) {
        out.push_back(static_cast<std::uint8_t>(point));
    } else if (point < 0x800) {
        out.push_back(static_cast<std::uint8_t>(0xc0 | point >> 6)), tail(0);
    } else if (point < 0x10000) {
        out.push_back(static_cast<std::uint8_t>(0xe0 | point >> 12)), tail(6), tail(0);
    } else {
        out.push_back(static_cast<std::uint8_t>(0xf0 | point >> 18)), tail(12), tail(6), tail(0);
    }
}

// Appends a text whose escapes Cursor::text has checked.
inline void append_text(std::vector<std::uint8_t>& out, const Text& text) {
    if (!text.escaped) {
        out.insert(out.end(), text.from, text.to);
        return;
    }
    const auto unit = [](const std::uint8_t* at) {
        unsigned value = 0;
        std::from_chars(reinterpret_cast<const char*>(at), reinterpret_cast<const char*>(at + 4), value, 16);
        return value;
    };
    for (const auto* at = text.from; at < text.to;) {
        const auto* const next = static_cast<const std::uint8_t*>(std::memchr(at, '\\', static_cast<std::size_t>(text.to - at)));
        if (!next) {
            out.insert(out.end(), at, text.to);
            return;
        }
        out.insert(out.end(), at, next);
        at = next + 2;
        switch (next[1]) {
        case 'b': out.push_back('\b'); break;
        case 'f': out.push_back('\f'); break;
        case 'n': out.push_back('\n'); break;
        case 'r': out.push_back('\r'); break;
        case 't': out.push_back('\t'); break;
        case 'u': {
            auto point = unit(at);
            at += 4;
            if (point >= 0xd800 && point <= 0xdbff) {
                point = 0x10000 + ((point - 0xd800) << 10) + (unit(at + 2) - 0xdc00);
                at += 6;
            }
            append_utf8(out, point);
            break;
        }
        default: out.push_back(next[1]);
        }
    }
}

// Appends a sound value as it stands, without the spaces between its tokens.
inline void append_compact(std::vector<std::uint8_t>& out, Bytes value) {
    bool quoted = false;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto byte = value[i];
        if (quoted && byte == '\\') {
            out.push_back(byte);
            out.push_back(value[++i]);
            continue;
        }
        quoted ^= byte == '"';
        if (quoted || (byte != ' ' && byte != '\n' && byte != '\t' && byte != '\r')) out.push_back(byte);
    }
}

// The number as a double; false if it is too large for one.
inline bool to_double(const Number& number, double& out) {
    if (!number.finite) {
        out = *(number.to - 1) == 'N' ? std::nan("") : number.negative ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    // Both factors are exact, so that the result is rounded once (Clinger).
    static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!number.large && number.digits <= std::uint64_t{1} << 53 && number.exponent >= -22 && number.exponent <= 22) {
        const auto digits = static_cast<double>(number.digits);
        const auto value = number.exponent < 0 ? digits / powers[-number.exponent] : digits * powers[number.exponent];
        out = number.negative ? -value : value;
        return true;
    }
    const auto* const from = reinterpret_cast<const char*>(number.from);
    const auto* const to = reinterpret_cast<const char*>(number.to);
    if (std::from_chars(from, to, out).ec == std::errc{}) return true;
    // Out of range: the place of the first digit that is not zero tells on which side.
    std::ptrdiff_t significant = 0;
    for (const auto* at = from + number.negative; at < to && *at != 'e' && *at != 'E'; ++at) {
        significant += *at != '.' && (significant > 0 || *at != '0');
    }
    if (significant + number.exponent > 0) return false;
    out = number.negative ? -0.0 : 0.0;
    return true;
}

// Whether a float64 has exactly the value of an integer.
inline bool is_exact(const Number& number) {
    if (!number.large && number.digits <= std::uint64_t{1} << 53) return true;
    double value = 0;
    if (!to_double(number, value)) return false;
    char digits[320];
    const auto made = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, 0);
    return std::string_view(digits, made.ptr) == view({number.from, number.to});
}

}  // namespace amudai::json
