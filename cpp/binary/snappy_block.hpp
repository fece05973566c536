// Decoder of one Snappy block without a frame. It checks all bounds, writes straight to the output, and can stop early.
#pragma once
#include "binary/lz4_block.hpp"

namespace amudai::snappy_block {

// The most bytes that `encoded` bytes can decode to: three bytes copy at most 64.
constexpr std::uint64_t decoded_most(std::size_t encoded) { return std::uint64_t{encoded} * 22 + 64; }

// The decoded size that the block states. Moves `block` past it.
inline std::uint64_t stated_size(Bytes& block) {
    std::uint64_t size = 0;
    for (unsigned i = 0; i < 5; ++i) {
        if (i >= block.size()) throw Corrupted("snappy block: ends inside its size");
        size |= std::uint64_t{block[i] & 0x7fu} << 7 * i;
        if (block[i] < 0x80) {
            block = block.subspan(i + 1);
            return size;
        }
    }
    throw Corrupted("snappy block: expected a size below 2^35");
}

// Decodes the elements behind the stated size until `out` is full. `whole` and `writable` mean the same as for LZ4.
inline void decode(Bytes elements, MutableBytes out, std::size_t writable, bool whole) {
    const auto* in = elements.data();
    const auto* const in_end = in + elements.size();
    auto* at = out.data();
    auto* const end = at + out.size();
    const auto* const limit = out.data() + writable;
    while (at < end) {
        if (in == in_end) throw Corrupted("snappy block: ends before its values do");
        const unsigned tag = *in++;
        std::size_t length = tag >> 2, distance = 0;
        const auto number = [&](std::size_t bytes) {
            if (static_cast<std::size_t>(in_end - in) < bytes) throw Corrupted("snappy block: ends inside an element");
            std::size_t found = 0;
            for (std::size_t i = 0; i < bytes; ++i) found |= std::size_t{*in++} << 8 * i;
            return found;
        };
        switch (tag & 3) {
            case 0: {
                length = (length < 60 ? length : number(length - 59)) + 1;
                if (length > static_cast<std::size_t>(in_end - in)) throw Corrupted("snappy block: ends inside literals");
                if (length > static_cast<std::size_t>(end - at)) {
                    if (whole) throw Corrupted("snappy block: more literals than its values need");
                    length = static_cast<std::size_t>(end - at);
                }
                std::memcpy(at, in, length);
                at += length, in += length;
                continue;
            }
            case 1: distance = (tag >> 5) << 8 | number(1), length = (length & 7) + 4; break;
            case 2: distance = number(2), ++length; break;
            default: distance = number(4), ++length;
        }
        if (distance == 0 || distance > static_cast<std::size_t>(at - out.data())) {
            refuse("snappy copy distance", "1.." + std::to_string(at - out.data()), distance);
        }
        if (length > static_cast<std::size_t>(end - at)) {
            if (whole) throw Corrupted("snappy block: longer copy than its values need");
            length = static_cast<std::size_t>(end - at);
        }
        lz4_block::detail::copy_overlapping(at, distance, length, limit);
        at += length;
    }
    if (whole && in != in_end) throw Corrupted("snappy block: goes on behind its values");
}

}  // namespace amudai::snappy_block
