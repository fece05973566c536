// Snappy (code 0x8004): the values as one Snappy block. Bytes: docs/format/binary.md.
#pragma once
#include "binary/snappy_block.hpp"
#include "binary/zstd.hpp"

namespace amudai::binary::snappy {

inline constexpr std::uint16_t code = 0x8004;
inline constexpr std::string_view name = "snappy";

struct Layout {
    Bytes elements;
    std::size_t decoded_size;
    Offsets offsets;
};

inline Layout layout(Bytes region, const Slots& slots) {
    // The region has the layout of a ZSTD region. The payload begins with its decoded size.
    auto [elements, offsets, dictionary] = zstd::layout(region, slots);
    const auto decoded = snappy_block::stated_size(elements);
    require_range("snappy decoded bytes", decoded, 0, snappy_block::decoded_most(elements.size()));
    if (slots.is_fixed) require_equal("snappy decoded bytes", decoded, slots.count * slots.fixed_size);
    return {elements, decoded, offsets};
}

inline void offsets(const Layout& found, const Slots& slots, std::size_t first, std::span<std::uint64_t> out, Context& context) {
    found.offsets.decode(slots.count, first, out, context);
}

inline std::uint64_t bytes_most(const Layout& found) { return found.decoded_size; }

// Decodes the bytes before `end` and no others.
inline Bytes prefix(const Layout& found, std::size_t end, Context& context) {
    require_range("snappy decoded bytes wanted", end, 0, found.decoded_size);
    const auto decoded = context.arena.take<std::uint8_t>(end);
    snappy_block::decode(found.elements, decoded, decoded.size() + Arena::slack, end == found.decoded_size);
    return decoded;
}

inline void bytes(const Layout& found, const Slots& slots, const SlotRange& piece, MutableBytes out, std::size_t writable,
                  Context& context) {
    if (piece.count == slots.count) {
        require_equal("snappy decoded bytes", found.decoded_size, out.size());
        return snappy_block::decode(found.elements, out, writable, true);
    }
    const auto decoded = prefix(found, piece.origin + out.size(), context);
    std::memcpy(out.data(), decoded.data() + piece.origin, out.size());
}

inline std::size_t encoded_size(std::size_t block, const OffsetsPart& offsets) { return zstd::encoded_size(block, offsets); }

inline void encode(Bytes block, const OffsetsPart& offsets, MutableBytes out) { zstd::encode_as(code, block, offsets, out); }

template <class Found>
void frames(const Layout& layout, const Slots& slots, Found& found) {
    layout.offsets.frames(slots.count, found);
}

inline void describe(const Layout& found, const Slots& slots, std::string& out) {
    if (!slots.is_fixed) found.offsets.describe(slots.count, out);
}

}  // namespace amudai::binary::snappy
