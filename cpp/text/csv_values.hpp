// Reading one value of CSV text. A value that is not in its plain form is not read: others take a closer look at it.
#pragma once
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "text/clock_text.hpp"
#include "text/csv.hpp"

namespace amudai::text::csv {

// The text of a value without its quotes, inside of `all`: bytes beside it may be read, and are ignored.
struct Value {
    const std::uint8_t* at;
    const std::uint8_t* end;
    Bytes all;

    std::size_t size() const { return static_cast<std::size_t>(end - at); }
    std::string_view text() const { return {reinterpret_cast<const char*>(at), size()}; }

    // Without spaces and tabs around it.
    Value trimmed() const {
        auto found = *this;
        while (found.at < found.end && detail::is_blank(*found.at)) ++found.at;
        while (found.at < found.end && detail::is_blank(found.end[-1])) --found.end;
        return found;
    }
};

namespace detail {

using text::detail::is_digit;

// The number of `size` digits, at most 8, that end at `end`; nothing if there are other bytes among them.
inline std::optional<std::uint32_t> few_digits(const std::uint8_t* end, std::size_t size, Bytes all) {
    constexpr std::uint64_t zeros = 0x3030303030303030;
    std::uint64_t word = zeros;
    if (end - all.data() >= 8) {
        word = load<std::uint64_t>(end - 8);
    } else {
        std::memcpy(reinterpret_cast<std::uint8_t*>(&word) + 8 - size, end - size, size);
    }
    // What is before the digits becomes zeros. The last digit is in the highest byte.
    if (size < 8) {
        const auto before = (std::uint64_t{1} << 8 * (8 - size)) - 1;
        word = (word & ~before) | (zeros & before);
    }
    if (((word & 0xf0f0f0f0f0f0f0f0) ^ zeros) | (((word + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) ^ zeros)) return std::nullopt;
    word -= zeros;
    word = word * 10 + (word >> 8);
    constexpr std::uint64_t pairs = 0x000000ff000000ff;
    return static_cast<std::uint32_t>(((word & pairs) * 0x000f424000000064 + (word >> 16 & pairs) * 0x0000271000000001) >> 32);
}

// The number of 1 to 18 digits.
inline std::optional<std::uint64_t> digits(const std::uint8_t* at, const std::uint8_t* end, Bytes all) {
    std::uint64_t found = 0;
    auto size = static_cast<std::size_t>(end - at);
    for (auto first = size % 8; size; size -= first, first = 8) {
        if (first == 0) first = 8;
        const auto part = few_digits(at + first, first, all);
        if (!part) return std::nullopt;
        found = found * 100'000'000 + *part;
        at += first;
    }
    return found;
}

// Two digits, or a negative number.
inline int pair(const std::uint8_t* at) {
    return is_digit(at[0]) && is_digit(at[1]) ? (at[0] - '0') * 10 + (at[1] - '0') : -10'000;
}

inline constexpr std::array<double, 23> powers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
// From here on a double does not hold every integer.
inline constexpr double first_rounded = 9007199254740992.0;

}  // namespace detail

// A whole number of up to 18 digits, without a plus sign and leading zeros.
inline std::optional<std::int64_t> integer(const Value& value) {
    if (value.at == value.end) return std::nullopt;
    const bool is_negative = *value.at == '-';
    const auto* const at = value.at + is_negative;
    const auto size = value.end - at;
    if (size < 1 || size > 18 || (*at == '0' && (size > 1 || is_negative))) return std::nullopt;
    const auto found = detail::digits(at, value.end, value.all);
    if (!found) return std::nullopt;
    return is_negative ? -static_cast<std::int64_t>(*found) : static_cast<std::int64_t>(*found);
}

// A number such as -12, 0.5 or 1e10 that a double holds: it rounds no whole number. No plus sign, no leading zeros.
inline std::optional<double> number(const Value& value) {
    if (value.at == value.end) return std::nullopt;
    const bool is_negative = *value.at == '-';
    const auto* const at = value.at + is_negative;
    const auto* const end = value.end;
    if (at == end || (end - at > 1 && at[0] == '0' && detail::is_digit_or_x(at[1]))) return std::nullopt;
    const auto* const point = detail::find('.', at, end);
    const auto whole_size = point - at, part_size = end - point - 1;
    if (whole_size >= 1 && part_size >= 1 && whole_size + part_size <= 15) [[likely]] {
        const auto whole = detail::digits(at, point, value.all), part = detail::digits(point + 1, end, value.all);
        if (whole && part) {
            // Both are exact, so that the quotient is rounded once.
            const auto power = detail::powers[static_cast<std::size_t>(part_size)];
            const auto found = (static_cast<double>(*whole) * power + static_cast<double>(*part)) / power;
            return is_negative ? -found : found;
        }
    }
    if (point == end && whole_size <= 15) {
        const auto whole = detail::digits(at, end, value.all);
        if (whole) return is_negative ? -static_cast<double>(*whole) : static_cast<double>(*whole);
    }
    const auto* next = at;
    while (next < end && detail::is_digit(*next)) ++next;
    const bool is_whole = next == end;
    auto count = next - at;
    if (next < end && *next == '.') {
        const auto* const first = ++next;
        while (next < end && detail::is_digit(*next)) ++next;
        count += next - first;
    }
    if (count == 0) return std::nullopt;
    if (next < end && (*next | 0x20) == 'e') {
        next += next + 1 < end && (next[1] == '+' || next[1] == '-') ? 2 : 1;
        if (next == end) return std::nullopt;
        while (next < end && detail::is_digit(*next)) ++next;
    }
    double found = 0;
    const auto text = value.text();
    if (next != end || std::from_chars(text.data(), text.data() + text.size(), found).ec != std::errc{}) return std::nullopt;
    if (is_whole && std::abs(found) >= detail::first_rounded) return std::nullopt;
    return found;
}

inline std::optional<bool> truth(const Value& value) {
    const auto text = value.text();
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "false" || text == "False" || text == "FALSE") return false;
    return std::nullopt;
}

// Days from 1970 of a date such as 2026-03-02.
inline std::optional<std::int32_t> date(const std::uint8_t* at, std::size_t size) {
    Clock found;
    if (size != 10 || !text::detail::read_date(at, at + size, '-', '-', found)) return std::nullopt;
    if (found.year < 1 || found.month < 1 || found.month > 12) return std::nullopt;
    if (found.day < 1 || found.day > days_of_month(found.year, found.month)) return std::nullopt;
    return static_cast<std::int32_t>(days_from_1970(found.year, found.month, found.day));
}

// Units from 1970, where a second has 10 to the power of `digits` units, of a time such as 2026-03-02T10:20:30.25 or
// 2026-03-02 10:20:30. It must name its zone if `has_zone`, and otherwise must not.
inline std::optional<std::int64_t> moment(const Value& value, int digits, bool has_zone) {
    const auto* at = value.at;
    const auto size = value.size();
    const bool is_date = size == 10 && !has_zone;  // midnight
    if (!is_date && (size < 19 || (at[10] != 'T' && at[10] != ' '))) return std::nullopt;
    const auto day = date(at, 10);
    // What fits into nanoseconds, and some years less.
    if (!day || (digits == 9 && (*day < -98'000 || *day > 84'000))) return std::nullopt;
    std::int64_t seconds = std::int64_t{*day} * 86400, fraction = 0;
    if (!is_date) {
        Clock clock;
        if (!text::detail::read_clock(at + 11, at + 19, ':', ':', clock)) return std::nullopt;
        if (clock.hour > 23 || clock.minute > 59 || clock.second > 59) return std::nullopt;
        seconds += (clock.hour * 60 + clock.minute) * 60 + clock.second;
        at += 19;
        int count = 0;
        if (at < value.end && *at == '.') {
            for (++at; at < value.end && detail::is_digit(*at) && count <= digits; ++at, ++count) {
                fraction = fraction * 10 + (*at - '0');
            }
            if (count == 0 || count > digits) return std::nullopt;
        }
        for (; count < digits; ++count) fraction *= 10;
        if (has_zone) {
            const auto left = value.end - at;
            if (left == 1 && *at == 'Z') {
                ++at;
            } else if ((left == 3 || left == 5 || (left == 6 && at[3] == ':')) && (*at == '+' || *at == '-')) {
                const auto hours = detail::pair(at + 1), minutes = left == 3 ? 0 : detail::pair(value.end - 2);
                if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
                seconds -= (*at == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
                at = value.end;
            }
            if (at != value.end || left == 0) return std::nullopt;
        } else if (at != value.end) {
            return std::nullopt;
        }
    }
    return seconds * (digits == 9 ? 1'000'000'000 : 1'000'000) + fraction;
}

// Texts that mean null.
class Nulls {
public:
    explicit Nulls(std::vector<std::string> texts) : texts_(std::move(texts)) {
        for (const auto& text : texts_) {
            if (text.empty()) has_empty_ = true;
            else sizes_[static_cast<std::uint8_t>(text[0])] |= std::uint64_t{1} << std::min<std::size_t>(text.size(), 63);
            const auto* const at = reinterpret_cast<const std::uint8_t*>(text.data());
            const Value value{at, at + text.size(), {at, text.size()}};
            comes_first_ |= number(value.trimmed()) || integer(value.trimmed()) || truth(value) || moment(value, 9, true) ||
                            moment(value, 9, false);
        }
    }

    bool has(const Value& value) const {
        if (value.at == value.end) return has_empty_;
        if (!(sizes_[*value.at] >> std::min<std::size_t>(value.size(), 63) & 1)) return false;
        return std::ranges::find(texts_, value.text()) != texts_.end();
    }
    // Whether some text that means null can be read as a value.
    bool comes_first() const { return comes_first_; }

private:
    std::vector<std::string> texts_;
    std::array<std::uint64_t, 256> sizes_{};  // of the texts that begin with each byte
    bool has_empty_ = false;
    bool comes_first_ = false;
};

}  // namespace amudai::text::csv
