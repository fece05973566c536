// Plain (code 1): the values without any compression. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/encoder.hpp"

namespace amudai::numeric::plain {

inline constexpr std::uint16_t code = 1;
inline constexpr std::string_view name = "plain";
inline constexpr std::size_t header_size = 2;  // no padding: values begin right after the code
template <class T>
inline constexpr bool accepts = true;

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context&) {
    require_equal("plain section bytes", section.size(), header_size + count * sizeof(T));
    std::memcpy(out.data(), section.data() + header_size + first * sizeof(T), out.size_bytes());
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class T>
void encode(std::span<const T> values, Plan, Sink& out, EncodeContext&) {
    out.header(code, header_size);
    out.append(values);
}

}  // namespace amudai::numeric::plain
