// Texts as strings of JSON and as cells of CSV.
#pragma once
#include <algorithm>
#include <bit>

#include "base/sink.hpp"

namespace amudai::exports {

// A text. Memory may be read up to `readable`, because texts are examined eight bytes at a time.
struct Text {
    Bytes bytes;
    const std::uint8_t* readable;
};

namespace detail {

inline constexpr std::uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;

// These functions mark bytes of a word by their highest bits. The lowest mark is right; marks above it may be wrong.
constexpr std::uint64_t bytes_below(std::uint64_t word, std::uint8_t limit) { return (word - ones * limit) & ~word & highs; }
constexpr std::uint64_t bytes_equal(std::uint64_t word, char byte) {
    return bytes_below(word ^ ones * static_cast<std::uint8_t>(byte), 1);
}
constexpr std::uint64_t json_specials(std::uint64_t word) {
    return bytes_below(word, 0x20) | bytes_equal(word, '"') | bytes_equal(word, '\\');
}
constexpr std::uint64_t csv_specials(std::uint64_t word) {
    return bytes_equal(word, '"') | bytes_equal(word, ',') | bytes_equal(word, '\r') | bytes_equal(word, '\n');
}

// At most eight bytes of a text, filled up with letters, which need no escape.
inline std::uint64_t load_some(const std::uint8_t* from, std::size_t count, const std::uint8_t* readable) {
    if (count >= 8) return load<std::uint64_t>(from);
    constexpr auto letters = ones * 'a';
    const auto mask = (std::uint64_t{1} << 8 * count) - 1;
    if (readable - from >= 8) return (load<std::uint64_t>(from) & mask) | (letters & ~mask);
    auto word = letters;
    std::memcpy(&word, from, count);
    return word;
}

inline std::uint8_t* put_escape(std::uint8_t* to, std::uint8_t byte) {
    const auto pair = [&](char letter) {
        *to++ = '\\';
        *to++ = static_cast<std::uint8_t>(letter);
        return to;
    };
    switch (byte) {
        case '\b': return pair('b');
        case '\t': return pair('t');
        case '\n': return pair('n');
        case '\f': return pair('f');
        case '\r': return pair('r');
        case '"': return pair('"');
        case '\\': return pair('\\');
        default:
            std::memcpy(to, byte < 0x10 ? "\\u000" : "\\u001", 5);
            to[5] = static_cast<std::uint8_t>("0123456789abcdef"[byte % 16]);
            return to + 6;
    }
}

// Whether these one, two or three bytes are a white space character of Unicode.
constexpr bool is_space(Bytes bytes) {
    const auto first = bytes[0];
    if (bytes.size() == 1) return (first >= 0x9 && first <= 0xd) || (first >= 0x1c && first <= 0x20);
    if (bytes.size() == 2) return first == 0xc2 && (bytes[1] == 0x85 || bytes[1] == 0xa0);
    if (first < 0xe1 || first > 0xe3) return false;
    const auto code = (first & 0xfu) << 12 | (bytes[1] & 0x3fu) << 6 | (bytes[2] & 0x3fu);
    return code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
           code == 0x205f || code == 0x3000;
}

constexpr bool has_space_at_an_end(Bytes bytes) {
    for (std::size_t size = 1; size <= std::min<std::size_t>(bytes.size(), 3); ++size) {
        if (is_space(bytes.first(size)) || is_space(bytes.last(size))) return true;
        if (bytes.front() < 0x80 && bytes.back() < 0x80) return false;
    }
    return false;
}

inline bool needs_quotes(const Text& text) {
    const auto* at = text.bytes.data();
    auto left = text.bytes.size();
    if (left == 0) return true;
    if (has_space_at_an_end(text.bytes)) return true;
    for (; left > 8; at += 8, left -= 8) {
        if (csv_specials(load<std::uint64_t>(at))) return true;
    }
    return csv_specials(load_some(at, left, text.readable)) != 0;
}

}  // namespace detail

// Writes a JSON string. Characters outside of ASCII are not escaped.
inline void put_json_text(Sink& out, const Text& text) {
    constexpr std::size_t stretch = 4096, longest_escape = 6;
    out.put('"');
    const auto* from = text.bytes.data();
    for (auto rest = text.bytes.size(); rest;) {
        const auto size = std::min(rest, stretch);
        const auto* const end = from + size;
        rest -= size;
        const auto before = out.size();
        auto* const begin = out.extend(longest_escape * size + 8);
        auto* to = begin;
        while (from < end) {
            const auto left = static_cast<std::size_t>(end - from);
            const auto word = detail::load_some(from, left, text.readable);
            store(to, word);
            const auto specials = detail::json_specials(word);
            const auto clean = std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(specials)) / 8, left);
            from += clean;
            to += clean;
            if (specials) to = detail::put_escape(to, *from++);
        }
        out.cut(before + static_cast<std::size_t>(to - begin));
    }
    out.put('"');
}

// Writes a cell of CSV. It is quoted if it contains a separator or a quote, if it begins or ends with white space,
// which some readers remove, and if it is empty, because an empty cell without quotes is null.
inline void put_csv_text(Sink& out, const Text& text) {
    if (!detail::needs_quotes(text)) return out.append(text.bytes);
    out.put('"');
    for (auto rest = text.bytes; !rest.empty();) {
        const auto* const found = static_cast<const std::uint8_t*>(std::memchr(rest.data(), '"', rest.size()));
        const auto size = found ? static_cast<std::size_t>(found - rest.data()) + 1 : rest.size();
        out.append(rest.first(size));
        if (found) out.put('"');
        rest = rest.subspan(size);
    }
    out.put('"');
}

// Turns the text that was written from `before` on into a cell of CSV, in place.
inline void quote_from(Sink& out, std::size_t before) {
    const auto text = out.bytes().subspan(before);
    if (!detail::needs_quotes({text, text.data() + text.size()})) return;
    const auto size = text.size(), more = static_cast<std::size_t>(std::ranges::count(text, '"')) + 2;
    auto* to = out.extend(more);
    const auto* from = to;  // both move to the left, and never pass each other
    const auto* const begin = to - size;
    to += more;
    *--to = '"';
    while (from > begin) {
        *--to = *--from;
        if (*to == '"') *--to = '"';
    }
    *--to = '"';
}

}  // namespace amudai::exports
