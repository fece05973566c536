// LZ4 (code 17): the values as one LZ4 block. Blocks that share a dictionary have a code of their own. Bytes:
// docs/format/binary.md.
#pragma once
#include "binary/lz4_sequences.hpp"
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

// Decodes the targets of a block one by one, without the bytes before and between them, if that is faster than
// inflating all bytes. Returns whether it did.
inline bool pick(const Layout& found, std::span<const DecodeTarget> targets, Context& context) {
    if (found.dictionary) return false;  // such blocks are small
    std::size_t wanted = 0;
    for (const auto& target : targets) wanted += target.out.size();
    const auto end = targets.back().origin + targets.back().out.size();
    // Measured: walking the sequences takes a third as long as inflating, and one step takes as long as inflating a
    // hundred bytes.
    if (wanted >= end / 64) return false;
    require_range("lz4 decoded bytes wanted", end, 0, found.decoded_size);
    const lz4_block::Sequences sequences(found.block, end, end == found.decoded_size, context.arena);
    auto steps = end / 64;
    return std::ranges::all_of(targets, [&](const DecodeTarget& target) { return sequences.copy(target.origin, target.out, steps); });
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
