// Conversion of numbers to a coarser unit without loss.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace amudai::numeric {

// Writes (values[i] - origin) / by, which wraps where `Out` has no room for it; returns whether no value left a rest. `by` > 0.
//
// A multiple of an odd number is divided by multiplying with its inverse modulo 2^64; what is no multiple comes out too
// large. That needs no division and becomes vectors.
template <class Out>
bool divide_exactly(std::span<const std::int64_t> values, std::int64_t origin, std::int64_t by, Out* out) {
    const auto divisor = static_cast<std::uint64_t>(by);
    const auto shift = std::countr_zero(divisor);
    const auto odd = divisor >> shift;
    auto inverse = odd;  // right in three bits; each step doubles them
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    // The largest multiple up to 2^63 moves all signed numbers to unsigned ones.
    const auto quotient = (std::uint64_t{1} << 63) / divisor;
    const auto moved = quotient * divisor - static_cast<std::uint64_t>(origin);
    const auto most = ~std::uint64_t{0} / divisor;
    std::uint64_t rests = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto product = (static_cast<std::uint64_t>(values[i]) + moved) * inverse;
        const auto found = product >> shift | product << (63 - shift) << 1;
        rests |= static_cast<std::uint64_t>(found > most);
        out[i] = static_cast<Out>(found - quotient);
    }
    return rests == 0;
}

}  // namespace amudai::numeric
