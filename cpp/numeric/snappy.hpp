// Snappy (code 0x8004): the plain values as one Snappy block. Bytes: docs/format/numeric.md.
#pragma once
#include "binary/snappy_block.hpp"
#include "numeric/leaf.hpp"

namespace amudai::numeric::snappy {

inline constexpr std::uint16_t code = 0x8004;
inline constexpr std::string_view name = "snappy";
template <class T>
inline constexpr bool accepts = true;

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    auto block = rest("snappy section bytes", section, leaf_header_size);
    require_equal("snappy decoded bytes", snappy_block::stated_size(block), count * sizeof(T));
    require_range("snappy decoded bytes", count * sizeof(T), 0, snappy_block::decoded_most(block.size()));
    const auto end = first + out.size();
    if (first == 0) {
        const MutableBytes bytes{reinterpret_cast<std::uint8_t*>(out.data()), out.size_bytes()};
        return snappy_block::decode(block, bytes, bytes.size(), end == count);
    }
    const auto prefix = context.arena.take<T>(end);
    const MutableBytes bytes{reinterpret_cast<std::uint8_t*>(prefix.data()), prefix.size_bytes()};
    snappy_block::decode(block, bytes, bytes.size() + Arena::slack, end == count);
    std::memcpy(out.data(), prefix.data() + first, out.size_bytes());
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    encode_leaf<T>(code, values, plan, out, context);
}

}  // namespace amudai::numeric::snappy
