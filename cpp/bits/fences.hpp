// Fences say where the items of neighbouring lists begin and end: n + 1 for n lists.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace amudai::bits {

// Writes where the lists of several groups begin and end if only their items are stored, one after the other: 0, then the
// end of each list. Group i has `lengths[i]` lists and one fence more. The fences of a group ascend, and all items can be
// counted with T.
template <class T>
void rebase_fences(std::span<const std::uint64_t> fences, std::span<const std::uint64_t> lengths, T* out) {
    *out++ = 0;
    std::uint64_t done = 0;
    const auto* group = fences.data();
    for (const auto length : lengths) {
        const auto shift = done - group[0];
        for (std::size_t i = 1; i <= length; ++i) *out++ = static_cast<T>(group[i] + shift);
        done = group[length] + shift;
        group += length + 1;
    }
}

}  // namespace amudai::bits
