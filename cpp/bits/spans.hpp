// Which blocks hold these positions? Ranges of positions, cut where blocks end.
#pragma once
#include "bits/ranges.hpp"

namespace amudai::bits {

// Calls add(block, first, count) for each piece of a range: `count` positions from the `first` of a block on. Block i
// holds the values [i] .. [i + 1] of `ends`, which ascend from 0; a value makes `unit` positions. No range goes beyond.
template <class Add>
void each_span(std::span<const std::uint64_t> ends, const Ranges& ranges, std::uint64_t unit, Add&& add) {
    std::size_t block = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const auto start = ranges.starts[i], stop = ranges.ends[i];
        block = seek(ends, block, start / unit + 1) - 1;
        for (auto at = start; at < stop; ++block) {
            const auto base = ends[block] * unit;
            // Not `ends[block + 1] * unit` before it is known to be small enough.
            const auto end = ends[block + 1] >= stop / unit + (stop % unit != 0) ? stop : ends[block + 1] * unit;
            add(block, at - base, end - at);
            at = end;
        }
        --block;  // the next range may begin in the same one
    }
}

}  // namespace amudai::bits
