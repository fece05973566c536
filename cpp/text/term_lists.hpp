// Merges the terms of several indexes with their lists as they are. Each index is a run of its own, which is never
// stored in a shard: an entry for each term, in the order of the index. An entry begins with the term's length (u8) and
// bytes. Then come varints: the number of lists and, for each list, its stripe, field and form, and the number of its
// integers. The first integers of a list may be in blocks that are copied as they are: their number and the ticket of
// these blocks follow, or 0 and 0. Then come the other integers: the first, and the distance from each to the next.
//
// A run consists of pieces. No term, number or list head is cut between two pieces.
#pragma once
#include "base/bytes.hpp"
#include "base/sink.hpp"
#include "text/term_merge.hpp"
#include "text/term_search.hpp"

namespace amudai::text {

// The lists of some terms. List i has `counts[i]` integers, of which the first `copied[i]` are in blocks and the others in
// `integers`. Term i has the lists `bounds[i] .. bounds[i + 1]`.
struct TermLists {
    std::span<const std::uint64_t> bounds;
    std::span<const std::uint16_t> stripes;
    std::span<const std::uint32_t> fields;
    std::span<const std::uint8_t> forms;
    std::span<const std::uint64_t> counts;
    std::span<const std::uint64_t> copied;
    std::span<const std::uint64_t> tickets;
    std::span<const std::uint64_t> integers;
};

// Appends terms with their lists to a run. Throws if the integers of a list do not ascend. The caller has checked that
// bounds and counts lie within the spans.
inline void append_term_lists(const Terms& terms, const TermLists& lists, Sink& out) {
    std::size_t used = 0;
    for (std::size_t entry = 0; entry < terms.count(); ++entry) {
        const auto term = terms[entry];
        if (term.size() > 255) throw Corrupted("term: expected at most 255 bytes, found " + std::to_string(term.size()));
        const auto first = lists.bounds[entry], last = lists.bounds[entry + 1];
        std::uint64_t integers = 0;
        for (auto list = first; list < last; ++list) integers += lists.counts[list] - lists.copied[list];
        const auto most = 1 + term.size() + max_varint * (1 + 6 * (last - first) + integers);
        const auto begin = out.size();
        auto* to = out.extend(most);
        const auto* const from = to;
        *to++ = static_cast<std::uint8_t>(term.size());
        if (!term.empty()) std::memcpy(to, term.data(), term.size());
        to = put_varint(to + term.size(), last - first);
        for (auto list = first; list < last; ++list) {
            to = put_varint(to, lists.stripes[list]);
            to = put_varint(to, lists.fields[list]);
            to = put_varint(to, lists.forms[list]);
            to = put_varint(to, lists.counts[list]);
            to = put_varint(to, lists.copied[list]);
            to = put_varint(to, lists.tickets[list]);
            std::uint64_t before = 0;
            for (std::uint64_t i = 0, own = lists.counts[list] - lists.copied[list]; i < own; ++i) {
                const auto each = lists.integers[used++];
                if (i && each <= before) throw Corrupted("position list: expected ascending integers");
                to = put_varint(to, each - before);
                before = each;
            }
        }
        out.cut(begin + static_cast<std::size_t>(to - from));
    }
}

// Appends more integers of a list to a run: the distance of each to the one before. The first integer of a list has none
// before it.
inline void append_list_steps(std::span<const std::uint64_t> integers, std::uint64_t before, bool begins, Sink& out) {
    const auto begin = out.size();
    auto* to = out.extend(max_varint * integers.size());
    const auto* const from = to;
    for (const auto each : integers) {
        if (!begins && each <= before) throw Corrupted("position list: expected ascending integers");
        to = put_varint(to, begins ? each : each - before);
        before = each;
        begins = false;
    }
    out.cut(begin + static_cast<std::size_t>(to - from));
}

class TermListMerge {
public:
    // Each run is a list of pieces.
    explicit TermListMerge(std::vector<std::vector<Bytes>> runs) : runs_(std::move(runs)) {
        cursors_.resize(runs_.size());
        for (std::uint32_t i = 0; i < cursors_.size(); ++i) advance(i);
    }

    bool done() const { return heap_.empty() && current_ == none && !open_; }

    // Returns the next slice. It begins at most `terms` terms and ends soon after it has `integers` integers.
    MergeSlice next(std::size_t terms, std::size_t integers) {
        MergeSlice out;
        out.continues = open_;
        if (open_) {
            out.begins.push_back(0);
            emit(out, integers);
            if (open_) return out;
        }
        for (;;) {
            const bool full = out.integers.size() >= integers;
            bool begins = false;
            if (current_ == none) {
                if (heap_.empty()) break;
                begins = !same_term();
                if (full || (begins && out.lengths.size() == terms)) {
                    out.whole_terms = begins;
                    return out;
                }
                if (begins) begin_term(out);
                std::pop_heap(heap_.begin(), heap_.end(), After{*this});
                current_ = heap_.back();
                heap_.pop_back();
            } else if (full) {
                return out;
            }
            begin_list();
            out.begins.push_back(begins);
            emit(out, integers);
            if (open_) return out;
        }
        out.whole_terms = true;
        return out;
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    // The current term of a run, and how many of its lists are left.
    struct Cursor {
        const std::uint8_t* at = nullptr;
        const std::uint8_t* end = nullptr;
        std::size_t piece = 0;  // the next piece
        std::uint64_t key = 0;
        Bytes term;
        std::uint64_t lists = 0;
    };

    // Moves on to the next piece at the end of a piece. Returns false at the end of the run.
    bool more(std::uint32_t source) {
        auto& cursor = cursors_[source];
        while (cursor.at == cursor.end) {
            if (cursor.piece == runs_[source].size()) return false;
            const auto piece = runs_[source][cursor.piece++];
            cursor.at = piece.data(), cursor.end = piece.data() + piece.size();
        }
        return true;
    }

    // Reads the head of a run's next term and puts the run back into the heap. Does nothing at the end of the run.
    void advance(std::uint32_t source) {
        auto& cursor = cursors_[source];
        if (!more(source)) return;
        const std::size_t size = *cursor.at++;
        if (size > static_cast<std::size_t>(cursor.end - cursor.at)) throw std::invalid_argument("run: a term has no end");
        cursor.term = {cursor.at, size};
        cursor.at += size;
        cursor.key = fold_key(cursor.term);
        cursor.lists = get_varint(cursor.at, cursor.end);
        if (cursor.lists == 0) throw Corrupted("term: expected position lists, found none");
        heap_.push_back(source);
        std::push_heap(heap_.begin(), heap_.end(), After{*this});
    }

    // Sources are in the order of their stripes.
    struct After {
        const TermListMerge& merge;
        bool operator()(std::uint32_t left, std::uint32_t right) const {
            const auto &a = merge.cursors_[left], &b = merge.cursors_[right];
            if (a.key != b.key) return a.key > b.key;
            const auto order = compare_terms(a.term, b.term);
            return order != 0 ? order > 0 : left > right;
        }
    };

    bool same_term() const {
        if (!has_term_) return false;
        const auto& top = cursors_[heap_.front()];
        return top.key == key_ && top.term.size() == term_.size() && compare_bytes(top.term, term_) == 0;
    }

    void begin_term(MergeSlice& out) {
        const auto& top = cursors_[heap_.front()];
        // The terms of each run ascend, or the merge would not find equal terms together.
        if (has_term_ && compare_terms(top.term, term_) <= 0) throw Corrupted("terms: expected an ascending order");
        term_ = top.term;
        key_ = top.key;
        has_term_ = true;
        out.terms.insert(out.terms.end(), term_.begin(), term_.end());
        out.lengths.push_back(static_cast<std::uint32_t>(term_.size()));
    }

    void begin_list() {
        auto& cursor = cursors_[current_];
        more(current_);
        stripe_ = static_cast<std::uint16_t>(get_varint(cursor.at, cursor.end));
        field_ = static_cast<std::uint32_t>(get_varint(cursor.at, cursor.end));
        form_ = static_cast<std::uint8_t>(get_varint(cursor.at, cursor.end));
        const auto count = get_varint(cursor.at, cursor.end);
        copied_ = get_varint(cursor.at, cursor.end);
        ticket_ = get_varint(cursor.at, cursor.end);
        if (copied_ > count) throw std::invalid_argument("run: more integers are copied than a list has");
        left_ = count - copied_;
        is_long_ = count >= TermMerge::long_list;
        last_ = 0;
        --cursor.lists;
        open_ = true;
    }

    // Writes the integers of the open list. A long list is interrupted when the slice has `most` integers.
    void emit(MergeSlice& out, std::size_t most) {
        out.stripes.push_back(stripe_);
        out.fields.push_back(field_);
        out.forms.push_back(form_);
        out.is_long.push_back(is_long_);
        auto& cursor = cursors_[current_];
        auto now = left_;
        if (is_long_) now = std::min(left_, static_cast<std::uint64_t>(most > out.integers.size() ? most - out.integers.size() : 0));
        const auto before = out.integers.size();
        out.integers.resize(before + now);
        for (auto at = before; at < before + now; ++at) {
            if (cursor.at == cursor.end) more(current_);
            out.integers[at] = last_ += get_varint(cursor.at, cursor.end);
        }
        out.counts.push_back(now + copied_);
        out.copied.push_back(copied_);
        out.tickets.push_back(ticket_);
        copied_ = 0;
        left_ -= now;
        if (left_) return;
        open_ = false;
        if (cursor.lists == 0) {
            const auto source = current_;
            current_ = none;
            advance(source);
        }
    }

    std::vector<std::vector<Bytes>> runs_;
    std::vector<Cursor> cursors_;
    std::vector<std::uint32_t> heap_;
    std::uint32_t current_ = none;  // the run whose lists of the term are being written
    Bytes term_;
    std::uint64_t key_ = 0;
    bool has_term_ = false;
    bool open_ = false;
    bool is_long_ = false;
    std::uint16_t stripe_ = 0;
    std::uint32_t field_ = 0;
    std::uint8_t form_ = 0;
    std::uint64_t copied_ = 0;  // integers of the open list that are copied with their blocks
    std::uint64_t ticket_ = 0;
    std::uint64_t left_ = 0;  // integers of the open list that are not written yet
    std::uint64_t last_ = 0;
};

}  // namespace amudai::text
