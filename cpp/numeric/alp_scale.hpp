// How ALP turns floats into integers, and the search for the exponent and factor that suit a block. Arithmetic:
// docs/format/numeric.md.
#pragma once
#include <array>
#include <cmath>

#include "numeric/encoder.hpp"

namespace amudai::numeric::alp {

// Decimal literals, which are rounded only once. Computed powers would differ in the last bit.
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

inline constexpr std::size_t exceptions_most = 65535;
template <class T>
inline constexpr std::size_t exception_bytes = 4 + sizeof(T);

// Exponent and factor as numbers to multiply by.
template <class T>
struct Scale {
    T up, down, factor, inverse;
    Scale(unsigned e, unsigned f)
        : up(powers<T>()[e]), down(inverses<T>()[f]), factor(powers<T>()[f]), inverse(inverses<T>()[e]) {}
};

// From here on all floats are integers. Adding it to a smaller float and subtracting it again rounds to an integer, if
// both have the same sign. With different signs the sum may be so small that it keeps a fraction.
template <class T>
inline constexpr T whole = sizeof(T) == 8 ? T(4503599627370496.0) : T(8388608.0f);
// Up to `small`, the low bits of a float's sum with `magic` are its integer.
template <class T>
inline constexpr T magic = sizeof(T) == 8 ? T(6755399441055744.0) : T(12582912.0f);
template <class T>
inline constexpr T small = sizeof(T) == 8 ? T(2251799813685248.0) : T(4194304.0f);
template <class T>
inline constexpr T limit = sizeof(T) == 8 ? T(9223372036854775808.0) : T(2147483648.0f);

// The integer of a value, still as a float. Adding zero removes the sign of -0.0, as converting to an integer would.
template <class T>
T rounded(T value, const Scale<T>& scale) {
    const T scaled = value * scale.up * scale.down;
    const T away = std::copysign(whole<T>, scaled);
    return (scaled + away) - away + T(0);
}

// All ones if the integer decodes to exactly the bits of the value, else 0. As wide as the value, so that loops
// vectorise.
template <class T>
unsigned_of<T> exact_mask(T value, T integer, const Scale<T>& scale) {
    using U = unsigned_of<T>;
    const U inside = integer < limit<T> ? ~U{0} : U{0};
    const U above = integer >= -limit<T> ? ~U{0} : U{0};
    const U same = bits_of(integer * scale.factor * scale.inverse) == bits_of(value) ? ~U{0} : U{0};
    return inside & above & same;
}

// The bytes that `sample` would take bit-packed, exceptions included. Its size must be a multiple of eight.
template <class T>
double cost(std::span<const T> sample, const Scale<T>& scale) {
    using U = unsigned_of<T>;
    constexpr std::size_t lanes = 8;
    T least[lanes], most[lanes];
    std::ranges::fill(least, limit<T>);
    std::ranges::fill(most, -limit<T>);
    U exact[lanes] = {};
    for (std::size_t at = 0; at < sample.size(); at += lanes) {
        for (std::size_t i = 0; i < lanes; ++i) {
            const T integer = rounded(sample[at + i], scale);
            const U mask = exact_mask(sample[at + i], integer, scale);
            const T low = mask ? integer : limit<T>;
            const T high = mask ? integer : -limit<T>;
            least[i] = low < least[i] ? low : least[i];
            most[i] = high > most[i] ? high : most[i];
            exact[i] -= mask;
        }
    }
    std::size_t found = 0;
    for (const auto each : exact) found += static_cast<std::size_t>(each);
    const auto exceptions = sample.size() - found;
    const double greatest = *std::ranges::max_element(most);
    const double span = greatest - *std::ranges::min_element(least);
    const auto width = span > 0 ? std::ilogb(span) + 1 : 0;
    return static_cast<double>(sample.size()) * width / 8 + static_cast<double>(exceptions * exception_bytes<T>);
}

// Values spread evenly over the block: `most` of them, or as many as the block has, rounded up to a multiple of eight.
template <class T>
std::span<const T> sampled(std::span<const T> values, std::size_t most, Arena& arena) {
    const auto count = std::min(values.size(), most);
    const auto sample = arena.take<T>((count + 7) / 8 * 8);
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = values[i * values.size() / sample.size()];
    return sample;
}

struct Exponents {
    unsigned exponent, factor;
};

// The sample without NaNs and without the smallest and largest sixteenth of its values, where outliers are.
template <class T>
std::span<const T> trimmed(std::span<const T> sample, Arena& arena) {
    const auto kept = arena.take<T>(sample.size());
    const auto end = std::ranges::copy_if(sample, kept.begin(), [](T value) { return value == value; }).out;
    const auto numbers = kept.first(static_cast<std::size_t>(end - kept.begin()));
    std::ranges::sort(numbers);
    const auto middle = numbers.subspan(numbers.size() / 16, numbers.size() - 2 * (numbers.size() / 16));
    return middle.first(middle.size() / 8 * 8);
}

// Searches for the best pair of exponent and factor: tries all pairs on a few values, then the best of them on more
// values.
template <class T>
Exponents search(std::span<const T> values, bool outliers, Arena& arena) {
    constexpr unsigned most = sizeof(T) == 8 ? 18 : 10;
    constexpr std::size_t finalists = 6;
    struct Candidate {
        double bytes;
        Exponents pair;
    };
    std::array<Candidate, finalists> best;
    best.fill({std::numeric_limits<double>::infinity(), {0, 0}});
    const auto sample = [&](std::size_t size) {
        const auto whole = sampled(values, size, arena);
        return outliers ? trimmed(whole, arena) : whole;
    };
    const auto few = sample(32);
    for (unsigned exponent = 0; exponent <= most; ++exponent) {
        for (unsigned factor = 0; factor <= exponent; ++factor) {
            const auto bytes = cost(few, Scale<T>(exponent, factor));
            if (bytes >= best.back().bytes) continue;
            best.back() = {bytes, {exponent, factor}};
            std::ranges::stable_sort(best, {}, &Candidate::bytes);
        }
    }
    const auto more = sample(512);
    for (auto& each : best) each.bytes = cost(more, Scale<T>(each.pair.exponent, each.pair.factor));
    return std::ranges::min_element(best, {}, &Candidate::bytes)->pair;
}

}  // namespace amudai::numeric::alp
