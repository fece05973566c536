// ALP (code 12): decimal fractions as integers with an exponent and a factor. Bytes: docs/format/numeric.md.
#pragma once
#include <array>

#include "numeric/nested.hpp"

namespace amudai::numeric::alp {

inline constexpr std::uint16_t code = 12;
inline constexpr std::string_view name = "alp";
inline constexpr std::size_t header_size = 16;
template <class T>
inline constexpr bool accepts = std::floating_point<T>;

// Decimal literals, rounded once: computed powers differ in the last bit.
inline constexpr std::array<double, 24> powers_f64{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23};
inline constexpr std::array<double, 24> inverses_f64{1e-0,  1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,
                                                     1e-8,  1e-9,  1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15,
                                                     1e-16, 1e-17, 1e-18, 1e-19, 1e-20, 1e-21, 1e-22, 1e-23};
inline constexpr std::array<float, 11> powers_f32{1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
inline constexpr std::array<float, 11> inverses_f32{1e-0f, 1e-1f, 1e-2f, 1e-3f, 1e-4f, 1e-5f,
                                                    1e-6f, 1e-7f, 1e-8f, 1e-9f, 1e-10f};

template <class T>
constexpr std::span<const T> powers() {
    if constexpr (sizeof(T) == 8) return powers_f64;
    else return powers_f32;
}
template <class T>
constexpr std::span<const T> inverses() {
    if constexpr (sizeof(T) == 8) return inverses_f64;
    else return inverses_f32;
}

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

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    using Integer = signed_of<T>;
    const auto found = layout<T>(section, count);
    // Integer and float have one width: the integers are decoded where the floats will stand.
    decode_section<Integer>(found.integers, count, first, {reinterpret_cast<Integer*>(out.data()), out.size()}, context);
    const T factor = powers<T>()[found.factor];
    const T inverse = inverses<T>()[found.exponent];
    auto* const at = reinterpret_cast<std::uint8_t*>(out.data());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto integer = load<Integer>(at + i * sizeof(T));
        store<T>(at + i * sizeof(T), static_cast<T>(integer) * factor * inverse);
    }
    for (std::size_t i = 0; i < found.positions.size() / 4; ++i) {
        const std::size_t position = load<std::uint32_t>(found.positions, 4 * i);
        require_range("alp exception position", position, 0, count - 1);
        if (position >= first && position - first < out.size()) {
            out[position - first] = load<T>(found.values, i * sizeof(T));
        }
    }
}

}  // namespace amudai::numeric::alp
