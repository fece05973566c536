// ZSTD (code 16): the values as a Zstandard frame, which the caller has inflated. Bytes: docs/format/binary.md.
#pragma once
#include "binary/nested.hpp"

namespace amudai::binary::zstd {

inline constexpr std::uint16_t code = 16;
inline constexpr std::string_view name = "zstd";
inline constexpr std::size_t header_size = 8;

struct Layout {
    Bytes payload;
    Offsets offsets;
};

inline Layout layout(Bytes region, const Slots& slots) {
    require_at_least("compressed region bytes", region.size(), header_size);
    const std::size_t payload_size = load<std::uint32_t>(region, 2);
    const auto payload = part("compressed payload bytes", region, header_size, payload_size);
    return {payload, offsets_behind(region, header_size + align8(payload_size), region[6], region[7], slots)};
}

inline void offsets(const Layout& found, const Slots& slots, std::size_t first, std::span<std::uint64_t> out, Context& context) {
    found.offsets.decode(slots.count, first, out, context);
}

inline std::uint64_t bytes_most(const Layout& found) { return zstd_most(found.payload.size()); }

inline void bytes(const Layout& found, const Slots& slots, const SlotRange& piece, MutableBytes out, std::size_t, Context& context) {
    const auto data = context.inflated.find_any(found.payload.data());
    if (piece.count == slots.count) require_equal("decoded bytes", data.size(), out.size());
    const auto wanted = part("decoded bytes", data, piece.origin, out.size());
    std::memcpy(out.data(), wanted.data(), wanted.size());
}

inline std::size_t encoded_size(std::size_t payload, const OffsetsPart& offsets) {
    return header_size + align8(payload) + offsets.size();
}

inline void encode(Bytes payload, const OffsetsPart& offsets, MutableBytes out) {
    Fill(out).number(code).number(size32("compressed payload", payload.size()))
        .number(offsets.width()).number(offsets.cascading())
        .bytes(payload).pad().bytes(offsets.stored());
}

template <class Found>
void frames(const Layout& layout, const Slots& slots, Found& found) {
    layout.offsets.frames(slots.count, found);
}

inline void describe(const Layout& found, const Slots& slots, std::string& out) {
    if (!slots.is_fixed) found.offsets.describe(slots.count, out);
}

}  // namespace amudai::binary::zstd
