// Conversion of lists of rows to ranges. The ranges ascend, none is empty, and none touches the next.
#pragma once
#include <bit>
#include <vector>

#include "bits/ranges.hpp"

namespace amudai::text {

// Collects ranges in memory of the caller. Room for one range per integer of the lists, plus one, is always enough.
class RowRanges {
public:
    RowRanges(std::span<std::uint64_t> starts, std::span<std::uint64_t> ends) : starts_(starts), ends_(ends) {}

    std::size_t size() const { return size_; }

    // Adds a range that starts no earlier than the last one. Ranges that touch or overlap are joined.
    void add(std::uint64_t start, std::uint64_t end) {
        if (size_ && start <= ends_[size_ - 1]) {
            ends_[size_ - 1] = std::max(ends_[size_ - 1], end);
        } else {
            starts_[size_] = start;
            ends_[size_++] = end;
        }
    }

    // Appends ascending rows, all of which lie after the ranges collected so far.
    void append(std::span<const std::uint64_t> rows) {
        if (rows.empty()) return;
        auto* const starts = starts_.data();
        auto* const ends = ends_.data();
        auto size = size_;
        std::size_t i = 0;
        if (size == 0) {
            starts[0] = rows[0];
            ends[0] = rows[0] + 1;
            size = i = 1;
        }
        auto end = ends[size - 1];  // a row equal to `end` touches the row before it
        const auto add_rows = [&](std::size_t stop) {
            for (; i < stop; ++i) {  // without a branch
                const auto row = rows[i];
                starts[size] = row;
                size += row != end;
                ends[size - 1] = end = row + 1;
            }
        };
        // Few rows touch the row before them. Usually none of eight rows does, so eight rows are appended at once.
        constexpr std::size_t step = 8;
        while (i + step <= rows.size()) {
            const auto* const next = rows.data() + i;
            std::uint64_t touches = next[0] == end;
            for (std::size_t k = 1; k < step; ++k) touches |= std::uint64_t{next[k] == next[k - 1] + 1};
            if (touches) {
                add_rows(i + step);
                continue;
            }
            end = next[step - 1] + 1;
            for (std::size_t k = 0; k < step; ++k) ends[size + k] = next[k] + 1;
            for (std::size_t k = 0; k < step; ++k) starts[size + k] = next[k];
            size += step;
            i += step;
        }
        add_rows(rows.size());
        size_ = size;
    }

private:
    std::span<std::uint64_t> starts_;
    std::span<std::uint64_t> ends_;
    std::size_t size_ = 0;
};

// Calls use(start, end) for each range of a list. If `pairs` is set, the list holds alternating starts and ends, and a
// last number without a partner is ignored. Otherwise each number is a row.
template <class Use>
void for_each_range(std::span<const std::uint64_t> list, bool pairs, std::uint64_t rows, Use&& use) {
    const auto refuse_row = [&](std::uint64_t found) { refuse("position", "less than " + std::to_string(rows), found); };
    if (!pairs) {
        for (const auto row : list) {
            if (row >= rows) [[unlikely]] refuse_row(row);
            use(row, row + 1);
        }
        return;
    }
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
        if (list[i + 1] > rows) [[unlikely]] refuse_row(list[i + 1] - 1);
        if (list[i] >= list[i + 1]) throw Corrupted("positions: expected a range, found " + std::to_string(list[i]) + ".." + std::to_string(list[i + 1]));
        use(list[i], list[i + 1]);
    }
}

// Throws Corrupted if a list does not ascend or holds a row that is not less than `rows`.
inline void require_ascending(std::span<const std::uint64_t> list, std::uint64_t rows) {
    std::uint64_t wrong_steps = 0;
    for (std::size_t i = 1; i < list.size(); ++i) wrong_steps |= std::uint64_t{list[i - 1] >= list[i]};
    if (wrong_steps == 0 && (list.empty() || list.back() < rows)) return;
    const auto wrong = std::ranges::find_if(list, [&](std::uint64_t row) { return row >= rows; });
    if (wrong != list.end()) refuse("position", "less than " + std::to_string(rows), *wrong);
    throw Corrupted("positions: expected an ascending list");
}

// Adds the rows of all lists to `out`. The lists are stored back to back in `integers`; list i has `counts[i]` of them.
inline void row_ranges(std::span<const std::uint64_t> integers, std::span<const std::uint64_t> counts,
                       std::span<const std::uint8_t> pairs, std::uint64_t rows, RowRanges& out) {
    const auto each_list = [&](auto&& use) {
        auto rest = integers;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            for_each_range(rest.first(counts[i]), pairs[i] != 0, rows, use);
            rest = rest.subspan(counts[i]);
        }
    };
    if (counts.size() == 1) {
        if (!pairs[0]) {
            require_ascending(integers, rows);
            return out.append(integers);
        }
        std::uint64_t end = 0;
        each_list([&](std::uint64_t start, std::uint64_t stop) {
            if (start < end) throw Corrupted("positions: expected an ascending list, found " + std::to_string(start) + " behind " + std::to_string(end - 1));
            end = stop;
            out.add(start, stop);
        });
        return;
    }
    // A few rows are sorted; many rows are marked in a bitmap.
    if (integers.size() < rows / 256) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
        ranges.reserve(integers.size());
        each_list([&](std::uint64_t start, std::uint64_t stop) { ranges.emplace_back(start, stop); });
        std::ranges::sort(ranges);
        for (const auto& [start, stop] : ranges) out.add(start, stop);
        return;
    }
    std::vector<std::uint64_t> marks(rows / 64 + 1);
    auto* const bitmap = reinterpret_cast<std::uint8_t*>(marks.data());
    each_list([&](std::uint64_t start, std::uint64_t stop) {
        if (stop - start == 1) marks[start / 64] |= std::uint64_t{1} << start % 64;
        else bits::fill(bitmap, start, stop - start, true);
    });
    for (std::size_t word = 0; word < marks.size(); ++word) {
        for (auto left = marks[word]; left;) {
            const auto start = static_cast<unsigned>(std::countr_zero(left));
            const auto size = static_cast<unsigned>(std::countr_one(left >> start));
            out.add(64 * word + start, 64 * word + start + size);
            left = start + size == 64 ? 0 : left >> (start + size) << (start + size);
        }
    }
}

}  // namespace amudai::text
