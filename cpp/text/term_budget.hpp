// Choice of how coarse a list may be. The rows that become doubtful are weighed against the bits that are saved.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace amudai::text {

// How many doubtful rows a saved bit is worth, in units of 2^-16 rows. At price 0 every list stays exact. At the
// highest price every list is as short as possible.
using Price = std::uint64_t;
inline constexpr Price exact_price = 0;
inline constexpr Price lowest_size = std::numeric_limits<Price>::max();

// One way to write a list.
struct Coarseness {
    bool approximate;
    std::uint64_t gap;       // ranges with at most this many rows between them are joined
    std::uint64_t integers;  // how many integers are written
    std::uint64_t doubtful;  // rows that become doubtful
    std::uint64_t bits;      // estimated size of the list
};

// Statistics of the gaps between the rows of a list.
class Gaps {
public:
    void add(std::uint64_t row) {
        if (rows_ == 0) {
            first_ = row;
        } else {
            if (row == last_) return;
            const auto missing = row - last_ - 1;
            const auto width = static_cast<std::size_t>(std::bit_width(missing));
            ++counts_[width];
            missing_[width] += missing;
        }
        last_ = row;
        ++rows_;
    }

    // Writes all ways to write the list to `out`, the exact one first. `as_ranges` says that the exact list holds
    // ranges.
    void ways(bool as_ranges, std::uint64_t long_list, std::vector<Coarseness>& out) const {
        out.clear();
        std::uint64_t ranges = 1, gap_bits = 0, exact_bits = 0;
        for (std::size_t width = 0; width < counts_.size(); ++width) {
            exact_bits += counts_[width] * (width + step_bits);
            if (width) ranges += counts_[width], gap_bits += counts_[width] * (width + step_bits);
        }
        const auto integers = as_ranges ? 2 * ranges : rows_;
        const auto own = as_ranges ? gap_bits + lengths(rows_, ranges) : exact_bits;
        out.push_back({false, 0, integers, 0, size(integers, own, long_list)});
        if (integers <= 2) return;
        // Begin with one range for all rows. Then split it at the gaps, the widest first.
        auto covered = last_ - first_ + 1;
        out.push_back({true, std::numeric_limits<std::uint64_t>::max(), 2, covered, size(2, 0, long_list)});
        ranges = 1, gap_bits = 0;
        for (std::size_t width = counts_.size() - 1; width > 1; --width) {
            if (counts_[width] == 0) continue;
            ranges += counts_[width], gap_bits += counts_[width] * (width + step_bits);
            covered -= missing_[width];
            if (2 * ranges >= integers) break;
            const auto gap = (std::uint64_t{1} << (width - 1)) - 1;
            out.push_back({true, gap, 2 * ranges, covered, size(2 * ranges, gap_bits + lengths(covered, ranges), long_list)});
        }
    }

private:
    // A step to the next number takes about two bits more than the width of the step, once it is compressed.
    static constexpr std::uint64_t step_bits = 2;

    static std::uint64_t lengths(std::uint64_t covered, std::uint64_t ranges) {
        return ranges * (static_cast<std::uint64_t>(std::bit_width(covered / ranges)) + step_bits);
    }

    // Short lists share blocks, in which every number is as wide as a row number.
    std::uint64_t size(std::uint64_t integers, std::uint64_t steps, std::uint64_t long_list) const {
        return integers < long_list ? integers * static_cast<std::uint64_t>(std::bit_width(last_)) : steps;
    }

    std::array<std::uint64_t, 65> counts_{};   // number of gaps by the bit width of their size
    std::array<std::uint64_t, 65> missing_{};  // number of rows in these gaps
    std::uint64_t rows_ = 0, first_ = 0, last_ = 0;
};

// The way with the lowest cost, in doubtful rows and bits, at a price. If several cost the same, the first one.
inline const Coarseness& best_way(const std::vector<Coarseness>& ways, Price price) {
    if (price == exact_price || ways.size() == 1) return ways[0];
    if (price == lowest_size) return ways[1];
    const auto cost = [&](const Coarseness& way) {
        return (static_cast<unsigned __int128>(way.doubtful) << 16) + static_cast<unsigned __int128>(way.bits) * price;
    };
    const auto* best = &ways[0];
    auto least = cost(*best);
    for (const auto& way : ways) {
        const auto found = cost(way);
        if (found < least) best = &way, least = found;
    }
    return *best;
}

}  // namespace amudai::text
