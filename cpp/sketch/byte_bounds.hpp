// The least and the greatest of a stripe's strings or bytes.
#pragma once
#include <optional>
#include <utility>

#include "binary/values.hpp"

namespace amudai::sketch {

// The first eight bytes, most significant first, with zeros behind a shorter value. They decide most comparisons.
inline std::uint64_t leading(Bytes value) {
    if (value.size() >= 8) return __builtin_bswap64(load<std::uint64_t>(value.data()));
    std::uint64_t word = 0;
    if (!value.empty()) std::memcpy(&word, value.data(), value.size());
    return __builtin_bswap64(word);
}

inline bool is_less(Bytes left, Bytes right) {
    const auto common = std::min(left.size(), right.size());
    const auto order = common ? std::memcmp(left.data(), right.data(), common) : 0;
    return order ? order < 0 : left.size() < right.size();
}

// The slots of the least and of the greatest value, in the order of their bytes. Nothing if all are null.
template <class Values>
std::optional<std::pair<std::size_t, std::size_t>> byte_bounds(const Values& values, const Validity& validity) {
    std::optional<std::pair<std::size_t, std::size_t>> found;
    std::uint64_t low = 0, high = 0;
    for_each_slot(
        values.count(), validity,
        [&](std::size_t slot) {
            const auto value = values[slot];
            const auto start = leading(value);
            if (!found) {
                found.emplace(slot, slot);
                low = high = start;
                return;
            }
            if (start < low || (start == low && is_less(value, values[found->first]))) found->first = slot, low = start;
            if (start > high || (start == high && is_less(values[found->second], value))) found->second = slot, high = start;
        },
        [](std::size_t) {});
    return found;
}

}  // namespace amudai::sketch
