// ZSTD (code 16): the plain values as a Zstandard frame, which the caller has inflated. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/leaf.hpp"

namespace amudai::numeric::zstd {

inline constexpr std::uint16_t code = 16;
inline constexpr std::string_view name = "zstd";
template <class T>
inline constexpr bool accepts = true;

inline constexpr std::string_view codec = name;

inline Bytes frame(Bytes section) { return rest("zstd section bytes", section, leaf_header_size); }

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    copy_inflated(frame(section), count, first, out, context);
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    encode_leaf<T>(code, values, plan, out, context);
}

}  // namespace amudai::numeric::zstd
