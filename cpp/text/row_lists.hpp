// Lists of rows that are stored in numeric blocks, and the rows that several lists have in common.
//
// A block is decoded, used and dropped at once, so only the rows that are found leave the L1 cache.
#pragma once
#include "numeric/run.hpp"
#include "text/row_ranges.hpp"

namespace amudai::text {

// One list of `count` rows, from slot `first` of the first block on. The rows must ascend and be less than `rows`.
class RowList {
public:
    RowList(std::span<const Block> blocks, const Inflated& inflated, std::size_t first, std::size_t count, std::uint64_t rows)
        : blocks_(blocks), inflated_(&inflated), first_(first), left_(count), rows_(rows) {}

    std::size_t left() const { return left_ + rest_.size(); }

    // The next row. The list must have one.
    std::uint64_t front() {
        decode();
        return rest_.front();
    }

    // Skips the rows before `row`. Blocks that hold only such rows are not decoded.
    void skip(std::uint64_t row) {
        while (left()) {
            if (rest_.empty()) pass_blocks(row);
            decode();
            const auto behind = std::ranges::lower_bound(rest_, row);
            rest_ = {behind, rest_.end()};
            if (!rest_.empty()) return;
        }
    }

    // The next rows before `stop`, as many as the current block has. Empty if there are none.
    std::span<const std::uint64_t> take(std::uint64_t stop) {
        if (!left()) return {};
        decode();
        const auto behind = rest_.back() < stop ? rest_.end() : std::ranges::lower_bound(rest_, stop);
        const std::span<const std::uint64_t> taken{rest_.begin(), behind};
        rest_ = {behind, rest_.end()};
        return taken;
    }

private:
    // Decodes the next block if all decoded rows are used up.
    void decode() {
        while (rest_.empty()) {
            const auto& block = blocks_[at_++];
            const auto count = std::min(left_, block.count - first_);
            rest_ = decoded(block, first_, count);
            first_ = 0;
            left_ -= count;
            require_ascending(rest_, rows_);
            if (!rest_.empty()) go_on(rest_.front(), rest_.back());
        }
    }

    // Passes over the blocks that end before `row`. A block does if the next block begins at `row` or earlier.
    void pass_blocks(std::uint64_t row) {
        while (blocks_[at_].count - first_ < left_) {
            const auto& next = blocks_[at_ + 1];
            if (next.count != 0) {
                const auto begin = decoded(next, 0, 1).front();
                if (begin > row) return;
                if (begin != 0) go_on(begin, begin - 1);  // row `begin` itself is still to come
            }
            left_ -= blocks_[at_++].count - first_;
            first_ = 0;
        }
    }

    std::span<const std::uint64_t> decoded(const Block& block, std::size_t first, std::size_t count) {
        return at_block(block.ordinal, [&]() -> std::span<const std::uint64_t> {
            arena_.reset(block.values);
            const auto values = arena_.take<std::uint64_t>(count);
            Context context{*inflated_, arena_, block.begin};
            numeric::decode_section<std::uint64_t>(block.values, block.count, first, values, context);
            numeric::require_all_present(block, arena_);
            return values;
        });
    }

    // Checks that rows `first` to `last` come after all previous rows.
    void go_on(std::uint64_t first, std::uint64_t last) {
        if (any_ && first <= last_) throw Corrupted("positions: expected an ascending list");
        last_ = last;
        any_ = true;
    }

    std::span<const Block> blocks_;
    const Inflated* inflated_;
    std::size_t first_;
    std::size_t left_;  // rows that are not decoded yet
    std::uint64_t rows_;
    std::size_t at_ = 0;
    std::span<const std::uint64_t> rest_;
    std::uint64_t last_ = 0;
    bool any_ = false;
    Arena arena_;
};

// Adds the rows that all lists have, and that `among` has unless it is empty. The first list is short: each of its rows
// is looked up in the other lists.
inline void common_rows_of_few(std::span<RowList> lists, const bits::Ranges& among, RowRanges& out) {
    std::size_t range = 0;
    while (lists[0].left()) {
        for (const auto row : lists[0].take(std::numeric_limits<std::uint64_t>::max())) {
            bool has_all = true;
            if (among.size()) {
                range = bits::seek(among.ends, range, row + 1);
                if (range == among.size()) return;
                has_all = among.starts[range] <= row;
            }
            for (auto& list : lists.subspan(1)) {
                if (!has_all) break;
                list.skip(row);
                if (!list.left()) return;
                has_all = list.front() == row;
            }
            if (has_all) out.append({&row, 1});
        }
    }
}

// Adds the rows that all lists have, and that `among` has unless it is empty. Works on one window of positions at a
// time: the rows of one list are marked in a bitmap, and the rows of the next list are looked up there.
inline void common_rows(std::span<RowList> lists, const bits::Ranges& among, RowRanges& out) {
    if (lists.size() == 1 && among.size() == 0) {
        for (auto& list = lists[0]; list.left();) out.append(list.take(std::numeric_limits<std::uint64_t>::max()));
        return;
    }
    std::ranges::sort(lists, {}, &RowList::left);
    constexpr std::size_t many_more = 64;
    if (lists.back().left() / many_more >= lists.front().left()) return common_rows_of_few(lists, among, out);
    bits::Marks marks;
    std::vector<std::uint64_t> found;
    std::size_t range = 0;
    while (true) {
        std::uint64_t base = 0;
        for (auto& list : lists) {
            if (!list.left()) return;
            base = std::max(base, list.front());
        }
        if (among.size()) {
            range = bits::seek(among.ends, range, base + 1);
            if (range == among.size()) return;
            base = std::max(base, among.starts[range]);
        }
        for (auto& list : lists) list.skip(base);
        const auto stop = base + std::min(bits::Marks::width, std::numeric_limits<std::uint64_t>::max() - base);
        std::size_t next = 0;
        if (among.size()) {
            marks.mark(among, range, base, stop);
        } else {
            marks.clear(base);
            for (auto rows = lists[0].take(stop); !rows.empty(); rows = lists[0].take(stop)) marks.mark(rows);
            next = 1;
        }
        for (; next < lists.size(); ++next) {
            std::size_t count = 0;
            for (auto rows = lists[next].take(stop); !rows.empty(); rows = lists[next].take(stop)) {
                if (found.size() < count + rows.size()) found.resize(count + rows.size());
                for (const auto row : rows) {
                    found[count] = row;
                    count += marks.has(row);
                }
            }
            if (next + 1 == lists.size()) {
                out.append({found.data(), count});
            } else {
                marks.clear(base);
                marks.mark({found.data(), count});
            }
        }
    }
}

}  // namespace amudai::text
