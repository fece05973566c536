// Bitmaps, least significant bit first, as in Arrow's validity and the format's bit buffers.
#pragma once
#include <bit>

#include "bits/byte_chunk.hpp"

namespace amudai::bits {

inline bool get(const std::uint8_t* bitmap, std::size_t at) { return bitmap[at / 8] >> (at % 8) & 1; }

inline void set(std::uint8_t* bitmap, std::size_t at, bool value) {
    const auto mask = static_cast<std::uint8_t>(1u << (at % 8));
    bitmap[at / 8] = static_cast<std::uint8_t>(value ? bitmap[at / 8] | mask : bitmap[at / 8] & ~mask);
}

inline void fill(std::uint8_t* bitmap, std::size_t at, std::size_t count, bool value) {
    for (; count && at % 8; ++at, --count) set(bitmap, at, value);
    std::memset(bitmap + at / 8, value ? 0xff : 0, count / 8);
    at += count & ~std::size_t{7};
    for (count %= 8; count; ++at, --count) set(bitmap, at, value);
}

// Bits [at, at + count) as a word. `count` is at most 64. Reads no byte outside of these bits.
inline std::uint64_t word(const std::uint8_t* bitmap, std::size_t at, std::size_t count) {
    const std::uint8_t* const in = bitmap + at / 8;
    const auto shift = at % 8;
    const auto bytes = (shift + count + 7) / 8;
    std::uint64_t low = 0;
    if (bytes >= 8) {
        low = load<std::uint64_t>(in) >> shift;
        if (bytes > 8) low |= std::uint64_t{in[8]} << (64 - shift);
    } else {
        std::memcpy(&low, in, bytes);
        low >>= shift;
    }
    return count == 64 ? low : low & ((std::uint64_t{1} << count) - 1);
}

// Overwrites bits [at, at + count), which lie in one byte, with the lowest bits of `bits`. Its other bits are zero.
inline void put(std::uint8_t* bitmap, std::size_t at, std::size_t count, std::uint64_t bits) {
    const auto mask = ((1u << count) - 1) << at % 8;
    bitmap[at / 8] = static_cast<std::uint8_t>((bitmap[at / 8] & ~mask) | static_cast<unsigned>(bits << at % 8));
}

// Copies bits [from, from + count) of `source` to bits [at, at + count) of `bitmap`.
inline void copy(const std::uint8_t* source, std::size_t from, std::uint8_t* bitmap, std::size_t at, std::size_t count) {
    if (at % 8) {
        const auto odd = std::min(count, 8 - at % 8);
        put(bitmap, at, odd, word(source, from, odd));
        at += odd, from += odd, count -= odd;
    }
    const auto shift = from % 8;
    const std::uint8_t* in = source + from / 8;
    std::uint8_t* out = bitmap + at / 8;
    const auto whole = count / 8;
    if (shift == 0) {
        std::memcpy(out, in, whole);
    } else {
        std::size_t i = 0;
        for (; i + 8 <= whole; i += 8) {
            store<std::uint64_t>(out + i, load<std::uint64_t>(in + i) >> shift | std::uint64_t{in[i + 8]} << (64 - shift));
        }
        for (; i < whole; ++i) out[i] = static_cast<std::uint8_t>(in[i] >> shift | in[i + 1] << (8 - shift));
    }
    at += 8 * whole, from += 8 * whole, count %= 8;
    if (count) put(bitmap, at, count, word(source, from, count));
}

inline std::size_t count_set(const std::uint8_t* bitmap, std::size_t at, std::size_t count) {
    std::size_t found = 0;
    for (; count >= 64; count -= 64, at += 64) found += static_cast<std::size_t>(std::popcount(word(bitmap, at, 64)));
    return count ? found + static_cast<std::size_t>(std::popcount(word(bitmap, at, count))) : found;
}

// Spreads the bits of a byte over a word: byte i of the result is bit i, 0 or 1.
inline std::uint64_t spread(std::uint8_t byte) {
    const auto bits = byte * 0x0101010101010101u & 0x8040201008040201u;
    return (bits + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

// Sets bit `at + i` of `bitmap` if values[i] is not zero, and clears it otherwise.
template <class T>
inline void from_values(const T* values, std::size_t count, std::uint8_t* bitmap, std::size_t at) {
    for (; count && at % 8; ++at, ++values, --count) set(bitmap, at, *values != 0);
    for (; count >= ByteChunk::size; at += ByteChunk::size, values += ByteChunk::size, count -= ByteChunk::size) {
        std::uint8_t bytes[ByteChunk::size];
        for (std::size_t i = 0; i < ByteChunk::size; ++i) bytes[i] = values[i] != 0;
        store(bitmap + at / 8, ByteChunk(bytes).ones());
    }
    for (; count; ++at, ++values, --count) set(bitmap, at, *values != 0);
}

}  // namespace amudai::bits
