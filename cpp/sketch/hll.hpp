// HyperLogLog registers and the hashes that fill them. Bytes: docs/format/statistics.md.
#pragma once
#include "base/checksum.hpp"
#include "binary/values.hpp"

namespace amudai::sketch {

inline std::uint64_t hash(Bytes value, std::uint64_t seed) { return XXH3_64bits_withSeed(value.data(), value.size(), seed); }

// Writes the hash of each value that is not null. Returns the place after the last hash.
template <class Values>
std::uint64_t* hash_values(const Values& values, const Validity& validity, std::uint64_t seed, std::uint64_t* out) {
    for_each_slot(
        values.count(), validity, [&](std::size_t slot) { *out++ = hash(values[slot], seed); }, [](std::size_t) {});
    return out;
}

namespace hll {

inline constexpr std::uint64_t seed = 0x416d7564484c4c31;

// The registers of a sketch, whose number is a power of two. The highest bits of a hash choose a register, and the
// zeros after them give the rank.
class Registers {
public:
    static constexpr std::size_t fewest = 1 << 4, most = 1 << 18;

    explicit Registers(MutableBytes counters)
        : counters_(counters.data()), rest_(64 - static_cast<unsigned>(std::countr_zero(counters.size()))) {
        const auto size = counters.size();
        if (!std::has_single_bit(size) || size < fewest || size > most) {
            throw std::invalid_argument("registers: expected a power of two from 16 to 262144, found " + std::to_string(size));
        }
    }

    void insert(std::uint64_t value) {
        auto& counter = counters_[value >> rest_];
        // An extra bit below the others ends the count of zeros if all of them are clear.
        const auto zeros = std::countl_zero(value << (64 - rest_) | std::uint64_t{1} << (63 - rest_));
        counter = std::max(counter, static_cast<std::uint8_t>(zeros + 1));
    }

private:
    std::uint8_t* counters_;
    unsigned rest_;  // bits of a hash that do not choose the register
};

template <class Values>
void update(const Values& values, const Validity& validity, Registers registers) {
    for_each_slot(
        values.count(), validity, [&](std::size_t slot) { registers.insert(hash(values[slot], seed)); }, [](std::size_t) {});
}

}  // namespace hll
}  // namespace amudai::sketch
