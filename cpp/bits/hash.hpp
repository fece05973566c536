// A hash of numbers for tables. It takes one multiplication; combining both halves of the product spreads sequences,
// multiples and floats equally well.
#pragma once
#include <cstdint>

namespace amudai::bits {

// The slot of `key` in a table of 2^n slots, for a `shift` of 64 - n.
constexpr std::uint64_t hash_slot(std::uint64_t key, unsigned shift) {
    const auto product = static_cast<unsigned __int128>(key) * 0x9e3779b97f4a7c15u;
    return (static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64)) >> shift;
}

}  // namespace amudai::bits
