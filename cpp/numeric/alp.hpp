// ALP (code 12): decimal fractions as integers with an exponent and a factor. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/alp_integers.hpp"
#include "numeric/plain.hpp"

namespace amudai::numeric::alp {

inline constexpr std::uint16_t code = 12;
inline constexpr std::string_view name = "alp";
inline constexpr std::size_t header_size = 16;
template <class T>
inline constexpr bool accepts = std::floating_point<T>;

struct Layout {
    Bytes integers, positions, values;
    unsigned exponent, factor;
};

template <class T>
Layout layout(Bytes section, std::size_t count) {
    require_at_least("alp section bytes", section.size(), header_size);
    const std::size_t integers_size = load<std::uint32_t>(section, 2);
    const std::size_t exceptions = load<std::uint16_t>(section, 6);
    require_range("alp exceptions", exceptions, 0, count);
    const unsigned exponent = section[8];
    const unsigned factor = section[9];
    require_range("alp exponent", exponent, 0, powers<T>().size() - 1);
    require_range("alp factor", factor, 0, powers<T>().size() - 1);
    const auto integers = part("alp integers bytes", section, header_size, integers_size);
    const auto tail = section.subspan(header_size + integers_size);
    if (exceptions) require_equal("alp exception bytes", tail.size(), exceptions * (4 + sizeof(T)));
    return {integers, tail.first(exceptions * 4), tail.subspan(exceptions * 4, exceptions * sizeof(T)), exponent, factor};
}

template <class T, class Visit>
void parts(Bytes section, std::size_t count, Visit&& visit) {
    visit.template operator()<signed_of<T>>(layout<T>(section, count).integers, count);
}

// The float that an integer stands for.
template <class T>
T to_float(const Layout& found, signed_of<T> integer) {
    return static_cast<T>(integer) * powers<T>()[found.factor] * inverses<T>()[found.exponent];
}

// Turns integers, which lie where the floats will be, into floats: both have the same width.
template <class T>
void to_floats(const Layout& found, std::span<T> out) {
    const T factor = powers<T>()[found.factor];
    const T inverse = inverses<T>()[found.exponent];
    auto* const at = reinterpret_cast<std::uint8_t*>(out.data());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto integer = load<signed_of<T>>(at + i * sizeof(T));
        store<T>(at + i * sizeof(T), static_cast<T>(integer) * factor * inverse);
    }
}

// Calls use(position, value) for each exception of the block. Positions need not ascend.
template <class T, class Use>
void each_exception(const Layout& found, std::size_t count, Use&& use) {
    for (std::size_t i = 0; i < found.positions.size() / 4; ++i) {
        const std::size_t position = load<std::uint32_t>(found.positions, 4 * i);
        require_range("alp exception position", position, 0, count - 1);
        use(position, load<T>(found.values, i * sizeof(T)));
    }
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    using Integer = signed_of<T>;
    const auto found = layout<T>(section, count);
    decode_section<Integer>(found.integers, count, first, {reinterpret_cast<Integer*>(out.data()), out.size()}, context);
    to_floats<T>(found, out);
    each_exception<T>(found, count, [&](std::size_t position, T value) {
        if (position >= first && position - first < out.size()) out[position - first] = value;
    });
}

template <class T, class Visit>
void asks(Visit&& visit) {
    visit.template operator()<signed_of<T>>(false);
}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    using Integer = signed_of<T>;
    auto& arena = context.arena;
    const Exponents given{plan->exponent, plan->factor};
    const auto pair = given.exponent == searched ? search(values, plan->outliers, arena) : given;
    const auto integers = arena.take<Integer>(values.size());
    const auto exact = to_integers(values, Scale<T>(pair.exponent, pair.factor), integers, arena);
    auto exceptions = values.size() - exact.count();
    if (exceptions > exceptions_most || exceptions * exception_bytes<T> >= values.size_bytes()) {
        return plain::encode<T>(values, plan, out, context);
    }
    if (plan->outliers) {
        move_outliers(std::span<const Integer>(integers), exact, arena);
        exceptions = values.size() - exact.count();
    }
    const auto at = out.header(code, header_size);
    out.set<std::uint16_t>(at + 6, static_cast<std::uint16_t>(exceptions));
    out.set<std::uint8_t>(at + 8, static_cast<std::uint8_t>(pair.exponent));
    out.set<std::uint8_t>(at + 9, static_cast<std::uint8_t>(pair.factor));
    const auto positions = arena.take<std::uint32_t>(exceptions);
    if (exceptions) {
        // Any integer may stand in for an exception. Repeating the integer before it adds no new value.
        std::size_t known = 0;
        while (!exact.words()[known]) ++known;
        const auto first = integers[64 * known + static_cast<std::size_t>(std::countr_zero(exact.words()[known]))];
        std::size_t found = 0;
        for (std::size_t word = 0; word < exact.words().size(); ++word) {
            const auto end = std::min(64 * word + 64, values.size());
            auto missing = ~exact.words()[word];
            if (end % 64) missing &= (std::uint64_t{1} << end % 64) - 1;
            for (; missing; missing &= missing - 1) {
                const auto i = 64 * word + static_cast<std::size_t>(std::countr_zero(missing));
                positions[found++] = static_cast<std::uint32_t>(i);
                integers[i] = i ? integers[i - 1] : first;
            }
        }
    }
    encode_section<Integer>(integers, plan.part(0), out, context);
    out.set<std::uint32_t>(at + 2, static_cast<std::uint32_t>(out.size() - at - header_size));
    out.append(std::span<const std::uint32_t>(positions));
    for (const auto position : positions) out.put<T>(values[position]);
}

}  // namespace amudai::numeric::alp
