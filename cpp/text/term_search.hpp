// Search for the terms of a page that match a text.
#pragma once
#include <string.h>  // memmem

#include <memory>
#include <utility>
#include <vector>

#include "binary/utf8.hpp"
#include "binary/values.hpp"
#include "text/collate.hpp"
#include "text/tokenize.hpp"

namespace amudai::text {

using Terms = binary::VariableValues<std::int64_t>;

enum class Match : std::uint8_t { equal, prefix, suffix, within };

// The first index of [low, high) for which `is_before` is false, or `high`. `is_before` must be true for every index
// before that one and false for every index after it.
template <class IsBefore>
std::size_t partition(std::size_t low, std::size_t high, IsBefore&& is_before) {
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (is_before(middle)) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The index of the first term that does not sort before `text`. Both are compared case-folded.
inline std::size_t lower_bound(const Terms& terms, Bytes text) {
    return partition(0, terms.count(), [&](std::size_t i) { return compare_folded(terms[i], text) < 0; });
}

// The range of terms that equal `text` or, if `prefix` is set, begin with it. Terms and text are compared case-folded.
// The matching terms are neighbours because the index is sorted by folded terms.
inline std::pair<std::size_t, std::size_t> range_of(const Terms& terms, Bytes text, bool prefix) {
    const auto low = lower_bound(terms, text);
    const auto high = partition(low, terms.count(), [&](std::size_t i) {
        return prefix ? folded_prefix(terms[i], text) : compare_folded(terms[i], text) == 0;
    });
    return {low, high};
}

// Terms that certainly match (`yes`), and terms that may match because they were cut (`maybe`).
struct Matches {
    std::vector<std::uint32_t> yes;
    std::vector<std::uint32_t> maybe;
};

class Matcher {
public:
    // `words` skips terms that are not words, such as the IPv4 addresses of a log, unless the match is `equal`. The
    // parts of an address are terms as well, so they are still found.
    Matcher(Bytes text, Match match, bool folded, bool words) : text_(text), match_(match), folded_(folded), words_(words) {
        if (text.empty()) throw std::invalid_argument("text: expected at least one byte");
        if (folded) append_folded(text, needle_);
        else needle_.assign(text.begin(), text.end());
    }

    // Adds the matches among terms [low, high) to `out`.
    void add(const Terms& terms, std::size_t low, std::size_t high, Matches& out) {
        if (match_ == Match::within) return add_within(terms, low, high, out);
        for (auto i = low; i < high; ++i) {
            const auto term = terms[i];
            const bool may_be_cut = term.size() >= maybe_cut;
            if (skipped(term)) continue;
            switch (match_) {
                case Match::equal:
                    if (!may_be_cut && equal(term)) out.yes.push_back(number(i));
                    if (may_be_cut && begins(text_, term)) out.maybe.push_back(number(i));
                    break;
                case Match::prefix:
                    if (begins(term, text_)) out.yes.push_back(number(i));
                    else if (may_be_cut && begins(text_, term)) out.maybe.push_back(number(i));
                    break;
                default:
                    if (may_be_cut) out.maybe.push_back(number(i));
                    else if (ends(term)) out.yes.push_back(number(i));
            }
        }
    }

private:
    static std::uint32_t number(std::size_t i) { return static_cast<std::uint32_t>(i); }

    bool skipped(Bytes term) const {
        return words_ && match_ != Match::equal && !term.empty() && detail::is_digit(term.front()) &&
               std::memchr(term.data(), '.', term.size());
    }
    bool equal(Bytes term) const {
        return folded_ ? compare_folded(term, text_) == 0 : std::ranges::equal(term, text_);
    }
    bool begins(Bytes whole, Bytes part) const {
        if (folded_) return folded_prefix(whole, part);
        return whole.size() >= part.size() && std::ranges::equal(whole.first(part.size()), part);
    }
    bool ends(Bytes term) {
        const auto ends_with = [&](Bytes whole) {
            return whole.size() >= needle_.size() && std::ranges::equal(whole.last(needle_.size()), needle_);
        };
        if (!folded_) return ends_with(term);
        // Compare from the end while the bytes are ASCII. A multi-byte code point can fold to fewer or more bytes, so
        // from there on the whole term is folded.
        for (std::size_t i = 1; i <= std::min(term.size(), needle_.size()); ++i) {
            const auto byte = term[term.size() - i];
            if (byte >= 0x80) break;
            if (detail::ascii_folds[byte] != needle_[needle_.size() - i]) return false;
            if (i == needle_.size()) return true;
        }
        scratch_.clear();
        append_folded(term, scratch_);
        return ends_with(scratch_);
    }

    // Searches the bytes of all terms in one pass. A hit that reaches from one term into the next does not count.
    void add_within(const Terms& terms, std::size_t low, std::size_t high, Matches& out) {
        if (low >= high) return;
        const auto base = static_cast<std::size_t>(terms.offsets[low]);
        Bytes all{terms.data.data() + base, static_cast<std::size_t>(terms.offsets[high]) - base};
        bool moved = false;
        if (folded_) {
            room(all.size());
            moved = !fold_ascii(all, folded_memory_.get());
            if (moved) {
                scratch_.clear();
                ends_.clear();
                for (auto i = low; i < high; ++i) {
                    append_folded(terms[i], scratch_);
                    ends_.push_back(scratch_.size());
                }
                all = scratch_;
            } else {
                all = {folded_memory_.get(), all.size()};
            }
        }
        const auto end_of = [&](std::size_t i) {
            return moved ? ends_[i - low] : static_cast<std::size_t>(terms.offsets[i + 1]) - base;
        };
        auto term = low;
        // Passes over the terms before `stop`, which have no hit. Those that were cut may still match.
        const auto pass = [&](std::size_t stop) {
            for (; term < stop; ++term) {
                if (terms.length(term) >= maybe_cut && !skipped(terms[term])) out.maybe.push_back(number(term));
            }
        };
        for (std::size_t at = 0; at < all.size();) {
            const auto* const hit = static_cast<const std::uint8_t*>(
                ::memmem(all.data() + at, all.size() - at, needle_.data(), needle_.size()));
            if (!hit) break;
            const auto found = static_cast<std::size_t>(hit - all.data());
            auto owner = term;
            // The steps double, so the term of the hit is found quickly whether it is near or far.
            for (std::size_t step = 1; owner < high && end_of(owner) <= found; step *= 2) {
                if (owner + step < high && end_of(owner + step) <= found) owner += step;
                else ++owner, step = 1;
            }
            if (owner == high) break;
            pass(owner);
            if (found + needle_.size() > end_of(owner)) {
                at = found + 1;
                continue;
            }
            if (!skipped(terms[owner])) out.yes.push_back(number(owner));
            at = end_of(owner);
            term = owner + 1;
            if (term == high) break;
        }
        pass(high);
    }

    // Folds the ASCII letters of `from` into `to`. Returns whether all bytes are ASCII.
    static bool fold_ascii(Bytes from, std::uint8_t* to) {
        std::uint8_t seen = 0;
        for (std::size_t i = 0; i < from.size(); ++i) {
            const auto byte = from[i];
            seen |= byte;
            to[i] = static_cast<std::uint8_t>(byte ^ (static_cast<std::uint8_t>(byte - 'a') < 26 ? 0x20 : 0));
        }
        return seen < 0x80;
    }
    void room(std::size_t size) {
        if (size <= folded_size_) return;
        folded_memory_ = std::make_unique_for_overwrite<std::uint8_t[]>(size);
        folded_size_ = size;
    }

    Bytes text_;
    std::unique_ptr<std::uint8_t[]> folded_memory_;
    std::size_t folded_size_ = 0;
    std::vector<std::uint8_t> needle_;
    std::vector<std::uint8_t> scratch_;
    std::vector<std::size_t> ends_;
    Match match_;
    bool folded_;
    bool words_;
};

}  // namespace amudai::text
