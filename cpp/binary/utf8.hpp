// Validation of UTF-8: fast for ASCII, exact for the rest.
#pragma once
#include "base/bytes.hpp"

namespace amudai::utf8 {

inline bool is_ascii(Bytes bytes) {
    std::uint8_t seen = 0;
    for (const auto byte : bytes) seen |= byte;
    return seen < 0x80;
}

// Well-formed UTF-8 as Unicode defines it: no surrogates, no overlong forms, nothing past U+10FFFF.
inline bool is_valid(Bytes bytes) {
    const std::uint8_t* at = bytes.data();
    const std::uint8_t* const end = at + bytes.size();
    const auto tail = [&](std::ptrdiff_t i) { return (at[i] & 0xc0) == 0x80; };
    while (at < end) {
        if (end - at >= 8 && (load<std::uint64_t>(at) & 0x8080808080808080) == 0) {
            at += 8;
            continue;
        }
        const unsigned lead = *at;
        const auto left = end - at;
        if (lead < 0x80) {
            at += 1;
        } else if (lead >= 0xc2 && lead <= 0xdf && left >= 2 && tail(1)) {
            at += 2;
        } else if ((lead & 0xf0) == 0xe0 && left >= 3 && tail(1) && tail(2) && (lead != 0xe0 || at[1] >= 0xa0) &&
                   (lead != 0xed || at[1] < 0xa0)) {
            at += 3;
        } else if (lead >= 0xf0 && lead <= 0xf4 && left >= 4 && tail(1) && tail(2) && tail(3) &&
                   (lead != 0xf0 || at[1] >= 0x90) && (lead != 0xf4 || at[1] < 0x90)) {
            at += 4;
        } else {
            return false;
        }
    }
    return true;
}

// Whether all values [offsets[i], offsets[i + 1]) of valid `bytes` begin and end between characters.
template <class Offset>
bool cuts_between_characters(Bytes bytes, std::span<const Offset> offsets) {
    const auto base = static_cast<std::size_t>(offsets.front());
    return std::ranges::none_of(offsets, [&](Offset offset) {
        const auto at = static_cast<std::size_t>(offset) - base;
        return at < bytes.size() && (bytes[at] & 0xc0) == 0x80;
    });
}

// Whether all values [offsets[i], offsets[i + 1]) of `bytes` are text: all of `bytes` is valid UTF-8, and no value
// begins inside a character.
template <class Offset>
bool is_text(Bytes bytes, std::span<const Offset> offsets) {
    return is_ascii(bytes) || (is_valid(bytes) && cuts_between_characters(bytes, offsets));
}
template <class Offset>
void require_text(Bytes bytes, std::span<const Offset> offsets) {
    if (is_ascii(bytes)) [[likely]] return;
    if (!is_valid(bytes)) throw Corrupted("string values: expected UTF-8, found other bytes");
    if (!cuts_between_characters(bytes, offsets)) {
        throw Corrupted("string values: expected UTF-8, found a value that begins inside a character");
    }
}

}  // namespace amudai::utf8
