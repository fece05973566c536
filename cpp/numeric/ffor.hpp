// FFOR (code 4): distances from a reference, bit-packed in the same section. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/fl_bit_pack.hpp"

namespace amudai::numeric::ffor {

inline constexpr std::uint16_t code = 4;
inline constexpr std::string_view name = "ffor";
template <class T>
inline constexpr bool accepts = std::integral<T>;
template <class T>
inline constexpr std::size_t header_size = align8(2 + sizeof(T) + 1);

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context&) {
    using U = unsigned_of<T>;
    require_at_least("ffor section bytes", section.size(), header_size<T>);
    const auto reference = load<U>(section, 2);
    const unsigned width = section[2 + sizeof(T)];
    const auto data = fl_bit_pack::packed<U>("ffor width", section.subspan(header_size<T>), count, width);
    bits::unpack<U>(data.data(), width, reference, first, as_unsigned(out));
}

}  // namespace amudai::numeric::ffor
