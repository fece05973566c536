// BlockDictionary (code 14): the block's distinct values and a code for each slot. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/nested.hpp"

namespace amudai::numeric::block_dictionary {

inline constexpr std::uint16_t code = 14;
inline constexpr std::string_view name = "block_dictionary";
inline constexpr std::size_t header_size = 16;
template <class T>
inline constexpr bool accepts = true;

struct Layout {
    Bytes codes, values;
    std::size_t entries;
    bool values_nested;
};

template <class T>
Layout layout(Bytes section, std::size_t count) {
    require_at_least("block_dictionary section bytes", section.size(), header_size);
    const std::size_t codes_size = load<std::uint32_t>(section, 2);
    const std::size_t entries = load<std::uint32_t>(section, 6);
    const bool nested = section[10] != 0;
    const auto codes = part("block_dictionary codes bytes", section, header_size, codes_size);
    const auto values = section.subspan(header_size + codes_size);
    // A nested section could claim any number of entries; more than one for each slot has no use.
    require_range("block_dictionary entries", entries, 0, nested ? count : values.size() / sizeof(T));
    return {codes, values, entries, nested};
}

template <class T, class Visit>
void parts(Bytes section, std::size_t count, Visit&& visit) {
    const auto found = layout<T>(section, count);
    visit.template operator()<std::uint32_t>(found.codes, count);
    if (found.values_nested) visit.template operator()<T>(found.values, found.entries);
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    const auto found = layout<T>(section, count);
    const auto codes = context.arena.take<std::uint32_t>(out.size());
    decode_section<std::uint32_t>(found.codes, count, first, codes, context);
    std::uint32_t largest = 0;
    for (const auto each : codes) largest = std::max(largest, each);
    require_range("block_dictionary code", largest, 0, found.entries);
    const auto entries = context.arena.take<T>(found.entries + 1);
    entries[0] = T{};  // code 0 stands for a null slot, which reads as zero
    decode_part<T>("block_dictionary values", found.values_nested, found.values, found.entries, 0, entries.subspan(1), context);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = entries[codes[i]];
}

}  // namespace amudai::numeric::block_dictionary
