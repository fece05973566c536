// LZ4 (code 17): the values as one LZ4 block. Blocks that share a dictionary have a code of their own. Bytes:
// docs/format/binary.md.
#pragma once
#include "base/context.hpp"
#include "binary/lz4_block.hpp"
#include "binary/zstd.hpp"

namespace amudai::binary::lz4 {

inline constexpr std::uint16_t code = 17;
inline constexpr std::string_view name = "lz4";

struct Layout {
    Bytes block;
    std::size_t decoded_size;
    Offsets offsets;
    std::optional<std::uint32_t> dictionary;  // the checksum of the shared dictionary, if the block needs one
};

inline Layout layout(Bytes region, const Slots& slots) {
    // The region has the layout of a ZSTD region. The payload begins with its decoded size.
    const auto found = zstd::layout(region, slots);
    require_at_least("lz4 payload bytes", found.payload.size(), 4);
    const std::size_t decoded = load<std::uint32_t>(found.payload, 0);
    const auto block = found.payload.subspan(4);
    require_range("lz4 decoded bytes", decoded, 0, lz4_block::decoded_most(block.size()));
    if (slots.is_fixed) require_equal("lz4 decoded bytes", decoded, slots.count * slots.fixed_size);
    return {block, decoded, found.offsets, found.dictionary};
}

// The bytes that matches may refer to as if they stood before the first decoded byte.
inline Bytes dictionary_of(const Layout& found, const Context& context) {
    return found.dictionary ? context.inflated.dictionary(*found.dictionary) : Bytes{};
}

inline void offsets(const Layout& found, const Slots& slots, std::size_t first, std::span<std::uint64_t> out, Context& context) {
    found.offsets.decode(slots.count, first, out, context);
}

inline std::uint64_t bytes_most(const Layout& found) { return found.decoded_size; }

// Decodes the bytes before `end` and no others.
inline Bytes prefix(const Layout& found, std::size_t end, Context& context) {
    require_range("lz4 decoded bytes wanted", end, 0, found.decoded_size);
    const auto decoded = context.arena.take<std::uint8_t>(end);
    lz4_block::decode(found.block, decoded, decoded.size() + Arena::slack, end == found.decoded_size, dictionary_of(found, context));
    return decoded;
}

inline void bytes(const Layout& found, const Slots& slots, const SlotRange& piece, MutableBytes out, std::size_t writable,
                  Context& context) {
    if (piece.count == slots.count) {
        require_equal("lz4 decoded bytes", found.decoded_size, out.size());
        return lz4_block::decode(found.block, out, writable, true, dictionary_of(found, context));
    }
    const auto decoded = prefix(found, piece.origin + out.size(), context);
    std::memcpy(out.data(), decoded.data() + piece.origin, out.size());
}

// Decodes the bytes before the end of the last target, and copies those of each target, of which there are several. To
// step over the other bytes without decoding them would take about as long, as each sequence waits for the one before.
inline void copy_targets(const Layout& found, std::span<const DecodeTarget> targets, Context& context) {
    const auto decoded = prefix(found, targets.back().origin + targets.back().out.size(), context);
    for (const auto& [origin, out, writable] : targets) {
        const auto* const from = decoded.data() + origin;
        if (writable >= out.size() + Arena::slack) lz4_block::detail::copy16(from, out.data(), out.size());
        else std::memcpy(out.data(), from, out.size());
    }
}

// The largest input of an LZ4 block.
inline constexpr std::size_t max_decoded = 0x7e000000;

inline std::size_t encoded_size(std::size_t block, const OffsetsPart& offsets, bool is_shared = false) {
    return zstd::encoded_size(4 + block, offsets, is_shared);
}

inline void encode(Bytes block, std::size_t decoded, const OffsetsPart& offsets, std::optional<std::uint32_t> dictionary,
                   MutableBytes out) {
    if (decoded > max_decoded) {
        throw std::invalid_argument("lz4: expected at most 2113929216 bytes of data, found " + std::to_string(decoded));
    }
    zstd::encode_header(dictionary ? shared::lz4_code : code, 4 + block.size(), offsets, dictionary, out)
        .number(static_cast<std::uint32_t>(decoded)).bytes(block).pad().bytes(offsets.stored());
}

template <class Found>
void frames(const Layout& layout, const Slots& slots, Found& found) {
    layout.offsets.frames(slots.count, found);
}

inline void describe(const Layout& found, const Slots& slots, std::string& out) {
    if (!slots.is_fixed) found.offsets.describe(slots.count, out);
}

}  // namespace amudai::binary::lz4
