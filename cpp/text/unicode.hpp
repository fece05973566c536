// Code points: reading and writing them as UTF-8, whether they belong to words, and how their case folds.
#pragma once
#include "base/bytes.hpp"
#include "text/unicode_tables.hpp"

namespace amudai::text {

// Code points from this one on fold to themselves.
inline constexpr std::uint32_t fold_limit = folds.back().code + 1;

namespace detail {

inline constexpr std::uint32_t fold_page = 64;

// What to add to each code point to fold it, by page. Folding a code point takes two loads.
struct FoldTable {
    std::array<std::uint16_t, fold_limit / fold_page + 1> page{};
    std::array<std::array<std::int32_t, fold_page>, 256> delta{};

    constexpr FoldTable() {
        std::uint16_t used = 1;  // page 0 folds nothing
        for (const auto& fold : folds) {
            auto& mine = page[fold.code / fold_page];
            if (mine == 0) mine = used++;
            delta[mine][fold.code % fold_page] =
                static_cast<std::int32_t>(fold.upper) - static_cast<std::int32_t>(fold.code);
        }
    }
};

inline constexpr FoldTable fold_table;

}  // namespace detail

constexpr bool is_word(std::uint32_t code) {
    return word_bits[word_pages[code >> 8] * 32u + ((code & 0xff) >> 3)] >> (code & 7) & 1;
}

constexpr std::uint32_t fold(std::uint32_t code) {
    if (code >= fold_limit) return code;
    const auto page = detail::fold_table.page[code / detail::fold_page];
    return code + static_cast<std::uint32_t>(detail::fold_table.delta[page][code % detail::fold_page]);
}

// Reads the code point at `at` and moves `at` past it. The text must be valid UTF-8.
inline std::uint32_t next(const std::uint8_t*& at) {
    const std::uint32_t lead = *at;
    if (lead < 0x80) {
        at += 1;
        return lead;
    }
    if (lead < 0xe0) {
        at += 2;
        return (lead & 0x1f) << 6 | (at[-1] & 0x3fu);
    }
    if (lead < 0xf0) {
        at += 3;
        return (lead & 0xf) << 12 | (at[-2] & 0x3fu) << 6 | (at[-1] & 0x3fu);
    }
    at += 4;
    return (lead & 7) << 18 | (at[-3] & 0x3fu) << 12 | (at[-2] & 0x3fu) << 6 | (at[-1] & 0x3fu);
}

// Reads the code point before `at` and moves `at` to its first byte.
inline std::uint32_t previous(const std::uint8_t*& at) {
    do --at;
    while ((*at & 0xc0) == 0x80);
    const std::uint8_t* begin = at;
    return next(begin);
}

// Writes a code point as UTF-8, in at most four bytes. Returns the place after the last byte.
inline std::uint8_t* put(std::uint8_t* to, std::uint32_t code) {
    if (code < 0x80) {
        *to++ = static_cast<std::uint8_t>(code);
    } else if (code < 0x800) {
        *to++ = static_cast<std::uint8_t>(0xc0 | code >> 6);
        *to++ = static_cast<std::uint8_t>(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = static_cast<std::uint8_t>(0xe0 | code >> 12);
        *to++ = static_cast<std::uint8_t>(0x80 | (code >> 6 & 0x3f));
        *to++ = static_cast<std::uint8_t>(0x80 | (code & 0x3f));
    } else {
        *to++ = static_cast<std::uint8_t>(0xf0 | code >> 18);
        *to++ = static_cast<std::uint8_t>(0x80 | (code >> 12 & 0x3f));
        *to++ = static_cast<std::uint8_t>(0x80 | (code >> 6 & 0x3f));
        *to++ = static_cast<std::uint8_t>(0x80 | (code & 0x3f));
    }
    return to;
}

}  // namespace amudai::text
