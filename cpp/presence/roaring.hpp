// 32-bit Roaring bitmaps in the portable form, with array, bitmap and run containers. Read as ranges, written from a
// bitmap.
#pragma once
#include <bit>
#include <vector>

#include "base/sink.hpp"

namespace amudai::roaring {

inline constexpr std::uint32_t cookie_plain = 12346;
inline constexpr std::uint32_t cookie_runs = 12347;
inline constexpr std::size_t container_values = 65536;
inline constexpr std::size_t bitmap_bytes = 8192;
inline constexpr std::size_t array_most = 4096;
inline constexpr std::size_t offsets_from = 4;  // with run containers, bitmaps of fewer containers have no offsets

// Calls `range(first, length)` for the positions in ascending order. All of them must be below `limit`.
template <class Range>
void decode(Bytes bytes, std::size_t limit, Range&& range) {
    require_at_least("roaring bitmap bytes", bytes.size(), 4);
    const auto cookie = load<std::uint32_t>(bytes, 0);
    std::size_t at = 4;
    std::size_t containers = 0;
    Bytes run_flags;
    if ((cookie & 0xffff) == cookie_runs) {
        containers = (cookie >> 16) + 1;
        run_flags = part("roaring run flags", bytes, at, (containers + 7) / 8);
        at += run_flags.size();
    } else {
        require_equal("roaring cookie", cookie, cookie_plain);
        require_at_least("roaring bitmap bytes", bytes.size(), 8);
        containers = load<std::uint32_t>(bytes, 4);
        require_range("roaring containers", containers, 0, 65536);
        at = 8;
    }
    const auto headers = part("roaring container headers", bytes, at, 4 * containers);
    at += headers.size();
    if (run_flags.empty() || containers >= offsets_from) {
        part("roaring container offsets", bytes, at, 4 * containers);
        at += 4 * containers;
    }
    std::size_t next = 0;  // ascending order makes the ranges disjoint
    const auto emit = [&](std::size_t first, std::size_t length) {
        require_at_least("roaring position", first, next);
        require_range("roaring position", first + length - 1, 0, limit ? limit - 1 : 0);
        range(first, length);
        next = first + length;
    };
    for (std::size_t i = 0; i < containers; ++i) {
        const auto base = std::size_t{load<std::uint16_t>(headers, 4 * i)} * container_values;
        const auto cardinality = std::size_t{load<std::uint16_t>(headers, 4 * i + 2)} + 1;
        if (!run_flags.empty() && (run_flags[i / 8] >> (i % 8) & 1)) {
            const auto count = std::size_t{load<std::uint16_t>(part("roaring run count", bytes, at, 2), 0)};
            const auto runs = part("roaring runs", bytes, at + 2, 4 * count);
            for (std::size_t run = 0; run < count; ++run) {
                emit(base + load<std::uint16_t>(runs, 4 * run), std::size_t{load<std::uint16_t>(runs, 4 * run + 2)} + 1);
            }
            at += 2 + runs.size();
        } else if (cardinality <= array_most) {
            const auto array = part("roaring array", bytes, at, 2 * cardinality);
            for (std::size_t k = 0; k < cardinality; ++k) emit(base + load<std::uint16_t>(array, 2 * k), 1);
            at += array.size();
        } else {
            const auto bitmap = part("roaring bitmap", bytes, at, bitmap_bytes);
            std::size_t found = 0;
            for (std::size_t word = 0; word < bitmap_bytes / 8; ++word) {
                auto bits = load<std::uint64_t>(bitmap, 8 * word);
                found += static_cast<std::size_t>(std::popcount(bits));
                for (; bits; bits &= bits - 1) emit(base + 64 * word + static_cast<std::size_t>(std::countr_zero(bits)), 1);
            }
            require_equal("roaring bitmap cardinality", found, cardinality);
            at += bitmap_bytes;
        }
    }
}

inline constexpr std::size_t container_words = container_values / 64;

// A group of 65,536 neighbouring positions, some of which are set.
struct Container {
    std::uint16_t key;
    std::size_t cardinality, runs;
    std::span<const std::uint64_t> words;

    bool bitmap() const { return cardinality > array_most; }
    std::size_t plain_bytes() const { return bitmap() ? bitmap_bytes : 2 * cardinality; }
    std::size_t run_bytes() const { return 2 + 4 * runs; }
    bool better_as_runs() const { return run_bytes() < plain_bytes(); }
};

// The containers of a bitmap. Unused bits of the last word must be 0.
inline std::vector<Container> containers(std::span<const std::uint64_t> words) {
    std::vector<Container> found;
    for (std::size_t at = 0; at < words.size(); at += container_words) {
        Container container{static_cast<std::uint16_t>(at / container_words), 0, 0,
                            words.subspan(at, std::min(container_words, words.size() - at))};
        std::uint64_t carry = 0;
        for (const auto word : container.words) {
            container.cardinality += static_cast<std::size_t>(std::popcount(word));
            container.runs += static_cast<std::size_t>(std::popcount(word & ~(word << 1 | carry)));
            carry = word >> 63;
        }
        if (container.cardinality) found.push_back(container);
    }
    return found;
}

// The encoded size of the bitmap in bytes. With `runs`, run containers are used where they are smaller; otherwise
// never.
inline std::size_t encoded_size(std::span<const Container> containers, bool runs) {
    const auto count = containers.size();
    auto size = runs ? 4 + (count + 7) / 8 + 4 * count + (count >= offsets_from ? 4 * count : 0) : 8 + 8 * count;
    for (const auto& each : containers) size += runs && each.better_as_runs() ? each.run_bytes() : each.plain_bytes();
    return size;
}

// Calls `range(first, length)` for the runs of set bits.
template <class Range>
void for_each_run(std::span<const std::uint64_t> words, Range&& range) {
    const auto end = 64 * words.size();
    // The next position from `at` on whose bit is `value`.
    const auto find = [&](std::size_t at, bool value) {
        for (; at < end; at = (at / 64 + 1) * 64) {
            const auto word = (value ? words[at / 64] : ~words[at / 64]) >> at % 64;
            if (word) return at + static_cast<std::size_t>(std::countr_zero(word));
        }
        return end;
    };
    for (auto first = find(0, true); first < end;) {
        const auto behind = find(first, false);
        range(first, behind - first);
        first = find(behind, true);
    }
}

inline void encode(std::span<const Container> containers, bool runs, Sink& out) {
    const auto start = out.size();
    const auto count = containers.size();
    if (runs) {
        out.put<std::uint32_t>(cookie_runs | static_cast<std::uint32_t>(count - 1) << 16);
        const auto flags = out.size();
        out.zeros((count + 7) / 8);
        for (std::size_t i = 0; i < count; ++i) {
            const auto flag = static_cast<std::uint8_t>(containers[i].better_as_runs() << i % 8);
            out.set<std::uint8_t>(flags + i / 8, static_cast<std::uint8_t>(out.bytes()[flags + i / 8] | flag));
        }
    } else {
        out.put<std::uint32_t>(cookie_plain);
        out.put<std::uint32_t>(static_cast<std::uint32_t>(count));
    }
    for (const auto& each : containers) {
        out.put<std::uint16_t>(each.key);
        out.put<std::uint16_t>(static_cast<std::uint16_t>(each.cardinality - 1));
    }
    const auto offsets = out.size();
    const bool has_offsets = !runs || count >= offsets_from;
    if (has_offsets) out.zeros(4 * count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto& each = containers[i];
        if (has_offsets) out.set<std::uint32_t>(offsets + 4 * i, static_cast<std::uint32_t>(out.size() - start));
        if (runs && each.better_as_runs()) {
            out.put<std::uint16_t>(static_cast<std::uint16_t>(each.runs));
            for_each_run(each.words, [&](std::size_t first, std::size_t length) {
                out.put<std::uint16_t>(static_cast<std::uint16_t>(first));
                out.put<std::uint16_t>(static_cast<std::uint16_t>(length - 1));
            });
        } else if (each.bitmap()) {
            out.append(each.words);
            out.zeros(bitmap_bytes - each.words.size_bytes());
        } else {
            auto* at = out.extend(2 * each.cardinality);
            for (std::size_t word = 0; word < each.words.size(); ++word) {
                for (auto bits = each.words[word]; bits; bits &= bits - 1, at += 2) {
                    const auto position = 64 * word + static_cast<std::size_t>(std::countr_zero(bits));
                    store<std::uint16_t>(at, static_cast<std::uint16_t>(position));
                }
            }
        }
    }
}

}  // namespace amudai::roaring
