// SingleValue (code 7): one value for the whole section. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/encoder.hpp"

namespace amudai::numeric::single_value {

inline constexpr std::uint16_t code = 7;
inline constexpr std::string_view name = "single_value";
inline constexpr std::size_t header_size = 2;  // no padding
template <class T>
inline constexpr bool accepts = true;

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

template <class T>
void decode(Bytes section, std::size_t, std::size_t, std::span<T> out, Context&) {
    require_at_least("single_value section bytes", section.size(), header_size + sizeof(T));
    std::ranges::fill(out, load<T>(section, header_size));
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class T>
void encode(std::span<const T> values, Plan, Sink& out, EncodeContext&) {
    out.header(code, header_size);
    out.put<T>(values.front());
}

}  // namespace amudai::numeric::single_value
