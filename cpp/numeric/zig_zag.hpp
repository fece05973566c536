// ZigZag (code 18): signed values folded so that small ones of either sign stay small. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/encoder.hpp"

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

// The reference implementation reads out of bounds if values of more than one byte are raw.
template <class T, class Visit>
void asks(Visit&& visit) {
    visit.template operator()<unsigned_of<T>>(sizeof(T) == 1);
}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    using U = unsigned_of<T>;
    const auto folded = context.arena.take<U>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto sign = static_cast<U>(values[i] >> (8 * sizeof(T) - 1));
        folded[i] = static_cast<U>(static_cast<U>(static_cast<U>(values[i]) << 1) ^ sign);
    }
    const auto at = out.header(code, header_size);
    out.set<std::uint8_t>(at + 2, encode_part<U>(folded, plan.part(0), out, context));
}

}  // namespace amudai::numeric::zig_zag
