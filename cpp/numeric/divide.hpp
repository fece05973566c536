// Conversion of numbers to a coarser unit without loss.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace amudai::numeric {

// Writes (values[i] - origin) / by, which wraps if it does not fit into `Out`. Returns whether no division left a
// remainder. `by` must be positive.
//
// To divide a multiple of an odd number, multiply by the inverse of that number modulo 2^64. If the dividend is not a
// multiple, the product is too large to be a quotient. This needs no division instruction and vectorises.
template <class Out>
bool divide_exactly(std::span<const std::int64_t> values, std::int64_t origin, std::int64_t by, Out* out) {
    const auto divisor = static_cast<std::uint64_t>(by);
    const auto shift = std::countr_zero(divisor);
    const auto odd = divisor >> shift;
    auto inverse = odd;  // three bits are correct; each step doubles their number
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    // Adding the largest multiple up to 2^63 maps all signed numbers to unsigned ones.
    const auto quotient = (std::uint64_t{1} << 63) / divisor;
    const auto moved = quotient * divisor - static_cast<std::uint64_t>(origin);
    const auto most = ~std::uint64_t{0} / divisor;
    // The highest bit says that a quotient is larger than `most`, which is less than 2^63 unless the divisor is 1. The
    // compiler would make a multiplication of a comparison with `most`, and then not vectorise the loop.
    std::uint64_t rests = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto product = (static_cast<std::uint64_t>(values[i]) + moved) * inverse;
        const auto found = product >> shift | product << (63 - shift) << 1;
        rests |= found | (most - found);
        out[i] = static_cast<Out>(found - quotient);
    }
    return divisor == 1 || rests >> 63 == 0;
}

}  // namespace amudai::numeric
