// Where a number goes in a table: one multiplication, whose halves together spread sequences, multiples and floats alike.
#pragma once
#include <cstdint>

namespace amudai::bits {

// `shift` leaves as many bits as the table's size has.
constexpr std::uint64_t hash_slot(std::uint64_t key, unsigned shift) {
    const auto product = static_cast<unsigned __int128>(key) * 0x9e3779b97f4a7c15u;
    return (static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64)) >> shift;
}

}  // namespace amudai::bits
