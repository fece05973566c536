// The order of terms: by their folded code points, then by their bytes.
#pragma once
#include <array>
#include <compare>

#include "text/unicode.hpp"

namespace amudai::text {

namespace detail {

inline constexpr std::array<std::uint8_t, 128> ascii_folds = [] {
    std::array<std::uint8_t, 128> table{};
    for (unsigned code = 0; code < 128; ++code) table[code] = static_cast<std::uint8_t>(fold(code));
    return table;
}();

// Reads the code point at `at`, folds it, and moves `at` past it. Terms come from files and may be damaged. A byte that
// cannot begin a code point, or begins one that is cut off, counts as a code point that sorts after all others.
inline std::uint32_t next_folded(const std::uint8_t*& at, const std::uint8_t* end) {
    const auto lead = *at;
    if (lead < 0x80) return ++at, ascii_folds[lead];
    const auto size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead < 0xc0 || end - at < size) return ++at, 0x200000u + lead;
    return fold(next(at));
}

}  // namespace detail

// The first bytes of a term, up to eight, the first of them lowest. Nothing outside the term is read.
inline std::uint64_t first_bytes(Bytes term) {
    const auto* const at = term.data();
    const auto size = term.size();
    if (size >= 8) return load<std::uint64_t>(at);
    if (size >= 4) return load<std::uint32_t>(at) | std::uint64_t{load<std::uint32_t>(at + size - 4)} << 8 * (size - 4);
    if (size == 0) return 0;
    return at[0] | std::uint64_t{at[size / 2]} << 8 * (size / 2) | std::uint64_t{at[size - 1]} << 8 * (size - 1);
}

// The first eight folded bytes of a term as a number that sorts as these bytes do. Shorter terms are padded with zeros.
inline std::uint64_t fold_key(Bytes term) {
    constexpr std::uint64_t each = 0x0101010101010101;
    if (const auto word = first_bytes(term); (word & 0x80 * each) == 0) {
        // ASCII: the high bit of a byte says that it is not below `a`, or that it is above `z`.
        const auto from_a = word + (0x80 - 'a') * each, above_z = word + (0x7f - 'z') * each;
        return __builtin_bswap64(word - ((from_a & ~above_z & 0x80 * each) >> 2));
    }
    std::uint64_t key = 0;
    unsigned used = 0;
    std::uint8_t folded[8];
    for (const auto *at = term.data(), *const end = at + term.size(); at < end && used < 8;) {
        if (*at < 0x80) {
            key = key << 8 | detail::ascii_folds[*at++];
            ++used;
            continue;
        }
        const auto size = static_cast<unsigned>(put(folded, detail::next_folded(at, end)) - folded);
        for (unsigned i = 0; i < size && used < 8; ++i, ++used) key = key << 8 | folded[i];
    }
    return used == 0 ? 0 : key << 8 * (8 - used);
}

// Compares folded code points.
inline std::strong_ordering compare_folded(Bytes left, Bytes right) {
    const auto *a = left.data(), *b = right.data();
    const auto *const a_end = a + left.size(), *const b_end = b + right.size();
    while (a < a_end && b < b_end) {
        const auto x = detail::next_folded(a, a_end), y = detail::next_folded(b, b_end);
        if (x != y) return x <=> y;
    }
    return (a < a_end) <=> (b < b_end);
}

inline std::strong_ordering compare_bytes(Bytes left, Bytes right) {
    const auto common = std::min(left.size(), right.size());
    const auto order = common ? std::memcmp(left.data(), right.data(), common) : 0;
    return order ? order <=> 0 : left.size() <=> right.size();
}

// The order of terms in an index. It refines the order of folded code points, so one index serves both case-sensitive
// and case-insensitive searches.
inline std::strong_ordering compare_terms(Bytes left, Bytes right) {
    const auto order = compare_folded(left, right);
    return order != 0 ? order : compare_bytes(left, right);
}

// Whether `text` begins with `prefix`, both folded.
inline bool folded_prefix(Bytes text, Bytes prefix) {
    const auto *a = text.data(), *b = prefix.data();
    const auto *const a_end = a + text.size(), *const b_end = b + prefix.size();
    while (b < b_end) {
        if (a == a_end || detail::next_folded(a, a_end) != detail::next_folded(b, b_end)) return false;
    }
    return true;
}

// Appends the folded form of `text` to `out`, as UTF-8.
template <class Container>
void append_folded(Bytes text, Container& out) {
    std::uint8_t folded[8];
    for (const auto *at = text.data(), *const end = at + text.size(); at < end;) {
        if (*at < 0x80) {
            out.push_back(detail::ascii_folds[*at++]);
            continue;
        }
        out.insert(out.end(), folded, put(folded, detail::next_folded(at, end)));
    }
}

}  // namespace amudai::text
