// FLBitPack (code 2): unsigned values of few bits, packed. Bytes: docs/format/numeric.md.
#pragma once
#include "bits/fastlanes.hpp"
#include "numeric/encoder.hpp"

namespace amudai::numeric::fl_bit_pack {

inline constexpr std::uint16_t code = 2;
inline constexpr std::string_view name = "fl_bit_pack";
inline constexpr std::size_t header_size = 8;
template <class T>
inline constexpr bool accepts = std::unsigned_integral<T>;

// Checks that whole chunks follow the header, at least as many as `count` values need. The format allows surplus
// chunks.
template <class T>
Bytes packed(std::string_view what, Bytes data, std::size_t count, unsigned width) {
    require_range(what, width, 1, 8 * sizeof(T));
    require_at_least("packed bytes", data.size(), bits::packed_bytes(count, width));
    require_equal("packed bytes past the last chunk", data.size() % bits::chunk_bytes(width), 0);
    return data;
}

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

// Distances from a reference, `width` bits each. FFOR has the same layout with a reference that is not zero.
template <class U>
struct Layout {
    U reference;
    unsigned width;
    Bytes data;
};

template <class T>
Layout<T> layout(Bytes section, std::size_t count) {
    require_at_least("fl_bit_pack section bytes", section.size(), header_size);
    const unsigned width = section[2];
    return {0, width, packed<T>("fl_bit_pack width", section.subspan(header_size), count, width)};
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context&) {
    const auto found = layout<T>(section, count);
    bits::unpack<T>(found.data.data(), found.width, 0, first, out);
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class T>
void encode(std::span<const T> values, Plan, Sink& out, EncodeContext& context) {
    T seen = 0;
    for (const auto value : values) seen |= value;
    const auto width = static_cast<unsigned>(std::bit_width(seen));
    context.wants_alignment(out);
    const auto at = out.header(code, header_size);
    out.set<std::uint8_t>(at + 2, static_cast<std::uint8_t>(width));
    bits::pack<T>(values, width, 0, out.extend(bits::packed_bytes(values.size(), width)));
}

}  // namespace amudai::numeric::fl_bit_pack
