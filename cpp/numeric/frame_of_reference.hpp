// FOR (code 3): distances from a reference, in a section of their own. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/nested.hpp"

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

}  // namespace amudai::numeric::frame_of_reference
