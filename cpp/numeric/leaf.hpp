// Sections that hold nothing but a header and what a codec of the caller has made of the values.
#pragma once
#include "numeric/plain.hpp"

namespace amudai::numeric {

inline constexpr std::size_t leaf_header_size = 8;

// The values of a section whose payload the caller has inflated.
template <class T>
void copy_inflated(Bytes payload, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    const auto values = context.inflated.find(payload.data(), count * sizeof(T));
    std::memcpy(out.data(), values.data() + first * sizeof(T), out.size_bytes());
}

// Writes the compressed values; the plain ones if they are few or do not get smaller.
template <class T>
void encode_leaf(std::uint16_t code, std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    const auto raw = bytes_of(values);
    if (raw.size() < Leaves::least) return plain::encode<T>(values, plan, out, context);
    const auto compressed = context.leaves.next(code, type_name<T>(), raw);
    if (compressed.empty() || leaf_header_size + compressed.size() >= plain::header_size + raw.size()) {
        return plain::encode<T>(values, plan, out, context);
    }
    out.header(code, leaf_header_size);
    out.append(compressed);
}

}  // namespace amudai::numeric
