// Pco (code 0x8003): entropy-coded values, which the caller has inflated. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/leaf.hpp"

namespace amudai::numeric::pco {

inline constexpr std::uint16_t code = 0x8003;
inline constexpr std::string_view name = "pco";
template <class T>
inline constexpr bool accepts = sizeof(T) >= 2;

// The name under which callers know how to inflate values of this type.
template <class T>
std::string codec() {
    return "pco_" + std::string(type_name<T>());
}

inline Bytes payload(Bytes section) { return rest("pco section bytes", section, leaf_header_size); }

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    copy_inflated(payload(section), count, first, out, context);
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    encode_leaf<T>(code, values, plan, out, context);
}

}  // namespace amudai::numeric::pco
