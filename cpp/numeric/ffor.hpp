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
fl_bit_pack::Layout<unsigned_of<T>> layout(Bytes section, std::size_t count) {
    using U = unsigned_of<T>;
    require_at_least("ffor section bytes", section.size(), header_size<T>);
    const unsigned width = section[2 + sizeof(T)];
    const auto data = fl_bit_pack::packed<U>("ffor width", section.subspan(header_size<T>), count, width);
    return {load<U>(section, 2), width, data};
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context&) {
    using U = unsigned_of<T>;
    const auto found = layout<T>(section, count);
    bits::unpack<U>(found.data.data(), found.width, found.reference, first, as_unsigned(out));
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class U>
struct Frame {
    U reference;
    unsigned width;
};

// The narrowest frame of the values. Differences are often small numbers around zero. In an unsigned type the negative
// ones look huge, so the frame begins at the least of them in signed order, and the reader's addition wraps around.
template <class T>
Frame<unsigned_of<T>> frame(std::span<const T> values) {
    using U = unsigned_of<T>;
    const auto from = [](auto range) {
        const auto reference = static_cast<U>(range.first);
        const auto span = static_cast<U>(static_cast<U>(range.second) - reference);
        return Frame<U>{reference, static_cast<unsigned>(std::bit_width(span))};
    };
    const auto range = min_max(values);
    const auto natural = from(range);
    if constexpr (std::unsigned_integral<T>) {
        using S = signed_of<T>;
        if (static_cast<S>(range.first) >= 0 && static_cast<S>(range.second) < 0) {
            const auto wrapped = from(min_max(std::span{reinterpret_cast<const S*>(values.data()), values.size()}));
            if (wrapped.width < natural.width) return wrapped;
        }
    }
    return natural;
}

template <class T>
void encode(std::span<const T> values, Plan, Sink& out, EncodeContext& context) {
    using U = unsigned_of<T>;
    const auto [reference, width] = frame(values);
    context.wants_alignment(out);
    const auto at = out.header(code, header_size<T>);
    out.set<U>(at + 2, reference);
    out.set<std::uint8_t>(at + 2 + sizeof(T), static_cast<std::uint8_t>(width));
    bits::pack<U>(as_unsigned(values), width, reference, out.extend(bits::packed_bytes(values.size(), width)));
}

}  // namespace amudai::numeric::ffor
