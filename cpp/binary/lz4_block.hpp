// Decoder of one LZ4 block without a frame. It checks all bounds, writes straight to the output, and can stop early.
#pragma once
#include "base/bytes.hpp"

namespace amudai::lz4_block {

// The most bytes that `encoded` bytes can decode to. Each extra byte of a length adds at most 255 decoded bytes.
constexpr std::uint64_t decoded_most(std::size_t encoded) { return std::uint64_t{encoded} * 255 + 64; }

namespace detail {

inline std::size_t extended(const std::uint8_t*& in, const std::uint8_t* end, std::size_t length) {
    for (std::uint8_t byte = 255; byte == 255; length += byte) {
        if (in == end) throw Corrupted("lz4 block: ends inside a length");
        byte = *in++;
    }
    return length;
}

// Copies in steps of 16 bytes. The caller has checked that both sides have that much room past the end.
inline void copy16(const std::uint8_t* from, std::uint8_t* to, std::size_t length) {
    std::uint8_t* const end = to + length;
    do {
        std::memcpy(to, from, 16);
        to += 16, from += 16;
    } while (to < end);
}

// Copies a match that may overlap itself. If it does, its first bytes repeat with period `distance`.
inline void copy_overlapping(std::uint8_t* to, std::size_t distance, std::size_t length, const std::uint8_t* limit) {
    const std::uint8_t* from = to - distance;
    if (distance >= 16 && to + length + 16 <= limit) return copy16(from, to, length);
    if (distance >= 8 && to + length + 8 <= limit) {
        for (std::uint8_t* const end = to + length; to < end; to += 8, from += 8) std::memcpy(to, from, 8);
        return;
    }
    if (distance == 1) return void(std::memset(to, *from, length));
    for (std::size_t i = 0; i < length; ++i) to[i] = from[i];
}

// Copies a match in steps of 8 bytes or more, and at least 64 bytes if it is far enough from what it repeats. The caller
// has checked that there is room for 32 bytes past its end, and for 64 in all.
inline void copy_match(std::uint8_t* to, std::size_t distance, std::size_t length) {
    std::uint8_t* const end = to + length;
    const std::uint8_t* from = to - distance;
    if (distance >= 32) [[likely]] {
        std::memcpy(to, from, 32);
        std::memcpy(to + 32, from + 32, 32);
        for (to += 64, from += 64; to < end; to += 32, from += 32) std::memcpy(to, from, 32);
        return;
    }
    if (distance >= 16) return copy16(from, to, length);
    if (distance < 8) {
        // After the first eight bytes, the same bytes are also found a multiple of the distance before.
        for (int i = 0; i < 8; ++i) to[i] = from[i];
        to += 8;
        from = to - (8 + distance - 1) / distance * distance;
    }
    for (; to < end; to += 8, from += 8) std::memcpy(to, from, 8);
}

// Decodes sequences that end far from the end of the block and far from the end of the output, and whose lengths take
// at most one extra byte. Few checks are needed there. Stops before the first other sequence, and before damage.
inline void decode_inner(const std::uint8_t*& in, const std::uint8_t* in_end, const std::uint8_t* begin, std::uint8_t*& at,
                         const std::uint8_t* end) {
    constexpr std::ptrdiff_t block_room = 96, room = 192;
    constexpr std::size_t most_literals = 64, most_match = 96;
    static_assert(block_room >= 2 + most_literals + 2 + 1 && room >= most_literals + most_match + 32);
    const auto* from = in;
    auto* to = at;
    while (in_end - from >= block_room && end - to >= room) {
        const unsigned token = *from;
        std::size_t literals = token >> 4;
        const auto* behind = from + 1;
        // A match length of 15 is followed by another byte of the length. The addition carries it over into the number
        // of literals. Every step waits for `following`, and a branch on the length would be unpredictable.
        const auto* following = from + 3 + ((token + 1) >> 4);
        std::memcpy(to, behind, 16);
        if (literals == 15) [[unlikely]] {
            const std::size_t more = *behind++;
            literals += more, following += 1 + more;
            if (literals > most_literals) break;
            for (std::size_t i = 0; i < most_literals; i += 16) std::memcpy(to + i, behind + i, 16);
        }
        behind += literals;
        auto* const match = to + literals;
        const std::size_t distance = load<std::uint16_t>(behind);
        const unsigned more = behind[2] & (0 - (((token & 15) + 1) >> 4));
        const std::size_t length = (token & 15) + 4 + more;
        if (distance - 1 >= static_cast<std::size_t>(match - begin)) break;
        if (length > most_match && (more == 255 || static_cast<std::size_t>(end - match) < length + 32)) break;
        copy_match(match, distance, length);
        from = following, to = match + length;
    }
    in = from, at = to;
}

}  // namespace detail

// Decodes until `out` is full. If `whole` is set, the block must end there; otherwise only a prefix of it is decoded.
// Up to `writable` bytes from out.data() on may be overwritten: `out` and the memory after it that is still free.
// Matches may begin in `dictionary`, which they see right before the first decoded byte.
inline void decode(Bytes block, MutableBytes out, std::size_t writable, bool whole, Bytes dictionary = {}) {
    const std::uint8_t* in = block.data();
    const std::uint8_t* const in_end = in + block.size();
    std::uint8_t* at = out.data();
    std::uint8_t* const end = at + out.size();
    const std::uint8_t* const limit = out.data() + writable;
    for (;;) {
        detail::decode_inner(in, in_end, out.data(), at, std::min<const std::uint8_t*>(end, limit));
        if (in == in_end) throw Corrupted("lz4 block: ends before its values do");
        const unsigned token = *in++;
        std::size_t literals = token >> 4;
        // The common case: few literals and room on both sides for one unconditional copy.
        if (literals != 15 && in_end - in >= 16 && limit - at >= 16 && static_cast<std::size_t>(end - at) >= literals) [[likely]] {
            std::memcpy(at, in, 16);
        } else {
            if (literals == 15) literals = detail::extended(in, in_end, literals);
            if (literals > static_cast<std::size_t>(in_end - in)) throw Corrupted("lz4 block: ends inside literals");
            if (literals > static_cast<std::size_t>(end - at)) {
                if (whole) throw Corrupted("lz4 block: more literals than its values need");
                std::memcpy(at, in, static_cast<std::size_t>(end - at));
                return;
            }
            if (static_cast<std::size_t>(in_end - in) >= literals + 16 && static_cast<std::size_t>(limit - at) >= literals + 16) {
                detail::copy16(in, at, literals);
            } else {
                std::memcpy(at, in, literals);
            }
        }
        in += literals, at += literals;
        if (at == end) {
            if (whole && in != in_end) throw Corrupted("lz4 block: goes on behind its values");
            return;
        }
        if (in_end - in < 2) throw Corrupted("lz4 block: ends before its values do");
        const std::size_t distance = load<std::uint16_t>(in);
        in += 2;
        const auto decoded = static_cast<std::size_t>(at - out.data());
        const auto outside = distance > decoded ? distance - decoded : 0;
        if (distance == 0 || outside > dictionary.size()) {
            refuse("lz4 match distance", "1.." + std::to_string(decoded + dictionary.size()), distance);
        }
        std::size_t length = (token & 15) + 4;
        if (length == 19) length = detail::extended(in, in_end, length);
        if (length > static_cast<std::size_t>(end - at)) {
            if (whole) throw Corrupted("lz4 block: longer match than its values need");
            length = static_cast<std::size_t>(end - at);
        }
        if (outside) {
            const auto shared = std::min(outside, length);
            std::memcpy(at, dictionary.data() + (dictionary.size() - outside), shared);
            at += shared, length -= shared;
        }
        if (length == 0) {
            // The dictionary had all of the match.
        } else if (length <= 16 && distance >= 16 && limit - at >= 16) [[likely]] {
            std::memcpy(at, at - distance, 16);
        } else {
            detail::copy_overlapping(at, distance, length, limit);
        }
        at += length;
        if (at == end && !whole) return;
    }
}

}  // namespace amudai::lz4_block
