// Merges the terms of several indexes with their lists as they are. Each index is a source, which is fed some terms at a
// time, in the order of the index.
#pragma once
#include <array>
#include <utility>
#include <vector>

#include "text/term_merge.hpp"
#include "text/term_search.hpp"
#include "text/tournament.hpp"

namespace amudai::text {

// A number for each list, or one for all lists. Most indexes have one stripe, one field and one form of lists, and reading
// as few arrays as possible keeps them in the cache.
template <class T>
struct ListColumn {
    std::span<const T> values;
    T operator[](std::size_t list) const { return values[values.size() == 1 ? 0 : list]; }
};

// Some terms of an index and their lists. Term i has the lists `bounds[i] .. bounds[i + 1]`, or list i if there are no
// bounds. List i has `counts[i]` integers. The integers are in `integers`, and `shifts[i]` is added to each. But of the
// lists `long_lists`, which ascend, the first `copied` integers are in blocks that are copied as they are. `tickets` stand
// for these blocks.
struct TermLists {
    Terms terms;
    std::span<const std::uint64_t> bounds;
    ListColumn<std::uint16_t> stripes;
    ListColumn<std::uint32_t> fields;
    ListColumn<std::uint8_t> forms;
    ListColumn<std::uint64_t> shifts;
    std::span<const std::uint64_t> counts;
    std::span<const std::uint64_t> long_lists;
    std::span<const std::uint64_t> copied;
    std::span<const std::uint64_t> tickets;
    std::span<const std::uint64_t> integers;
};

class TermListMerge {
public:
    // Sources are in the order of their stripes.
    explicit TermListMerge(std::size_t sources) : cursors_(sources), order_(sources) {
        for (std::uint32_t i = 0; i < sources; ++i) hungry_.push_back(i);
    }

    // The sources that must be fed, or ended, before the next step.
    std::span<const std::uint32_t> hungry() const {
        return waits_ ? std::span{&open_source_, 1} : std::span{hungry_};
    }

    bool done() const { return order_.empty() && hungry_.empty(); }

    // Gives a hungry source its next terms. `integers` may end before the last list does, or even before it begins:
    // then `feed_integers` brings the others. The spans must stay valid until the source is hungry again. The caller has
    // checked that bounds and counts lie within them.
    void feed(std::uint32_t source, const TermLists& lists) {
        require_hungry(source);
        if (waits_) throw std::invalid_argument("source: expected integers of the open list");
        auto& cursor = cursors_[source];
        cursor.batch = lists;
        cursor.term = cursor.used = cursor.next_long = 0;
        if (lists.terms.count() == 0) return;
        std::erase(hungry_, source);
        read_head(cursor);
        order_.enter(source, cursor.key);
    }

    // Gives the source of the open term more integers of its lists.
    void feed_integers(std::uint32_t source, std::span<const std::uint64_t> integers) {
        require_hungry(source);
        if (!waits_) throw std::invalid_argument("source: expected terms");
        cursors_[source].batch.integers = integers;
        cursors_[source].used = 0;
        waits_ = integers.empty();
    }

    // Says that a hungry source has no more terms.
    void end(std::uint32_t source) {
        require_hungry(source);
        if (waits_) throw std::invalid_argument("source: expected integers of the open list");
        std::erase(hungry_, source);
    }

    // Returns the next slice. It begins at most `terms` terms, and ends soon after it has `integers` integers or when a
    // source is hungry.
    MergeSlice next(std::size_t terms, std::size_t integers) {
        MergeSlice out;
        if (waits_) return out;
        order_.play(IsBefore{cursors_});
        reserve(out, terms);
        out.continues = is_list_open_;
        if (is_list_open_) {
            out.begins.push_back(0);
            emit(out, integers);
            if (is_list_open_) return out;
        }
        for (;;) {
            const bool full = out.integers.size() >= integers;
            if (list_ == last_list_) {
                if (order_.empty()) break;
                const bool begins = !same_term();
                // The next term may be one that a hungry source has.
                if (begins && !hungry_.empty()) break;
                if (full || (begins && out.lengths.size() == terms)) {
                    out.whole_terms = begins;
                    return out;
                }
                if (begins) begin_term(out);
                begins_ = begins;
                open_entry();
            } else if (full) {
                return out;
            }
            if (!begin_list()) return out;
            out.begins.push_back(std::exchange(begins_, false));
            emit(out, integers);
            if (is_list_open_) return out;
        }
        out.whole_terms = true;
        return out;
    }

private:
    static constexpr std::size_t most_term_bytes = 255;

    // Makes room for what most slices have.
    static void reserve(MergeSlice& out, std::size_t terms) {
        constexpr std::size_t most = std::size_t{1} << 16, lists = 2, bytes = 16;
        terms = std::min(terms, most);
        out.terms.reserve(bytes * terms);
        out.lengths.reserve(terms);
        out.begins.reserve(lists * terms);
        out.stripes.reserve(lists * terms);
        out.fields.reserve(lists * terms);
        out.forms.reserve(lists * terms);
        out.is_long.reserve(lists * terms);
        out.counts.reserve(lists * terms);
        out.copied.reserve(lists * terms);
        out.tickets.reserve(lists * terms);
    }

    // The terms that a source was fed, and how far they are merged.
    struct Cursor {
        TermLists batch;
        std::size_t term = 0;  // the next term
        std::size_t used = 0;  // integers that are merged
        std::size_t next_long = 0;  // the next of the long lists
        std::uint64_t key = 0;
        Bytes bytes;  // of the next term
    };

    // The order of two sources whose next terms have the same key.
    struct IsBefore {
        const std::vector<Cursor>& cursors;
        bool operator()(std::uint32_t one, std::uint32_t other) const {
            const auto order = compare_terms(cursors[one].bytes, cursors[other].bytes);
            return order != 0 ? order < 0 : one < other;
        }
    };

    void require_hungry(std::uint32_t source) const {
        const auto known = hungry();
        if (std::ranges::find(known, source) == known.end()) throw std::invalid_argument("source: expected a hungry one");
    }

    static void read_head(Cursor& cursor) {
        cursor.bytes = cursor.batch.terms[cursor.term];
        if (cursor.bytes.size() > most_term_bytes) {
            throw Corrupted("term: expected at most 255 bytes, found " + std::to_string(cursor.bytes.size()));
        }
        cursor.key = fold_key(cursor.bytes);
    }

    // ---- the source with the first term ----

    Cursor& top() { return cursors_[order_.top()]; }
    const Cursor& top() const { return cursors_[order_.top()]; }

    // Asks for what the next terms of a source need. There are more arrays in use than a processor expects.
    void prefetch(const Cursor& cursor) const {
        constexpr std::size_t ahead = 16;
        const auto& batch = cursor.batch;
        if (cursor.term + ahead < batch.terms.count()) {
            __builtin_prefetch(batch.terms.offsets.data() + cursor.term + ahead);
            __builtin_prefetch(batch.terms.data.data() + batch.terms.offsets[cursor.term + ahead / 2]);
        }
        if (list_ + ahead < batch.counts.size()) __builtin_prefetch(batch.counts.data() + list_ + ahead);
        if (cursor.used + 2 * ahead < batch.integers.size()) {
            __builtin_prefetch(batch.integers.data() + cursor.used + 2 * ahead);
        }
    }

    // Moves the source on top to its next term.
    void advance() {
        auto& cursor = top();
        if (++cursor.term < cursor.batch.terms.count()) {
            prefetch(cursor);
            read_head(cursor);
            order_.replace(cursor.key, IsBefore{cursors_});
            return;
        }
        keep_term();
        hungry_.push_back(order_.top());
        order_.leave(IsBefore{cursors_});
    }

    // ---- terms and lists ----

    bool same_term() const {
        return has_term_ && top().key == key_ && compare_bytes(top().bytes, term_) == 0;
    }

    // Copies the open term before the bytes of its source are gone.
    void keep_term() {
        if (term_.empty() || term_.data() == kept_.data()) return;
        std::memcpy(kept_.data(), term_.data(), term_.size());
        term_ = {kept_.data(), term_.size()};
    }

    void begin_term(MergeSlice& out) {
        const auto& next = top();
        // The terms of each source ascend, or the merge would not find equal terms together. The key decides mostly.
        if (has_term_ && next.key <= key_ && (next.key < key_ || compare_terms(next.bytes, term_) <= 0)) {
            throw Corrupted("terms: expected an ascending order");
        }
        term_ = next.bytes;
        key_ = next.key;
        has_term_ = true;
        out.terms.append(term_);
        out.lengths.push_back(static_cast<std::uint32_t>(term_.size()));
    }

    // Opens the term of the source on top.
    void open_entry() {
        const auto& cursor = top();
        const auto& bounds = cursor.batch.bounds;
        list_ = bounds.empty() ? cursor.term : bounds[cursor.term];
        last_list_ = bounds.empty() ? cursor.term + 1 : bounds[cursor.term + 1];
        if (list_ == last_list_) throw Corrupted("term: expected position lists, found none");
    }

    // Opens the next list of the open term. Returns false if its integers must be fed first.
    bool begin_list() {
        auto& cursor = top();
        const auto& batch = cursor.batch;
        count_ = batch.counts[list_];
        const auto at = cursor.next_long;
        const bool has_copies = at < batch.long_lists.size() && batch.long_lists[at] == list_;
        copied_ = has_copies ? batch.copied[at] : 0;
        ticket_ = has_copies ? batch.tickets[at] : 0;
        left_ = count_ - copied_;
        if (left_ && cursor.used == batch.integers.size()) {
            wait();
            return false;
        }
        cursor.next_long += has_copies;
        has_last_ = false;
        return is_list_open_ = true;
    }

    void wait() {
        waits_ = true;
        open_source_ = order_.top();
    }

    // Writes shifted integers of the open list. Throws if they do not ascend.
    void append(std::span<const std::uint64_t> integers, std::uint64_t shift, std::uint64_t* out) {
        if (integers.empty()) return;
        bool is_wrong = has_last_ && integers[0] <= last_;
        out[0] = integers[0] + shift;
        for (std::size_t i = 1; i < integers.size(); ++i) {
            is_wrong |= integers[i] <= integers[i - 1];
            out[i] = integers[i] + shift;
        }
        if (is_wrong) throw Corrupted("position list: expected ascending integers");
        last_ = integers.back();
        has_last_ = true;
    }

    // Writes integers of the open list. A long list is interrupted when the slice has `most` integers.
    void emit(MergeSlice& out, std::size_t most) {
        auto& cursor = top();
        const auto& batch = cursor.batch;
        const bool is_long = count_ >= TermMerge::long_list;
        out.stripes.push_back(batch.stripes[list_]);
        out.fields.push_back(batch.fields[list_]);
        out.forms.push_back(batch.forms[list_]);
        out.is_long.push_back(is_long);
        auto now = std::min<std::uint64_t>(left_, batch.integers.size() - cursor.used);
        if (is_long) now = std::min<std::uint64_t>(now, most > out.integers.size() ? most - out.integers.size() : 0);
        append(batch.integers.subspan(cursor.used, now), batch.shifts[list_], out.integers.extend(now));
        cursor.used += now;
        out.counts.push_back(now + copied_);
        out.copied.push_back(copied_);
        out.tickets.push_back(ticket_);
        copied_ = 0;
        left_ -= now;
        if (left_) {
            if (cursor.used == batch.integers.size()) wait();
            return;
        }
        is_list_open_ = false;
        if (++list_ == last_list_) advance();
    }

    std::vector<Cursor> cursors_;
    Tournament order_;
    std::vector<std::uint32_t> hungry_;
    bool waits_ = false;  // the source on top is hungry for integers of its open term
    std::uint32_t open_source_ = 0;  // its number
    std::uint64_t list_ = 0, last_list_ = 0;  // the lists of the open term that are left; none if no term is open
    Bytes term_;  // the open term, in the batch of a source or in `kept_`
    std::array<std::uint8_t, most_term_bytes> kept_;
    std::uint64_t key_ = 0;
    bool has_term_ = false;
    bool begins_ = false;  // the next list is the first of its term
    bool is_list_open_ = false;
    std::uint64_t count_ = 0;   // integers of the open list
    std::uint64_t copied_ = 0;  // those of them that are copied with their blocks
    std::uint64_t ticket_ = 0;
    std::uint64_t left_ = 0;    // integers of the open list that are not written yet
    std::uint64_t last_ = 0;    // the last integer of the open list, before its shift
    bool has_last_ = false;
};

}  // namespace amudai::text
