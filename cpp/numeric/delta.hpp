// Delta (code 5): the first value, then differences in a section of their own. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/encoder.hpp"

namespace amudai::numeric::delta {

inline constexpr std::uint16_t code = 5;
inline constexpr std::string_view name = "delta";
template <class T>
inline constexpr bool accepts = std::integral<T>;
template <class T>
inline constexpr std::size_t header_size = align8(2 + sizeof(T));

template <class T, class Visit>
void parts(Bytes section, std::size_t count, Visit&& visit) {
    visit.template operator()<T>(rest("delta section bytes", section, header_size<T>), count - 1);
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    using U = unsigned_of<T>;
    const auto nested = rest("delta section bytes", section, header_size<T>);
    auto value = load<U>(section, 2);
    const auto values = as_unsigned(out);
    if (first == 0) {
        // Decode the differences one slot further on, so that they can be summed up in place.
        decode_section<T>(nested, count - 1, 0, out.subspan(1), context);
        values[0] = value;
    } else {
        // Only the sum of the differences before `first` is needed. One call decodes them together with the others: two
        // calls would double the work at each level of nesting.
        const auto differences = context.arena.take<T>(first - 1 + out.size());
        decode_section<T>(nested, count - 1, 0, differences, context);
        for (const auto difference : differences.first(first - 1)) value = static_cast<U>(value + static_cast<U>(difference));
        std::ranges::copy(differences.subspan(first - 1), out.begin());
        values[0] = static_cast<U>(values[0] + value);
    }
    value = values[0];
    for (auto& each : values.subspan(1)) each = value = static_cast<U>(value + each);
}

template <class T, class Visit>
void asks(Visit&& visit) {
    visit.template operator()<T>(false);
}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    using U = unsigned_of<T>;
    const auto differences = context.arena.take<T>(values.size() - 1);
    for (std::size_t i = 0; i < differences.size(); ++i) {
        differences[i] = static_cast<T>(static_cast<U>(static_cast<U>(values[i + 1]) - static_cast<U>(values[i])));
    }
    const auto at = out.header(code, header_size<T>);
    out.set<T>(at + 2, values.front());
    encode_section<T>(differences, plan.part(0), out, context);
}

}  // namespace amudai::numeric::delta
