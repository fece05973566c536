// ZigZag (code 18): signed values folded so that small ones of either sign stay small. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/nested.hpp"

namespace amudai::numeric::zig_zag {

inline constexpr std::uint16_t code = 18;
inline constexpr std::string_view name = "zig_zag";
inline constexpr std::size_t header_size = 8;
template <class T>
inline constexpr bool accepts = std::signed_integral<T>;

template <class T, class Visit>
void parts(Bytes section, std::size_t count, Visit&& visit) {
    const auto data = rest("zig_zag section bytes", section, header_size);
    if (section[2] != 0) visit.template operator()<unsigned_of<T>>(data, count);
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    using U = unsigned_of<T>;
    const auto data = rest("zig_zag section bytes", section, header_size);
    const auto values = as_unsigned(out);
    decode_part<U>("zig_zag values", section[2] != 0, data, count, first, values, context);
    for (auto& value : values) value = static_cast<U>(static_cast<U>(value >> 1) ^ static_cast<U>(U{0} - static_cast<U>(value & 1)));
}

}  // namespace amudai::numeric::zig_zag
