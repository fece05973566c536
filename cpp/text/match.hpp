// The text operators of docs/operators.md, such as contains and startswith, applied to many texts in one call.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

#include "binary/utf8.hpp"
#include "text/unicode.hpp"

namespace amudai::text {

enum class Operator { has, hasprefix, hassuffix, contains, startswith, endswith, equals };

inline constexpr std::array<std::pair<std::string_view, Operator>, 7> operators{{
    {"has", Operator::has},
    {"hasprefix", Operator::hasprefix},
    {"hassuffix", Operator::hassuffix},
    {"contains", Operator::contains},
    {"startswith", Operator::startswith},
    {"endswith", Operator::endswith},
    {"equals", Operator::equals},
}};

namespace detail {

using Place = const std::uint8_t*;

// Like text::next, but never reads past `end`. Invalid UTF-8 is read as some code point or other.
inline std::uint32_t next_within(Place& at, Place end) {
    const auto lead = *at;
    if (lead < 0x80) [[likely]] return *at++;
    const std::ptrdiff_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (end - at < size) {
        at = end;
        return 0xfffd;
    }
    const auto code = next(at);
    return code > 0x10ffff ? 0xfffd : code;
}

inline std::uint32_t previous_within(Place& at, Place begin) {
    const auto end = at;
    do --at;
    while (at > begin && (*at & 0xc0) == 0x80);
    auto from = at;
    return next_within(from, end);
}

constexpr bool is_letter(std::uint8_t byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

// Roughly how common a byte is in logs and prose. A search looks for the rarest bytes of the needle first.
inline constexpr auto commonness = [] {
    std::array<std::uint8_t, 256> rank{};
    constexpr std::string_view common = " etaoinsrldcuhmpfg0123456789.b-_:=/vywk,xjqzETAOINSRLDCUHMPFG\"'()[]{}BVYWKXJQZ";
    for (std::size_t i = 0; i < common.size(); ++i) rank[static_cast<std::uint8_t>(common[i])] = static_cast<std::uint8_t>(200 - i);
    return rank;
}();

// A byte of the needle: its position, and how to recognise it in either case.
struct Probe {
    std::size_t at = 0;
    std::uint8_t byte = 0;
    std::uint8_t mask = 0;

    bool operator()(std::uint8_t found) const { return (found | mask) == byte; }
};

}  // namespace detail

// The text to search for.
class Needle {
public:
    Needle(std::string_view text, Operator op, bool case_sensitive)
        : op_(op), case_sensitive_(case_sensitive), bytes_(text.begin(), text.end()) {
        const auto* at = bytes_.data();
        const auto* const end = at + bytes_.size();
        while (at < end) {
            codes_.push_back(folded(detail::next_within(at, end)));
            ascii_ = ascii_ && codes_.back() < 0x80;
        }
        if (codes_.empty()) return;
        // Folding never changes whether a code point belongs to a word, so the folded ends can be tested.
        left_ = is_word(codes_.front()) && (op == Operator::has || op == Operator::hasprefix);
        right_ = is_word(codes_.back()) && (op == Operator::has || op == Operator::hassuffix);
        if (!case_sensitive && ascii_) {
            bytes_.assign(codes_.begin(), codes_.end());
            for (auto& byte : bytes_) byte = detail::is_letter(byte) ? byte | 0x20 : byte;
        }
        choose_probes();
    }

    Operator op() const { return op_; }
    bool empty() const { return codes_.empty(); }
    std::size_t size() const { return bytes_.size(); }
    // Whether comparing bytes is enough to find the needle, apart from the case of ASCII letters.
    bool by_bytes() const { return case_sensitive_ || ascii_; }
    // Whether the needle could match U+0131 or U+017F. They are the only code points beyond ASCII that fold to ASCII:
    // to I and S.
    bool matches_beyond_ascii() const {
        return !case_sensitive_ && ascii_ && std::ranges::any_of(bytes_, [](auto byte) { return byte == 'i' || byte == 's'; });
    }
    const detail::Probe& first() const { return first_; }
    const detail::Probe& second() const { return second_; }

    bool equal_bytes(detail::Place at) const {
        if (case_sensitive_) return std::memcmp(at, bytes_.data(), bytes_.size()) == 0;
        for (std::size_t i = 0; i < bytes_.size(); ++i) {
            const std::uint8_t mask = detail::is_letter(bytes_[i]) ? 0x20 : 0;
            if ((at[i] | mask) != bytes_[i]) return false;
        }
        return true;
    }

    // Whether an occurrence [from, to) in the text [begin, end) has the word boundaries that the operator asks for.
    bool bounded(detail::Place from, detail::Place to, detail::Place begin, detail::Place end) const {
        if (left_ && from > begin && is_word(detail::previous_within(from, begin))) return false;
        return !(right_ && to < end && is_word(detail::next_within(to, end)));
    }

    // If the needle occurs at `at`, the place after it, else null. Compares code point by code point.
    detail::Place after(detail::Place at, detail::Place end) const {
        for (const auto code : codes_) {
            if (at == end || folded(detail::next_within(at, end)) != code) return nullptr;
        }
        return at;
    }

    bool ends(detail::Place begin, detail::Place end) const {
        for (auto code = codes_.rbegin(); code != codes_.rend(); ++code) {
            if (begin == end || folded(detail::previous_within(end, begin)) != *code) return false;
        }
        return true;
    }

    bool within(detail::Place begin, detail::Place end) const {
        for (auto at = begin; at < end; detail::next_within(at, end)) {
            const auto to = after(at, end);
            if (to && bounded(at, to, begin, end)) return true;
        }
        return false;
    }

private:
    std::uint32_t folded(std::uint32_t code) const { return case_sensitive_ ? code : fold(code); }

    void choose_probes() {
        const auto probe = [&](std::size_t at) {
            const bool either = !case_sensitive_ && detail::is_letter(bytes_[at]);
            return detail::Probe{at, bytes_[at], static_cast<std::uint8_t>(either ? 0x20 : 0)};
        };
        const auto rarer = [&](std::size_t a, std::size_t b) { return detail::commonness[bytes_[a]] < detail::commonness[bytes_[b]]; };
        std::size_t best = 0, other = bytes_.size() > 1 ? 1 : 0;
        if (rarer(other, best)) std::swap(best, other);
        for (std::size_t i = 2; i < bytes_.size(); ++i) {
            if (rarer(i, best)) {
                other = best;
                best = i;
            } else if (rarer(i, other)) {
                other = i;
            }
        }
        first_ = probe(best);
        second_ = probe(other);
    }

    Operator op_;
    bool case_sensitive_;
    bool ascii_ = true;
    bool left_ = false;
    bool right_ = false;
    std::vector<std::uint8_t> bytes_;
    std::vector<std::uint32_t> codes_;
    detail::Probe first_, second_;
};

// Calls found(place) for each place in [at, end) where the bytes of the needle occur. `found` returns the place where
// the search goes on.
template <class Found>
void find_bytes(const Needle& needle, detail::Place at, detail::Place end, Found&& found) {
    constexpr std::ptrdiff_t step = 256;
    if (static_cast<std::size_t>(end - at) < needle.size()) return;
    const auto last = end - needle.size() + 1;  // just after the last place where the needle can begin
    const auto first = needle.first(), second = needle.second();
    const auto consider = [&](detail::Place place) { return needle.equal_bytes(place) ? found(place) : place + 1; };
    alignas(64) std::array<std::uint8_t, step> hits;
    while (last - at >= step) {
        const auto a = at + first.at, b = at + second.at;
        std::uint8_t any = 0;
        for (std::ptrdiff_t i = 0; i < step; ++i) {
            hits[i] = static_cast<std::uint8_t>(first(a[i]) & second(b[i]));
            any |= hits[i];
        }
        auto next_at = at + step;
        if (any) [[unlikely]] {
            auto from = at;
            for (std::ptrdiff_t i = 0; i < step; i += 8) {
                if (at + i + 8 <= from) continue;  // the rest of a text that has already matched
                auto word = load<std::uint64_t>(hits.data() + i);
                for (; word; word &= word - 1) {
                    const auto place = at + i + std::countr_zero(word) / 8;
                    if (place >= from) from = consider(place);
                }
            }
            next_at = std::max(next_at, from);
        }
        at = next_at;
    }
    while (at < last) at = first(at[first.at]) && second(at[second.at]) ? consider(at) : at + 1;
}

// Finds the row that holds a byte. Bytes must be asked for in ascending order; the next row may be near or far.
template <class Offset>
class RowOf {
public:
    explicit RowOf(std::span<const Offset> offsets) : offsets_(offsets) {}

    std::size_t operator()(std::size_t at) {
        std::size_t stride = 1;
        while (row_ + stride < offsets_.size() && static_cast<std::size_t>(offsets_[row_ + stride]) <= at) {
            row_ += stride;
            stride *= 2;
        }
        const auto limit = offsets_.begin() + static_cast<std::ptrdiff_t>(std::min(row_ + stride, offsets_.size()));
        const auto behind = std::upper_bound(offsets_.begin() + static_cast<std::ptrdiff_t>(row_), limit, at,
                                             [](std::size_t place, Offset offset) { return place < static_cast<std::size_t>(offset); });
        row_ = static_cast<std::size_t>(behind - offsets_.begin()) - 1;
        return row_;
    }

private:
    std::span<const Offset> offsets_;
    std::size_t row_ = 0;
};

// Sets out[i] to 1 if the operator is true for the text [offsets[i], offsets[i + 1]) of `data`, else to 0.
template <class Offset>
void match(std::span<const Offset> offsets, Bytes data, const Needle& needle, std::span<std::uint8_t> out) {
    const auto begin = [&](std::size_t row) { return data.data() + static_cast<std::size_t>(offsets[row]); };
    const auto each = [&](auto&& is_true) {
        for (std::size_t row = 0; row < out.size(); ++row) out[row] = is_true(begin(row), begin(row + 1));
    };
    if (needle.empty() && needle.op() != Operator::equals) {
        std::ranges::fill(out, std::uint8_t{1});
        return;
    }
    const auto size = static_cast<std::ptrdiff_t>(needle.size());
    switch (needle.op()) {
        case Operator::startswith:
            return each([&](auto from, auto to) {
                return (needle.by_bytes() && to - from >= size && needle.equal_bytes(from)) || needle.after(from, to);
            });
        case Operator::endswith:
            return each([&](auto from, auto to) { return needle.ends(from, to); });
        case Operator::equals:
            return each([&](auto from, auto to) { return needle.after(from, to) == to; });
        default:
            break;
    }
    if (!needle.by_bytes()) {
        // The needle has a code point that is beyond ASCII in either case, so no ASCII text matches.
        return each([&](auto from, auto to) { return !utf8::is_ascii({from, to}) && needle.within(from, to); });
    }
    std::ranges::fill(out, std::uint8_t{0});
    if (out.empty()) return;
    RowOf row_of(offsets);
    find_bytes(needle, begin(0), begin(out.size()), [&](detail::Place place) {
        const auto row = row_of(static_cast<std::size_t>(place - data.data()));
        const auto end = begin(row + 1);
        if (end - place < size || !needle.bounded(place, place + size, begin(row), end)) return place + 1;
        out[row] = 1;
        return end;
    });
    if (!needle.matches_beyond_ascii() || utf8::is_ascii({begin(0), begin(out.size())})) return;
    for (const auto* letter : {"\u0131", "\u017f"}) {
        RowOf letter_row(offsets);
        find_bytes(Needle(letter, Operator::contains, true), begin(0), begin(out.size()), [&](detail::Place place) {
            const auto row = letter_row(static_cast<std::size_t>(place - data.data()));
            if (!out[row]) out[row] = needle.within(begin(row), begin(row + 1));
            return begin(row + 1);
        });
    }
}

// Calls use(from, to) for each word of a text: each maximal run of alphanumeric code points.
template <class Use>
void each_word(Bytes text, Use&& use) {
    const auto begin = text.data(), end = begin + text.size();
    auto from = end;
    for (auto at = begin; at < end;) {
        const auto here = at;
        if (is_word(detail::next_within(at, end))) {
            if (from == end) from = here;
        } else if (from != end) {
            use(from, here);
            from = end;
        }
    }
    if (from != end) use(from, end);
}

}  // namespace amudai::text
