// FastLanes bit packing: chunks of 1024 values, each value W bits wide. Bytes: docs/format/numeric.md.
//
// A chunk is LANES * W words; lane l owns words l, l + LANES, ... and holds the rows idx(0, l), idx(1, l), ... back to
// back. Unpacking row by row therefore touches LANES neighbouring words and writes LANES neighbouring values: a plain
// loop over the lanes that every compiler vectorises.
#pragma once
#include <array>

#include "base/bytes.hpp"

namespace amudai::bits {

inline constexpr std::size_t chunk_values = 1024;
constexpr std::size_t chunk_bytes(unsigned width) { return 128 * std::size_t{width}; }
constexpr std::size_t packed_bytes(std::size_t count, unsigned width) {
    return (count + chunk_values - 1) / chunk_values * chunk_bytes(width);
}

inline constexpr std::array<unsigned, 8> row_order{0, 4, 2, 6, 1, 5, 3, 7};

template <class U>
inline constexpr std::size_t lanes = 1024 / (8 * sizeof(U));

template <class U>
inline U width_mask(unsigned width) {
    return static_cast<U>(static_cast<U>(~U{0}) >> (8 * sizeof(U) - width));
}

// Where the values of a row begin in a chunk. The lanes of a row are neighbours.
constexpr std::size_t row_begin(unsigned row) { return row_order[row / 8] * 16 + (row % 8) * 128; }

// The row that begins with a value. `row_order` is its own inverse.
constexpr unsigned row_of(std::size_t begin) {
    return row_order[begin % 128 / 16] * 8 + static_cast<unsigned>(begin / 128);
}

// Unpacks one row of a chunk to `values` and adds `reference` to each value.
template <class U>
inline void unpack_row(const std::uint8_t* __restrict packed, unsigned width, U reference, unsigned row, U* __restrict values) {
    constexpr unsigned bits = 8 * sizeof(U);
    const U mask = width_mask<U>(width);
    const unsigned shift = row * width % bits;
    const std::uint8_t* const low = packed + row * width / bits * 128;  // the words of all lanes fill 128 bytes
    if (shift + width <= bits) {
        for (std::size_t lane = 0; lane < lanes<U>; ++lane) {
            const U word = load<U>(low + lane * sizeof(U));
            values[lane] = static_cast<U>(static_cast<U>(static_cast<U>(word >> shift) & mask) + reference);
        }
    } else {
        const std::uint8_t* const high = low + 128;
        const unsigned back = bits - shift;
        for (std::size_t lane = 0; lane < lanes<U>; ++lane) {
            const U first = load<U>(low + lane * sizeof(U));
            const U second = load<U>(high + lane * sizeof(U));
            const U word = static_cast<U>(static_cast<U>(first >> shift) | static_cast<U>(second << back));
            values[lane] = static_cast<U>(static_cast<U>(word & mask) + reference);
        }
    }
}

// Unpacks a chunk and adds `reference` to each value. FFOR gets its addition for free this way; plain bit packing
// passes 0. Width and row are run-time numbers: the shifts of a row are the same for all lanes, and unrolling the loop
// for every width gave more code but no more speed.
template <class U>
void unpack_chunk(const std::uint8_t* __restrict packed, unsigned width, U reference, U* __restrict out) {
    constexpr unsigned bits = 8 * sizeof(U);
    constexpr std::size_t line = 64;
    // Rows are not written in the order of their addresses, so the processor does not prefetch the memory to be
    // written. Usually the next chunk follows this one in memory; if it does not, only a few prefetches are wasted.
    const auto ahead = reinterpret_cast<std::uintptr_t>(out) + chunk_values * sizeof(U);
    for (unsigned row = 0; row < bits; ++row) {
        for (std::size_t at = 0; at < 2 * line; at += line) {
            __builtin_prefetch(reinterpret_cast<const void*>(ahead + row * 2 * line + at), 1);
        }
        unpack_row<U>(packed, width, reference, row, out + row_begin(row));
    }
}

// Reads one value of a chunk without unpacking the chunk.
template <class U>
inline U pick(const std::uint8_t* packed, unsigned width, std::size_t index) {
    constexpr unsigned bits = 8 * sizeof(U);
    const auto lane = index % lanes<U>;
    const auto row = row_order[(index % 128 - lane) / 16] * 8 + index / 128;
    const auto word = row * width / bits;
    const auto shift = row * width % bits;
    const std::uint8_t* const at = packed + (word * lanes<U> + lane) * sizeof(U);
    U value = static_cast<U>(load<U>(at) >> shift);
    if (shift + width > bits) value = static_cast<U>(value | static_cast<U>(load<U>(at + lanes<U> * sizeof(U)) << (bits - shift)));
    return static_cast<U>(value & width_mask<U>(width));
}

// Unpacks values [first, first + out.size()) of a packed sequence. The caller has checked width and packed size.
template <class U>
void unpack(const std::uint8_t* packed, unsigned width, U reference, std::size_t first, std::span<U> out) {
    // Below this many values, picking them one by one beats unpacking 1024.
    constexpr std::size_t few = 24;
    while (!out.empty()) {
        const auto skip = first % chunk_values;
        const auto count = std::min(out.size(), chunk_values - skip);
        const std::uint8_t* const chunk = packed + first / chunk_values * chunk_bytes(width);
        if (count == chunk_values) {
            unpack_chunk<U>(chunk, width, reference, out.data());
        } else if (count <= few) {
            for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<U>(pick<U>(chunk, width, skip + i) + reference);
        } else {
            // Only rows that hold some of the values. The first and the last may hold others, too.
            const auto end = skip + count;
            for (auto begin = skip - skip % lanes<U>; begin < end; begin += lanes<U>) {
                if (begin >= skip && begin + lanes<U> <= end) {
                    unpack_row<U>(chunk, width, reference, row_of(begin), out.data() + (begin - skip));
                    continue;
                }
                U values[lanes<U>];
                unpack_row<U>(chunk, width, reference, row_of(begin), values);
                const auto from = std::max(begin, skip), to = std::min(begin + lanes<U>, end);
                std::memcpy(out.data() + (from - skip), values + (from - begin), (to - from) * sizeof(U));
            }
        }
        out = out.subspan(count), first += count;
    }
}

// One row of all lanes, 128 bytes, that can be shifted within its lanes. Processors cannot shift single bytes, so bytes
// are shifted in words of eight, and a mask clears the bits that crossed into a neighbour.
template <class U>
struct Row {
    U lane[lanes<U>];

    void or_left(const Row& row, unsigned shift) {
        if constexpr (sizeof(U) == 1) {
            const auto mask = 0x0101010101010101u * (0xffu << shift & 0xff);
            words([&](std::uint64_t mine, std::uint64_t other) { return mine | (other << shift & mask); }, row);
        } else {
            for (std::size_t i = 0; i < lanes<U>; ++i) lane[i] |= static_cast<U>(row.lane[i] << shift);
        }
    }
    void assign_right(const Row& row, unsigned shift) {
        if constexpr (sizeof(U) == 1) {
            const auto mask = 0x0101010101010101u * (0xffu >> shift);
            words([&](std::uint64_t, std::uint64_t other) { return other >> shift & mask; }, row);
        } else {
            for (std::size_t i = 0; i < lanes<U>; ++i) lane[i] = static_cast<U>(row.lane[i] >> shift);
        }
    }

private:
    template <class Combine>
    void words(Combine&& combine, const Row& row) {
        auto* const mine = reinterpret_cast<std::uint8_t*>(lane);
        const auto* const other = reinterpret_cast<const std::uint8_t*>(row.lane);
        for (std::size_t at = 0; at < sizeof lane; at += 8) {
            store<std::uint64_t>(mine + at, combine(load<std::uint64_t>(mine + at), load<std::uint64_t>(other + at)));
        }
    }
};

// The inverse of unpack_chunk: subtracts `reference` from each value. The difference must fit into `width` bits.
template <class U>
void pack_chunk(const U* values, unsigned width, U reference, std::uint8_t* packed) {
    constexpr unsigned bits = 8 * sizeof(U);
    Row<U> word{};
    Row<U> distances;
    for (unsigned row = 0; row < bits; ++row) {
        const unsigned shift = row * width % bits;
        const U* const in = values + row_order[row / 8] * 16 + (row % 8) * 128;
        for (std::size_t i = 0; i < lanes<U>; ++i) distances.lane[i] = static_cast<U>(in[i] - reference);
        word.or_left(distances, shift);
        if (shift + width < bits) continue;
        std::memcpy(packed, word.lane, sizeof word.lane);
        packed += sizeof word.lane;
        if (shift + width > bits) word.assign_right(distances, bits - shift);
        else word = {};
    }
}

// Packs all values into whole chunks of packed_bytes(count, width) bytes in total. The space after the last value is
// zero.
template <class U>
void pack(std::span<const U> values, unsigned width, U reference, std::uint8_t* packed) {
    for (; values.size() >= chunk_values; values = values.subspan(chunk_values), packed += chunk_bytes(width)) {
        pack_chunk<U>(values.data(), width, reference, packed);
    }
    if (values.empty()) return;
    U last[chunk_values];
    std::ranges::fill(std::ranges::copy(values, last).out, last + chunk_values, reference);
    pack_chunk<U>(last, width, reference, packed);
}

}  // namespace amudai::bits
