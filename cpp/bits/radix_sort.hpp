// Radix sort of numbers, several times as fast as sorting by comparison for thousands of them.
#pragma once
#include <utility>

#include "base/context.hpp"

namespace amudai::bits {

// Sorts `keys` in ascending order, and reorders `numbers` with them.
template <class U>
void radix_sort(std::span<U> keys, std::span<std::uint32_t> numbers, Arena& arena) {
    auto other_keys = arena.take<U>(keys.size());
    auto other_numbers = arena.take<std::uint32_t>(keys.size());
    U all = static_cast<U>(~U{0}), any = 0;
    for (const auto key : keys) all &= key, any |= key;
    const auto keys_in = keys;
    const auto numbers_in = numbers;
    for (unsigned shift = 0; shift < 8 * sizeof(U); shift += 8) {
        if (((any & static_cast<U>(~all)) >> shift & 0xff) == 0) continue;  // all keys have the same digit here
        std::uint32_t starts[256] = {};
        for (const auto key : keys) ++starts[key >> shift & 0xff];
        std::uint32_t next = 0;
        for (auto& start : starts) next += std::exchange(start, next);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto to = starts[keys[i] >> shift & 0xff]++;
            other_keys[to] = keys[i];
            other_numbers[to] = numbers[i];
        }
        std::swap(keys, other_keys);
        std::swap(numbers, other_numbers);
    }
    if (keys.data() == keys_in.data()) return;
    std::ranges::copy(keys, keys_in.begin());
    std::ranges::copy(numbers, numbers_in.begin());
}

}  // namespace amudai::bits
