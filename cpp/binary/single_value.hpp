// SingleValue (code 7): every present slot holds the same bytes. Bytes: docs/format/binary.md.
#pragma once
#include "binary/nested.hpp"

namespace amudai::binary::single_value {

inline constexpr std::uint16_t code = 7;
inline constexpr std::string_view name = "single_value";
inline constexpr std::size_t header_size = 2;  // no padding

struct Layout {
    Bytes value;
};

inline Layout layout(Bytes region, const Slots& slots) {
    const auto value = rest("single_value region bytes", region, header_size);
    if (slots.is_fixed) require_equal("single_value bytes", value.size(), slots.fixed_size);
    return {value};
}

// Null slots are empty, so only present slots count. The offsets begin at 0 for slot `first`.
inline void offsets(const Layout& found, const Slots& slots, std::size_t first, std::span<std::uint64_t> out, Context&) {
    out[0] = 0;
    for (std::size_t i = 1; i < out.size(); ++i) {
        out[i] = out[i - 1] + (slots.present->at(first + i - 1) ? found.value.size() : 0);
    }
}

inline std::uint64_t bytes_most(const Layout&) { return std::numeric_limits<std::uint64_t>::max(); }

inline void bytes(const Layout& found, const Slots& slots, const SlotRange& piece, MutableBytes out, std::size_t, Context&) {
    const auto size = found.value.size();
    if (size == 0) return;
    auto* at = out.data();
    for (std::size_t i = 0; i < piece.count; ++i) {
        if (!slots.is_fixed && !slots.present->at(piece.first + i)) continue;
        std::memcpy(at, found.value.data(), size);
        at += size;
    }
}

template <class Found>
void frames(const Layout&, const Slots&, Found&) {}

inline void describe(const Layout&, const Slots&, std::string&) {}

}  // namespace amudai::binary::single_value
