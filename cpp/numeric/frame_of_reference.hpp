// FOR (code 3): distances from a reference, in a section of their own. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/encoder.hpp"

namespace amudai::numeric::frame_of_reference {

inline constexpr std::uint16_t code = 3;
inline constexpr std::string_view name = "for";
template <class T>
inline constexpr bool accepts = std::integral<T>;
template <class T>
inline constexpr std::size_t header_size = align8(2 + sizeof(T));

template <class T, class Visit>
void parts(Bytes section, std::size_t count, Visit&& visit) {
    visit.template operator()<unsigned_of<T>>(rest("for section bytes", section, header_size<T>), count);
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    using U = unsigned_of<T>;  // distances wrap: a signed span may exceed the signed range
    const auto nested = rest("for section bytes", section, header_size<T>);
    const auto reference = load<U>(section, 2);
    const auto values = as_unsigned(out);
    decode_section<U>(nested, count, first, values, context);
    for (auto& value : values) value = static_cast<U>(value + reference);
}

template <class T, class Visit>
void asks(Visit&& visit) {
    visit.template operator()<unsigned_of<T>>(false);
}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    using U = unsigned_of<T>;
    const auto [least, most] = min_max(values);
    // The reference implementation adds signed numbers. If the span exceeds their range, only zero never overflows.
    const auto span = static_cast<U>(static_cast<U>(most) - static_cast<U>(least));
    const bool overflows = std::signed_integral<T> && static_cast<signed_of<T>>(span) < 0;
    const auto reference = overflows ? U{0} : static_cast<U>(least);
    const auto distances = context.arena.take<U>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) distances[i] = static_cast<U>(static_cast<U>(values[i]) - reference);
    const auto at = out.header(code, header_size<T>);
    out.set<U>(at + 2, reference);
    encode_section<U>(distances, plan.part(0), out, context);
}

}  // namespace amudai::numeric::frame_of_reference
