// Plain (code 1): offsets and uncompressed values. Bytes: docs/format/binary.md.
#pragma once
#include "binary/nested.hpp"
#include "binary/values.hpp"

namespace amudai::binary::plain {

inline constexpr std::uint16_t code = 1;
inline constexpr std::string_view name = "plain";
inline constexpr std::size_t header_size = 3;  // no padding

struct Layout {
    Offsets offsets;
    Bytes data;
};

inline Layout layout(Bytes region, const Slots& slots) {
    require_at_least("plain region bytes", region.size(), header_size);
    require_equal("offset width", region[2], slots.is_fixed ? 0 : 8);
    if (slots.is_fixed) {
        require_equal("plain region bytes", region.size(), header_size + slots.count * slots.fixed_size);
        return {{}, region.subspan(header_size)};
    }
    const auto offsets = part("offsets bytes", region, header_size, 8 * (slots.count + 1));
    return {{offsets, false}, region.subspan(header_size + offsets.size())};
}

inline void offsets(const Layout& found, const Slots& slots, std::size_t first, std::span<std::uint64_t> out, Context& context) {
    found.offsets.decode(slots.count, first, out, context);
}

inline std::uint64_t bytes_most(const Layout& found) { return found.data.size(); }

inline void bytes(const Layout& found, const Slots& slots, const SlotRange& piece, MutableBytes out, std::size_t, Context&) {
    const auto data = part("plain data", found.data, piece.origin, out.size());
    if (piece.count == slots.count) require_equal("plain data bytes", found.data.size(), out.size());
    std::memcpy(out.data(), data.data(), data.size());
}

inline std::size_t encoded_size(std::size_t slots, std::size_t data, bool is_fixed) {
    return header_size + (is_fixed ? 0 : 8 * (slots + 1)) + data;
}

// The offsets written begin at 0, even if those of the Arrow array do not.
template <class Values>
void encode(const Values& values, MutableBytes out) {
    constexpr bool is_fixed = std::is_same_v<Values, FixedValues>;
    Fill fill(out);
    fill.number(code).number(std::uint8_t{is_fixed ? 0 : 8});
    if constexpr (!is_fixed) {
        for (const auto offset : values.offsets) fill.number(static_cast<std::uint64_t>(offset - values.offsets.front()));
    }
    fill.bytes(values.all());
}

template <class Found>
void frames(const Layout&, const Slots&, Found&) {}

inline void describe(const Layout&, const Slots&, std::string&) {}

}  // namespace amudai::binary::plain
