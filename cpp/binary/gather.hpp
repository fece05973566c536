// Gathering of values of a stripe's dictionary by code. Bytes: docs/format/buffers.md.
#pragma once
#include <vector>

#include "binary/copy.hpp"
#include "binary/run.hpp"
#include "bits/answers.hpp"

namespace amudai::binary::gather {

inline constexpr std::uint64_t no_null = std::numeric_limits<std::uint64_t>::max();

inline void require_codes(std::span<const std::uint32_t> codes, std::size_t entries) {
    std::uint32_t largest = 0;
    for (const auto code : codes) largest = std::max(largest, code);
    if (!codes.empty()) require_range("dictionary code", largest, 0, entries ? entries - 1 : 0);
    if (!codes.empty() && entries == 0) throw Corrupted("dictionary code: the dictionary is empty");
}

inline std::size_t validity(std::span<const std::uint32_t> codes, std::uint64_t null_code, std::uint8_t* bitmap) {
    if (null_code == no_null) {
        bits::fill(bitmap, 0, codes.size(), true);
        return 0;
    }
    const auto null = static_cast<std::uint32_t>(null_code);
    auto i = codes.size() / 64 * 64;  // answers come in whole words
    bits::test_each(i, bitmap, [&, at = codes.data()](std::size_t slot) { return at[slot] != null; });
    for (; i < codes.size(); ++i) bits::set(bitmap, i, codes[i] != null);
    return codes.size() - bits::count_set(bitmap, 0, codes.size());
}

// `out` has one more element than there are codes. The caller has checked that `entries` ascend.
template <class Offset>
std::size_t offsets(std::span<const std::uint32_t> codes, std::span<const std::uint64_t> entries, std::uint64_t null_code,
                    std::span<Offset> out, std::uint8_t* bitmap) {
    require_codes(codes, entries.size() - 1);
    auto total = static_cast<std::uint64_t>(out[0]);
    const auto* const begins = entries.data();
    const auto* const code = codes.data();
    auto* const ends = out.data() + 1;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        total += begins[code[i] + std::size_t{1}] - begins[code[i]];
        ends[i] = static_cast<Offset>(total);
    }
    // The totals never decrease, so checking the last one is enough.
    if (total > static_cast<std::uint64_t>(std::numeric_limits<Offset>::max())) {
        throw TooLong("more bytes than the offsets of this Arrow type can count");
    }
    return validity(codes, null_code, bitmap);
}

// Copies entries of at most `Most` bytes, each from a place of its own in a table: one copy of a constant size a code.
template <std::size_t Most>
void short_bytes(std::span<const std::uint32_t> codes, Bytes values, std::span<const std::uint64_t> entries, MutableBytes out) {
    const auto count = entries.size() - 1;
    std::vector<std::uint8_t> table(Most * count), sizes(count);
    for (std::size_t i = 0; i < count; ++i) {
        sizes[i] = static_cast<std::uint8_t>(entries[i + 1] - entries[i]);
        std::memcpy(table.data() + Most * i, values.data() + entries[i], sizes[i]);
    }
    // Local variables: compilers must assume that writes to `out` could change what a vector holds.
    const auto* const from = table.data();
    const auto* const size = sizes.data();
    auto* at = out.data();
    const auto* const limit = at + out.size();
    std::size_t i = 0;
    for (; i < codes.size() && static_cast<std::size_t>(limit - at) >= Most; ++i) {
        std::memcpy(at, from + Most * codes[i], Most);
        at += size[codes[i]];
    }
    for (; i < codes.size(); ++i) {
        if (size[codes[i]] > limit - at) throw std::invalid_argument("out: too short");
        std::memcpy(at, from + Most * codes[i], size[codes[i]]);
        at += size[codes[i]];
    }
}

// `out` may be larger than the values need. The extra space speeds up copying.
inline void bytes(std::span<const std::uint32_t> codes, Bytes values, std::span<const std::uint64_t> entries, MutableBytes out) {
    const auto count = entries.size() - 1;
    require_codes(codes, count);
    // The table of short entries must be small beside the L1 cache, and worth making.
    constexpr std::size_t small = 8192;
    if (8 * count <= small && count <= codes.size()) {
        std::uint64_t longest = 0;
        for (std::size_t i = 0; i < count; ++i) longest = std::max(longest, entries[i + 1] - entries[i]);
        if (longest <= 8) return short_bytes<8>(codes, values, entries, out);
        if (longest <= 16 && 16 * count <= small) return short_bytes<16>(codes, values, entries, out);
        if (longest <= 32 && 32 * count <= small) return short_bytes<32>(codes, values, entries, out);
    }
    const Padded padded(values);
    const Entries source{padded.begin(), padded.end()};
    auto* at = out.data();
    const auto* const limit = out.data() + out.size();
    for (const auto code : codes) at = source.copy(entries[code], entries[code + 1] - entries[code], at, limit);
}

// Arrow's views of strings: 16 bytes each, with the size, and the value itself if it is short. Otherwise the first four
// bytes, and where the value is in the only data buffer, which holds the values of all entries.
struct View {
    static constexpr std::size_t size = 16, inlined = 12;
};

// Writes the view of each code to `out`. The view of a null is empty. `values` has less than 2 GiB.
inline std::size_t views(std::span<const std::uint32_t> codes, Bytes values, std::span<const std::uint64_t> entries,
                         std::uint64_t null_code, MutableBytes out, std::uint8_t* bitmap) {
    const auto count = entries.size() - 1;
    require_codes(codes, count);
    std::vector<std::uint8_t> table(View::size * count, 0);
    for (std::size_t i = 0; i < count; ++i) {
        if (i == null_code) continue;
        auto* const view = table.data() + View::size * i;
        const auto* const value = values.data() + entries[i];
        const auto size = static_cast<std::size_t>(entries[i + 1] - entries[i]);
        store(view, static_cast<std::uint32_t>(size));
        std::memcpy(view + 4, value, size <= View::inlined ? size : 4);
        if (size > View::inlined) store(view + 12, static_cast<std::uint32_t>(entries[i]));
    }
    const auto* const from = table.data();
    auto* const to = out.data();
    for (std::size_t i = 0; i < codes.size(); ++i) std::memcpy(to + View::size * i, from + View::size * codes[i], View::size);
    return validity(codes, null_code, bitmap);
}

inline std::size_t fixed(std::span<const std::uint32_t> codes, Bytes values, std::size_t size, std::uint64_t null_code,
                         MutableBytes out, std::uint8_t* bitmap) {
    require_codes(codes, size ? values.size() / size : codes.size());
    const auto copy_all = [&]<std::size_t Known>(std::integral_constant<std::size_t, Known>) {
        const auto width = Known ? Known : size;
        for (std::size_t i = 0; i < codes.size(); ++i) std::memcpy(out.data() + i * width, values.data() + codes[i] * width, width);
    };
    if (size == 16) copy_all(std::integral_constant<std::size_t, 16>{});
    else copy_all(std::integral_constant<std::size_t, 0>{});
    return validity(codes, null_code, bitmap);
}

}  // namespace amudai::binary::gather
