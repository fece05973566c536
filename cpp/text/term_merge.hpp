// Merges runs into one stream of terms and their lists, in the order of the index, one slice at a time.
#pragma once
#include <algorithm>
#include <vector>

#include "base/grown.hpp"
#include "text/collate.hpp"
#include "text/term_budget.hpp"
#include "text/varint.hpp"

namespace amudai::text {

// A run, and the stripe and field of its terms. Runs of one stripe and field must be in the order of their rows.
struct RunSource {
    Bytes bytes;
    std::uint16_t stripe;
    std::uint32_t field;
    std::uint64_t first_row;
};

// What the integers of a list are: rows (`positions`), or the starts and ends of ranges. All rows of `ranges` have the
// term; of the rows of `approximate` ranges, perhaps only some.
enum class Form : std::uint8_t { positions = 0, ranges = 1, approximate = 2 };

// The result of one step of a merge. The lists are stored back to back; `begins[i]` says whether list i is the first of
// a term.
struct MergeSlice {
    Grown<std::uint8_t> terms;
    Grown<std::uint32_t> lengths;
    Grown<std::uint8_t> begins;
    Grown<std::uint16_t> stripes;
    Grown<std::uint32_t> fields;
    Grown<std::uint8_t> forms;
    Grown<std::uint8_t> is_long;
    Grown<std::uint64_t> counts;  // number of integers of each list in this slice
    Grown<std::uint64_t> integers;
    // Of a merge of lists: how many of the integers of each list are in blocks that are copied as they are, and the ticket
    // of these blocks. The others are in `integers`.
    Grown<std::uint64_t> copied;
    Grown<std::uint64_t> tickets;
    bool continues = false;    // the first list continues the last one of the previous slice
    bool whole_terms = false;  // the next slice begins with a new term
};

class TermMerge {
public:
    // Lists of at least this many integers are long. Only long lists may be split between slices.
    static constexpr std::uint64_t long_list = 512;
    // Lists of at least this many rows are written as ranges, if ranges need at most half as many integers.
    static constexpr std::uint64_t least_ranges = 64;

    explicit TermMerge(std::vector<RunSource> sources, Price price = exact_price)
        : sources_(std::move(sources)), price_(price) {
        cursors_.resize(sources_.size());
        for (std::uint32_t i = 0; i < sources_.size(); ++i) {
            cursors_[i].at = sources_[i].bytes.data();
            cursors_[i].end = cursors_[i].at + sources_[i].bytes.size();
            advance(i);
        }
    }

    bool done() const { return heap_.empty() && !open_; }

    // Returns the next slice. It begins at most `terms` terms and ends soon after it has `integers` integers.
    MergeSlice next(std::size_t terms, std::size_t integers) {
        MergeSlice out;
        out.continues = open_;
        if (open_) {
            out.begins.push_back(0);
            describe(out);
            emit(out, integers);
            if (open_) return out;
        }
        while (!heap_.empty()) {
            const bool begins = !same_term();
            const bool full = out.integers.size() >= integers;
            if (full || (begins && out.lengths.size() == terms)) {
                out.whole_terms = begins;
                return out;
            }
            if (begins) {
                begin_term();
                out.terms.append(term_);
                out.lengths.push_back(static_cast<std::uint32_t>(term_.size()));
            }
            gather();
            out.begins.push_back(begins);
            describe(out);
            emit(out, integers);
            if (open_) return out;
        }
        out.whole_terms = true;
        return out;
    }

    // Estimates how many bits the lists take at each price. Consumes the runs: nothing is left to merge afterwards.
    std::vector<std::uint64_t> estimate(std::span<const Price> prices) {
        std::vector<std::uint64_t> bits(prices.size());
        std::uint64_t always = 0;  // bits of the lists that can be written in only one way
        while (!heap_.empty()) {
            if (!same_term()) begin_term();
            gather();
            weigh();
            if (ways_.size() == 1) always += ways_[0].bits;
            else for (std::size_t i = 0; i < prices.size(); ++i) bits[i] += best_way(ways_, prices[i]).bits;
            for (std::size_t i = 0; i < group_.size(); ++i) {
                cursors_[group_[i]].at = ends_[i];
                advance(group_[i]);
            }
        }
        open_ = false;
        for (auto& each : bits) each += always;
        return bits;
    }

private:
    // The current term of a run, and its rows.
    struct Cursor {
        const std::uint8_t* at = nullptr;
        const std::uint8_t* end = nullptr;
        std::uint64_t key = 0;
        Bytes term;
        std::uint64_t rows = 0, ranges = 0;
        std::uint64_t row = 0;  // the next row
    };

    // Reads the head of a run's next term and puts the run back into the heap. Does nothing at the end of the run.
    void advance(std::uint32_t source) {
        auto& cursor = cursors_[source];
        if (cursor.at == cursor.end) return;
        const std::size_t size = *cursor.at++;
        if (size > static_cast<std::size_t>(cursor.end - cursor.at)) throw std::invalid_argument("run: a term has no end");
        cursor.term = {cursor.at, size};
        cursor.at += size;
        cursor.key = fold_key(cursor.term);
        cursor.rows = get_varint(cursor.at, cursor.end);
        cursor.ranges = get_varint(cursor.at, cursor.end);
        if (cursor.rows > 1) static_cast<void>(get_varint(cursor.at, cursor.end));
        cursor.row = sources_[source].first_row + get_varint(cursor.at, cursor.end);
        heap_.push_back(source);
        std::push_heap(heap_.begin(), heap_.end(), After{*this});
    }

    struct After {
        const TermMerge& merge;
        bool operator()(std::uint32_t left, std::uint32_t right) const {
            const auto &a = merge.cursors_[left], &b = merge.cursors_[right];
            if (a.key != b.key) return a.key > b.key;
            const auto order = compare_terms(a.term, b.term);
            if (order != 0) return order > 0;
            const auto &s = merge.sources_[left], &t = merge.sources_[right];
            if (s.stripe != t.stripe) return s.stripe > t.stripe;
            if (s.field != t.field) return s.field > t.field;
            return left > right;
        }
    };

    bool same_term() const {
        if (!has_term_) return false;
        const auto& top = cursors_[heap_.front()];
        return top.key == key_ && top.term.size() == term_.size() && std::memcmp(top.term.data(), term_.data(), term_.size()) == 0;
    }

    void begin_term() {
        const auto& top = cursors_[heap_.front()];
        term_ = top.term;
        key_ = top.key;
        has_term_ = true;
    }

    // Takes the runs of the next list from the heap, and chooses the form of the list.
    void gather() {
        group_.clear();
        std::uint64_t rows = 0, ranges = 0;
        do {
            std::pop_heap(heap_.begin(), heap_.end(), After{*this});
            const auto source = heap_.back();
            heap_.pop_back();
            group_.push_back(source);
            rows += cursors_[source].rows, ranges += cursors_[source].ranges;
        } while (!heap_.empty() && same_term() && sources_[heap_.front()].stripe == sources_[group_.front()].stripe &&
                 sources_[heap_.front()].field == sources_[group_.front()].field);
        form_ = rows >= least_ranges && 4 * ranges <= rows ? Form::ranges : Form::positions;
        auto integers = form_ == Form::ranges ? 2 * ranges : rows;
        gap_ = 0;
        if (price_ != exact_price && integers > 2) {
            weigh();
            if (const auto& way = best_way(ways_, price_); way.approximate) {
                form_ = Form::approximate;
                gap_ = way.gap;
                integers = way.integers;
            }
        }
        is_long_ = integers >= long_list;
        member_ = 0;
        has_last_ = false;
        open_ = true;
    }

    // Reads ahead through the rows of the next list to find all ways to write it.
    void weigh() {
        Gaps gaps;
        ends_.clear();
        for (const auto source : group_) {
            const auto& cursor = cursors_[source];
            const auto* at = cursor.at;
            auto row = cursor.row;
            gaps.add(row);
            for (auto left = cursor.rows; left > 1; --left) gaps.add(row += get_varint(at, cursor.end));
            ends_.push_back(at);
        }
        gaps.ways(form_ == Form::ranges, long_list, ways_);
    }

    void describe(MergeSlice& out) const {
        out.stripes.push_back(sources_[group_.front()].stripe);
        out.fields.push_back(sources_[group_.front()].field);
        out.forms.push_back(static_cast<std::uint8_t>(form_));
        out.is_long.push_back(is_long_);
    }

    // Writes the integers of the open list. A long list is interrupted when the slice has `most` integers.
    void emit(MergeSlice& out, std::size_t most) {
        const auto before = out.integers.size();
        for (; member_ < group_.size(); ++member_) {
            const auto source = group_[member_];
            auto& cursor = cursors_[source];
            while (cursor.rows) {
                if (is_long_ && out.integers.size() >= most) {
                    out.counts.push_back(out.integers.size() - before);
                    return;
                }
                take(cursor.row, out.integers);
                if (--cursor.rows) cursor.row += get_varint(cursor.at, cursor.end);
            }
            advance(source);
        }
        if (form_ != Form::positions) out.integers.push_back(last_ + 1);
        out.counts.push_back(out.integers.size() - before);
        open_ = false;
    }

    void take(std::uint64_t row, Grown<std::uint64_t>& out) {
        if (has_last_) {
            // The values of one row may be spread over two runs.
            if (row == last_) return;
            if (form_ != Form::positions) {
                if (row - last_ - 1 > gap_) {
                    out.push_back(last_ + 1);
                    out.push_back(row);
                }
                last_ = row;
                return;
            }
        }
        out.push_back(row);
        last_ = row;
        has_last_ = true;
    }

    std::vector<RunSource> sources_;
    std::vector<Cursor> cursors_;
    std::vector<std::uint32_t> heap_;
    std::vector<std::uint32_t> group_;  // the runs of the open list
    std::vector<const std::uint8_t*> ends_;  // where the rows of the open list end in each of these runs
    std::vector<Coarseness> ways_;           // ways to write the open list
    Price price_;
    std::uint64_t gap_ = 0;  // ranges of the open list with at most this many rows between them are joined
    std::size_t member_ = 0;
    Bytes term_;
    std::uint64_t key_ = 0;
    bool has_term_ = false;
    bool open_ = false;
    bool is_long_ = false;
    Form form_ = Form::positions;
    std::uint64_t last_ = 0;
    bool has_last_ = false;
};

}  // namespace amudai::text
