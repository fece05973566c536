// ZSTD (code 16): the plain values as a Zstandard frame, which the caller has inflated. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/plain.hpp"

namespace amudai::numeric::zstd {

inline constexpr std::uint16_t code = 16;
inline constexpr std::string_view name = "zstd";
inline constexpr std::size_t header_size = 8;
template <class T>
inline constexpr bool accepts = true;

inline Bytes frame(Bytes section) { return rest("zstd section bytes", section, header_size); }

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    const auto values = context.inflated.find(frame(section).data(), count * sizeof(T));
    std::memcpy(out.data(), values.data() + first * sizeof(T), out.size_bytes());
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    const auto raw = bytes_of(values);
    if (raw.size() < Leaves::least) return plain::encode<T>(values, plan, out, context);
    const auto compressed = context.leaves.next(code, raw);
    if (compressed.empty() || header_size + compressed.size() >= plain::header_size + raw.size()) {
        return plain::encode<T>(values, plan, out, context);
    }
    out.header(code, header_size);
    out.append(compressed);
}

}  // namespace amudai::numeric::zstd
