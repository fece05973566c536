// Sparse (code 19): few values at known positions, zero elsewhere. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/encoder.hpp"

namespace amudai::numeric::sparse {

inline constexpr std::uint16_t code = 19;
inline constexpr std::string_view name = "sparse";
inline constexpr std::size_t header_size = 16;
template <class T>
inline constexpr bool accepts = true;

struct Layout {
    std::size_t count;
    bool positions_nested, values_nested;
    Bytes positions, values;
};

inline Layout layout(Bytes section, std::size_t count) {
    require_at_least("sparse section bytes", section.size(), header_size);
    const std::size_t positions_count = load<std::uint32_t>(section, 2);
    const std::size_t positions_size = load<std::uint32_t>(section, 6);
    require_range("sparse positions", positions_count, 0, count);
    const auto positions = part("sparse positions bytes", section, header_size, positions_size);
    const auto values = rest("sparse section bytes", section, header_size + align8(positions_size));
    return {positions_count, section[10] != 0, section[11] != 0, positions, values};
}

template <class T, class Visit>
void parts(Bytes section, std::size_t count, Visit&& visit) {
    const auto found = layout(section, count);
    if (found.positions_nested) visit.template operator()<std::uint32_t>(found.positions, found.count);
    if (found.values_nested) visit.template operator()<T>(found.values, found.count);
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    const auto found = layout(section, count);
    const auto positions =
        decode_all<std::uint32_t>("sparse positions", found.positions_nested, found.positions, found.count, context);
    const auto values = decode_all<T>("sparse values", found.values_nested, found.values, found.count, context);
    std::ranges::fill(out, T{});
    for (std::size_t i = 0; i < found.count; ++i) {
        require_range("sparse position", positions[i], 0, count - 1);
        if (positions[i] >= first && positions[i] - first < out.size()) out[positions[i] - first] = values[i];
    }
}

template <class T, class Visit>
void asks(Visit&& visit) {
    visit.template operator()<std::uint32_t>(true);
    visit.template operator()<T>(true);
}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    const auto positions = context.arena.take<std::uint32_t>(values.size() + 1);
    const auto stored = context.arena.take<T>(values.size() + 1);
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        positions[count] = static_cast<std::uint32_t>(i);
        stored[count] = values[i];
        count += bits_of(values[i]) != 0;
    }
    context.wants_alignment(out);
    const auto at = out.header(code, header_size);
    out.set<std::uint32_t>(at + 2, static_cast<std::uint32_t>(count));
    out.set<std::uint8_t>(at + 10, encode_part<std::uint32_t>(positions.first(count), plan.part(0), out, context));
    out.set<std::uint32_t>(at + 6, static_cast<std::uint32_t>(out.size() - at - header_size));
    out.pad8(at);
    out.set<std::uint8_t>(at + 11, encode_part<T>(stored.first(count), plan.part(1), out, context));
}

}  // namespace amudai::numeric::sparse
