// Reading the parts of a time from text.
#pragma once
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

#include "text/clock.hpp"

namespace amudai::text::detail {

inline bool is_digit(std::uint8_t byte) { return static_cast<std::uint8_t>(byte - '0') < 10; }

// Letters, digits, the underscore, and all bytes that are not ASCII.
inline bool is_word_byte(std::uint8_t byte) {
    return is_digit(byte) || static_cast<std::uint8_t>((byte | 0x20) - 'a') < 26 || byte == '_' || byte >= 128;
}

inline std::int32_t month_named(const std::uint8_t* at) {
    const auto name = (at[0] | 0x20) << 16 | (at[1] | 0x20) << 8 | (at[2] | 0x20);
    switch (name) {
        case 'j' << 16 | 'a' << 8 | 'n': return 1;
        case 'f' << 16 | 'e' << 8 | 'b': return 2;
        case 'm' << 16 | 'a' << 8 | 'r': return 3;
        case 'a' << 16 | 'p' << 8 | 'r': return 4;
        case 'm' << 16 | 'a' << 8 | 'y': return 5;
        case 'j' << 16 | 'u' << 8 | 'n': return 6;
        case 'j' << 16 | 'u' << 8 | 'l': return 7;
        case 'a' << 16 | 'u' << 8 | 'g': return 8;
        case 's' << 16 | 'e' << 8 | 'p': return 9;
        case 'o' << 16 | 'c' << 8 | 't': return 10;
        case 'n' << 16 | 'o' << 8 | 'v': return 11;
        case 'd' << 16 | 'e' << 8 | 'c': return 12;
        default: return 0;
    }
}

// The numbers of 8 bytes "dd?dd?dd", one in each byte that has a digit, and whether the bytes are so. `first` and `second`
// are what the question marks stand for.
inline bool read_pairs(const std::uint8_t* at, std::uint8_t first, std::uint8_t second, std::array<std::int32_t, 3>& out) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    word ^= 0x3030003030003030 | std::uint64_t{first} << 16 | std::uint64_t{second} << 40;
    constexpr std::uint64_t between = 0x0000ff0000ff0000, high = 0xf0f0f0f0f0f0f0f0;
    if ((word & (between | high)) != 0 || ((word + 0x0606060606060606) & high) != 0) return false;
    for (std::size_t i = 0; i < 3; ++i) {
        out[i] = static_cast<std::int32_t>((word >> 24 * i & 0xff) * 10 + (word >> (24 * i + 8) & 0xff));
    }
    return true;
}

// The end of a time such as 10:20:30 with these separators, or nullptr.
inline const std::uint8_t* read_clock(const std::uint8_t* at, const std::uint8_t* end, std::uint8_t first,
                                      std::uint8_t second, Clock& clock) {
    std::array<std::int32_t, 3> parts;
    if (end - at < 8 || !read_pairs(at, first, second, parts)) return nullptr;
    clock.hour = parts[0], clock.minute = parts[1], clock.second = parts[2], clock.is_there = true;
    return at + 8;
}

// The end of a date such as 2026-03-02 with these separators, or nullptr.
inline const std::uint8_t* read_date(const std::uint8_t* at, const std::uint8_t* end, std::uint8_t first,
                                     std::uint8_t second, Clock& clock) {
    std::array<std::int32_t, 3> parts;
    if (end - at < 10 || !is_digit(at[0]) || !is_digit(at[1]) || !read_pairs(at + 2, first, second, parts)) return nullptr;
    clock.year = ((at[0] - '0') * 10 + (at[1] - '0')) * 100 + parts[0];
    clock.month = parts[1], clock.day = parts[2], clock.is_there = true;
    return at + 10;
}

// The end of an offset from UTC whose hour has two digits, or at least `least`, or nullptr.
inline const std::uint8_t* read_offset(const std::uint8_t* at, const std::uint8_t* end, Clock& clock, int least = 2) {
    if (end - at <= least || (*at != '+' && *at != '-')) return nullptr;
    std::int32_t hours = 0, minutes = 0;
    const auto* behind = at + 1;
    for (; behind < end && behind - at <= 2 && is_digit(*behind); ++behind) hours = hours * 10 + (*behind - '0');
    if (behind - at <= least) return nullptr;
    const auto* const digits = behind + (behind < end && *behind == ':');
    if (end - digits >= 2 && is_digit(digits[0]) && is_digit(digits[1])) {
        minutes = (digits[0] - '0') * 10 + (digits[1] - '0');
        behind = digits + 2;
    }
    if (hours > 18 || minutes > 59) return nullptr;
    clock.has_zone = true;
    clock.zone_minutes = (*at == '-' ? -1 : 1) * (hours * 60 + minutes);
    return behind;
}

// The end of a zone, or nullptr.
inline const std::uint8_t* read_zone(const std::uint8_t* at, const std::uint8_t* end, Clock& clock) {
    const auto left = end - at;
    if (left < 1) return nullptr;
    if (*at == 'Z' || *at == 'z') {
        clock.has_zone = true, clock.zone_minutes = 0;
        return at + 1;
    }
    if (left >= 3 && (std::memcmp(at, "UTC", 3) == 0 || std::memcmp(at, "GMT", 3) == 0)) {
        // `GMT+0100` and `UTC-5` have an offset of their own.
        if (const auto* const behind = read_offset(at + 3, end, clock, 1); behind != nullptr) return behind;
        clock.has_zone = true, clock.zone_minutes = 0;
        return at + 3;
    }
    return read_offset(at, end, clock);
}

// A name of a zone, and its minutes east of UTC.
struct ZoneName {
    std::string_view name;
    std::int32_t minutes;
};

// Names that stand for one offset alone, wherever they were in use since 2000. Those with several meanings are missing,
// such as CST (Chicago, Havana, Shanghai), IST (Dublin, Jerusalem, Kolkata) and PST (Los Angeles, Manila), and with them
// the names that take turns with them in summer. So are names that are also words, such as WET and WEST.
inline constexpr std::array zone_names{
    ZoneName{"UTC", 0},    ZoneName{"GMT", 0},     ZoneName{"BST", 60},    ZoneName{"CET", 60},   ZoneName{"CEST", 120},
    ZoneName{"EET", 120},  ZoneName{"EEST", 180},  ZoneName{"SAST", 120},  ZoneName{"HKT", 480},  ZoneName{"JST", 540},
    ZoneName{"AWST", 480}, ZoneName{"ACST", 570},  ZoneName{"ACDT", 630},  ZoneName{"AEST", 600}, ZoneName{"AEDT", 660},
    ZoneName{"NZST", 720}, ZoneName{"NZDT", 780},  ZoneName{"EST", -300},  ZoneName{"EDT", -240}, ZoneName{"MST", -420},
    ZoneName{"MDT", -360}, ZoneName{"AKST", -540}, ZoneName{"AKDT", -480},
};

// The end of the name of a zone, a whole word, or nullptr. It is called for few lines.
[[gnu::noinline]] inline const std::uint8_t* read_zone_name(const std::uint8_t* at, const std::uint8_t* end, Clock& clock) {
    const auto* behind = at;
    while (behind < end && is_word_byte(*behind)) ++behind;
    const std::string_view word(reinterpret_cast<const char*>(at), static_cast<std::size_t>(behind - at));
    for (const auto& [name, minutes] : zone_names) {
        if (word != name) continue;
        clock.has_zone = true, clock.zone_minutes = minutes;
        return behind;
    }
    return nullptr;
}

// The end of the digits of a fraction, or nullptr. Digits after the ninth are left out.
inline const std::uint8_t* read_fraction(const std::uint8_t* at, const std::uint8_t* end, Clock& clock) {
    std::int32_t nanos = 0, digits = 0;
    for (; at < end && is_digit(*at); ++at) {
        if (digits < 9) nanos = nanos * 10 + (*at - '0'), ++digits;
    }
    if (digits == 0) return nullptr;
    for (; digits < 9; ++digits) nanos *= 10;
    clock.nanos = nanos;
    return at;
}

inline const std::uint8_t* read_epoch(const std::uint8_t* at, const std::uint8_t* end, Clock& clock) {
    std::int64_t value = 0;
    int digits = 0;
    for (; at < end && is_digit(*at); ++at, ++digits) {
        if (digits == 19) return nullptr;
        if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) return nullptr;
        value = value * 10 + (*at - '0');
    }
    std::int64_t per_second = 1;
    switch (digits) {
        case 9: case 10: break;
        case 13: per_second = 1'000; break;
        case 16: per_second = 1'000'000; break;
        case 19: per_second = 1'000'000'000; break;
        default: return nullptr;
    }
    clock.epoch_seconds = value / per_second;
    clock.nanos = static_cast<std::int32_t>(value % per_second * (1'000'000'000 / per_second));
    clock.has_epoch = clock.has_zone = clock.is_there = true;
    return at;
}

}  // namespace amudai::text::detail
