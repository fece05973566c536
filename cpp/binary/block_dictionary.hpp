// BlockDictionary (code 14): the block's distinct values and a code for each slot. Bytes: docs/format/binary.md.
#pragma once
#include <optional>

#include "binary/copy.hpp"
#include "binary/interner.hpp"
#include "binary/nested.hpp"
#include "binary/values.hpp"

namespace amudai::binary::block_dictionary {

inline constexpr std::uint16_t code = 14;
inline constexpr std::string_view name = "block_dictionary";
inline constexpr std::size_t header_size = 16;

struct Layout {
    Bytes codes, lengths, entries;
    std::size_t entry_count;
    bool lengths_nested;
};

inline Layout layout(Bytes region, const Slots& slots) {
    require_at_least("block_dictionary region bytes", region.size(), header_size);
    const std::size_t codes_size = load<std::uint32_t>(region, 2);
    const std::size_t lengths_size = load<std::uint32_t>(region, 6);
    const std::size_t entry_count = load<std::uint32_t>(region, 10);
    const bool nested = region[14] != 0;
    const auto codes = part("block_dictionary codes bytes", region, header_size, codes_size);
    const auto lengths_at = header_size + align8(codes_size);
    const auto lengths = part("block_dictionary lengths bytes", region, lengths_at, lengths_size);
    const auto entries = region.subspan(lengths_at + lengths_size);
    if (slots.is_fixed && slots.fixed_size) {
        require_range("block_dictionary entries", entry_count, 0, entries.size() / slots.fixed_size);
    } else if (slots.is_fixed || nested) {
        // Without this limit, a file could claim any number of entries. Few entries are unused, such as the placeholder
        // of a null.
        require_range("block_dictionary entries", entry_count, 0, slots.count + 1);
    } else {
        require_equal("block_dictionary lengths bytes", lengths.size(), 4 * entry_count);
    }
    return {codes, lengths, entries, entry_count, nested};
}

inline std::span<std::uint32_t> codes_of(const Layout& found, const Slots& slots, std::size_t first, std::size_t count,
                                         Context& context) {
    const auto codes = context.arena.take<std::uint32_t>(count);
    numeric::decode_section<std::uint32_t>(found.codes, slots.count, first, codes, context);
    std::uint32_t largest = 0;
    for (const auto each : codes) largest = std::max(largest, each);
    require_range("block_dictionary code", largest, 0, found.entry_count);
    return codes;
}

// Where entries begin. Entry 0 stands for null and is empty; entry c is dictionary value c - 1.
inline std::span<std::uint64_t> entry_offsets(const Layout& found, const Slots& slots, Context& context) {
    const auto starts = context.arena.take<std::uint64_t>(found.entry_count + 2);
    starts[0] = starts[1] = 0;
    if (slots.is_fixed) {
        for (std::size_t i = 0; i < found.entry_count; ++i) starts[i + 2] = (i + 1) * slots.fixed_size;
    } else {
        const auto lengths = numeric::decode_all<std::uint32_t>("block_dictionary lengths", found.lengths_nested,
                                                                found.lengths, found.entry_count, context);
        for (std::size_t i = 0; i < found.entry_count; ++i) starts[i + 2] = starts[i + 1] + lengths[i];
    }
    require_range("block_dictionary entry bytes", starts[found.entry_count + 1], 0, found.entries.size());
    return starts;
}

// The codes of a range of slots, and where the entries begin. Decoded once for all spans of a block.
struct Decoded {
    std::span<const std::uint32_t> codes;
    std::span<const std::uint64_t> starts;
    std::size_t first;

    std::span<const std::uint32_t> of(const SlotRange& piece) const { return codes.subspan(piece.first - first, piece.count); }
};

inline Decoded decode(const Layout& found, const Slots& slots, std::size_t first, std::size_t count, Context& context) {
    return {codes_of(found, slots, first, count, context), entry_offsets(found, slots, context), first};
}

inline void offsets(const Decoded& found, std::span<std::uint64_t> out) {
    out[0] = 0;
    for (std::size_t i = 0; i < found.codes.size(); ++i) {
        const auto each = found.codes[i];
        out[i + 1] = out[i] + (found.starts[each + 1] - found.starts[each]);
    }
}

inline void bytes(const Layout& found, const Decoded& decoded, const Slots& slots, const SlotRange& piece, MutableBytes out,
                  std::size_t writable) {
    const auto codes = decoded.of(piece);
    const auto starts = decoded.starts;
    auto* at = out.data();
    if (slots.is_fixed) {
        for (const auto each : codes) {
            if (each) std::memcpy(at, found.entries.data() + starts[each], slots.fixed_size);
            else std::memset(at, 0, slots.fixed_size);
            at += slots.fixed_size;
        }
        return;
    }
    const Padded padded(found.entries);
    const Entries entries{padded.begin(), padded.end()};
    const auto* const limit = out.data() + writable;
    for (const auto each : codes) at = entries.copy(starts[each], starts[each + 1] - starts[each], at, limit);
}

// Codes alone decide which slots are null: a null slot has code 0, no matter what the presence section says.
inline std::size_t write_validity(const Decoded& found, const SlotRange& piece, std::uint8_t* validity, std::size_t at) {
    const auto codes = found.of(piece);
    bits::from_values(codes.data(), codes.size(), validity, at);
    return piece.count - bits::count_set(validity, at, piece.count);
}

// The distinct values of a block, in the order of first appearance.
struct Distinct {
    std::vector<std::uint32_t> codes;    // 0 is null, c is entry c - 1
    std::vector<std::uint32_t> lengths;  // never empty: readers require an entry even if every slot is null
    Interner entries;
};

// Returns nothing if there are more than half as many distinct values as slots.
template <class Values>
std::optional<Distinct> distinct(const Values& values, const Validity& validity) {
    Distinct found{std::vector<std::uint32_t>(values.count()), {}, {}};
    auto& entries = found.entries;
    // Add 64 slots at a time, so that a block with too many distinct values is given up early.
    for (std::size_t first = 0; first < values.count(); first += 64) {
        const auto size = std::min<std::size_t>(64, values.count() - first);
        entries.add(
            values, first, size, validity.word(first, size),
            [&](std::size_t slot, std::uint32_t number) { found.codes[slot] = 1 + number; }, [](std::size_t) {});
        if (2 * entries.size() > values.count()) return std::nullopt;
    }
    for (std::size_t i = 0; i < entries.size(); ++i) found.lengths.push_back(size32("dictionary entry", entries[i].size()));
    if (found.lengths.empty()) found.lengths.push_back(0);
    return found;
}

inline std::size_t encoded_size(std::size_t codes, std::size_t lengths, std::size_t entries) {
    return header_size + align8(codes) + lengths + entries;
}

// `codes` is a section. `lengths` is raw or a section, and empty if all entries have the same size.
inline void encode(Bytes codes, Bytes lengths, bool lengths_nested, std::size_t entry_count, Bytes entries, MutableBytes out) {
    Fill(out).number(code).number(size32("dictionary codes", codes.size())).number(size32("dictionary lengths", lengths.size()))
        .number(size32("dictionary entries", entry_count)).number(std::uint8_t{lengths_nested}).number(std::uint8_t{0})
        .bytes(codes).pad().bytes(lengths).bytes(entries);
}

template <class Found>
void frames(const Layout& layout, const Slots& slots, Found& found) {
    numeric::find_frames<std::uint32_t>(layout.codes, slots.count, found);
    if (layout.lengths_nested) numeric::find_frames<std::uint32_t>(layout.lengths, layout.entry_count, found);
}

inline void describe(const Layout& found, const Slots& slots, std::string& out) {
    numeric::describe<std::uint32_t>(found.codes, slots.count, out);
    if (slots.is_fixed) return;
    out += ", ";
    if (found.lengths_nested) numeric::describe<std::uint32_t>(found.lengths, found.entry_count, out);
    else out += "raw";
}

}  // namespace amudai::binary::block_dictionary
