// LZ4 (code 17): the plain values as one LZ4 block. Bytes: docs/format/numeric.md.
#pragma once
#include "binary/lz4_block.hpp"
#include "numeric/plain.hpp"

namespace amudai::numeric::lz4 {

inline constexpr std::uint16_t code = 17;
inline constexpr std::string_view name = "lz4";
inline constexpr std::size_t header_size = 8;
template <class T>
inline constexpr bool accepts = true;

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    require_at_least("lz4 section bytes", section.size(), header_size + 4);
    require_equal("lz4 decoded bytes", load<std::uint32_t>(section, header_size), count * sizeof(T));
    const auto block = section.subspan(header_size + 4);
    require_range("lz4 decoded bytes", count * sizeof(T), 0, lz4_block::decoded_most(block.size()));
    if (first == 0) {
        // A prefix is decoded no further than it is needed.
        const MutableBytes bytes{reinterpret_cast<std::uint8_t*>(out.data()), out.size_bytes()};
        return lz4_block::decode(block, bytes, bytes.size(), out.size() == count);
    }
    const auto prefix = context.arena.take<T>(first + out.size());
    const MutableBytes bytes{reinterpret_cast<std::uint8_t*>(prefix.data()), prefix.size_bytes()};
    lz4_block::decode(block, bytes, bytes.size() + Arena::slack, prefix.size() == count);
    std::memcpy(out.data(), prefix.data() + first, out.size_bytes());
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    const auto raw = bytes_of(values);
    if (raw.size() < Leaves::least) return plain::encode<T>(values, plan, out, context);
    const auto compressed = context.leaves.next(code, type_name<T>(), raw);
    if (compressed.empty() || header_size + 4 + compressed.size() >= plain::header_size + raw.size()) {
        return plain::encode<T>(values, plan, out, context);
    }
    out.header(code, header_size);
    out.put<std::uint32_t>(static_cast<std::uint32_t>(raw.size()));
    out.append(compressed);
}

}  // namespace amudai::numeric::lz4
