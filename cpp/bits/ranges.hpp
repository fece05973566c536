// Sets of positions as half-open ranges, and their union, intersection and difference. The ranges of a set ascend, none
// is empty, and none touches the next.
#pragma once
#include <bit>

#include "bits/bitmap.hpp"

namespace amudai::bits {

struct Ranges {
    std::span<const std::uint64_t> starts;
    std::span<const std::uint64_t> ends;

    std::size_t size() const { return starts.size(); }
};

// Whether `ranges` is a set as described above. Checked once at the boundary; all functions below rely on it.
inline bool is_sound(const Ranges& ranges) {
    if (ranges.starts.size() != ranges.ends.size()) return false;
    if (ranges.size() == 0) return true;
    std::uint64_t wrong = ranges.starts[0] >= ranges.ends[0];
    const auto *const starts = ranges.starts.data(), *const ends = ranges.ends.data();
    for (std::size_t i = 1; i < ranges.size(); ++i) {
        wrong |= std::uint64_t{ends[i - 1] >= starts[i]} | std::uint64_t{starts[i] >= ends[i]};
    }
    return wrong == 0;
}

// Writes ranges into memory that has room for them.
class RangesOut {
public:
    RangesOut(std::uint64_t* starts, std::uint64_t* ends) : starts_(starts), ends_(ends) {}

    std::size_t size() const { return size_; }
    void add(std::uint64_t start, std::uint64_t end) {
        starts_[size_] = start;
        ends_[size_++] = end;
    }
    // Writes the range whether it is wanted or not, so there must be room for one more.
    void add_if(std::uint64_t start, std::uint64_t end, bool is_wanted) {
        starts_[size_] = start;
        ends_[size_] = end;
        size_ += is_wanted;
    }
    // Adds a range, or extends the last one if the new range touches it.
    void add_or_extend(std::uint64_t start, std::uint64_t end) {
        if (size_ && ends_[size_ - 1] == start) ends_[size_ - 1] = end;
        else add(start, end);
    }
    void add(const Ranges& ranges, std::size_t first, std::size_t last) {
        if (last - first <= 16) {  // for so few numbers a call would take longer than the loop
            for (; first < last; ++first) add(ranges.starts[first], ranges.ends[first]);
            return;
        }
        std::memcpy(starts_ + size_, ranges.starts.data() + first, (last - first) * sizeof(std::uint64_t));
        std::memcpy(ends_ + size_, ranges.ends.data() + first, (last - first) * sizeof(std::uint64_t));
        size_ += last - first;
    }

private:
    std::uint64_t* starts_;
    std::uint64_t* ends_;
    std::size_t size_ = 0;
};

// The first index from `from` on whose value is not less than `value`. Near indexes are tried one by one, far ones with
// steps that double, so a small set passes through a large one in few steps.
inline std::size_t seek(std::span<const std::uint64_t> values, std::size_t from, std::uint64_t value) {
    constexpr std::size_t near = 8;
    const auto size = values.size();
    const auto look = std::min(size, from + near);
    for (; from < look; ++from) {
        if (values[from] >= value) return from;
    }
    std::size_t step = near, low = from;
    while (low + step < size && values[low + step] < value) low += step, step *= 2;
    const auto* const begin = values.data();
    return static_cast<std::size_t>(std::lower_bound(begin + low, begin + std::min(size, low + step), value) - begin);
}

// Skips empty words from bit `at + first` on, as bitmaps are often nearly empty. Returns the new `first`.
inline std::size_t skip_empty(const std::uint8_t* bitmap, std::size_t at, std::size_t count, std::size_t first) {
    if (at % 8) return first;
    constexpr std::size_t words = 8;  // words that are compared together
    for (; first + 64 * words <= count; first += 64 * words) {
        const auto* const group = bitmap + (at + first) / 8;
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < words; ++i) found |= load<std::uint64_t>(group + 8 * i);
        if (found) break;
    }
    while (first + 64 <= count && load<std::uint64_t>(bitmap + (at + first) / 8) == 0) first += 64;
    return first;
}

// Calls add(start, end) for each stretch of set bits among the `count` bits from bit `at` on. Bit `at` is position
// `base`.
template <class Add>
void for_each_stretch(const std::uint8_t* bitmap, std::size_t at, std::size_t count, std::uint64_t base, Add&& add) {
    std::uint64_t start = 0;
    bool inside = false;
    for (std::size_t first = 0; first < count; first += 64) {
        if (!inside) first = skip_empty(bitmap, at, count, first);
        const auto size = std::min<std::size_t>(64, count - first);
        const auto bits = word(bitmap, at + first, size);
        // Bits that differ from the bit before them: a stretch begins or ends there.
        auto turns = bits ^ (bits << 1 | std::uint64_t{inside});
        if (size < 64) turns &= (std::uint64_t{1} << size) - 1;
        for (; turns; turns &= turns - 1) {
            const auto here = base + first + static_cast<std::uint64_t>(std::countr_zero(turns));
            if (inside) add(start, here);
            else start = here;
            inside = !inside;
        }
    }
    if (inside) add(start, base + count);
}

// Adds the positions that `a` or `b` has. `out` must have room for the ranges of both.
inline void unite(const Ranges& a, const Ranges& b, RangesOut& out) {
    std::size_t i = 0, j = 0;
    const auto *one = &a, *other = &b;
    while (i < one->size() && j < other->size()) {
        // `one` is the set whose next range begins first. Its ranges that end before the other set's next range are
        // copied.
        if (other->starts[j] < one->starts[i]) std::swap(one, other), std::swap(i, j);
        const auto apart = seek(one->ends, i, other->starts[j]);
        if (apart > i) {
            out.add(*one, i, apart);
            i = apart;
            continue;
        }
        // The next ranges touch or overlap. Join the whole chain of ranges that do.
        const auto start = one->starts[i];
        auto end = one->ends[i++];
        while (true) {
            if (j < other->size() && other->starts[j] <= end) {
                end = std::max(end, other->ends[j++]);
            } else if (i < one->size() && one->starts[i] <= end) {
                end = std::max(end, one->ends[i++]);
            } else {
                break;
            }
        }
        out.add(start, end);
    }
    out.add(*one, i, one->size());
    out.add(*other, j, other->size());
}

// Adds the positions that `a` and `b` have in common. Meant for sets of which neither has many more ranges than the
// other. Each step looks at the next range of each set and has no branch, since which range ends first is
// unpredictable. `out` must have room for the ranges of both.
inline void intersect_evenly(const Ranges& a, const Ranges& b, RangesOut& out) {
    std::size_t i = 0, j = 0;
    auto found = out;  // a local copy: no write through it can change its size
    while (i < a.size() && j < b.size()) {
        const auto end = a.ends[i], other = b.ends[j];
        const auto start = std::max(a.starts[i], b.starts[j]), stop = std::min(end, other);
        found.add_if(start, stop, start < stop);
        i += end <= other;
        j += other <= end;
    }
    out = found;
}

// A bitmap of the positions in one window. A window is small enough for the bitmap to stay in the L1 cache.
class Marks {
public:
    static constexpr std::uint64_t width = 1 << 17;

    // Begins a window at `base` without any marks.
    void clear(std::uint64_t base) {
        base_ = base;
        std::memset(bits_, 0, sizeof bits_);
    }

    // Marks positions, which must lie in the window.
    void mark(std::span<const std::uint64_t> positions) {
        for (const auto position : positions) {
            const auto bit = position - base_;
            bits_[bit / 64] |= std::uint64_t{1} << bit % 64;
        }
    }

    // Begins a window at `base` and marks the positions of `ranges` in base..stop. `at` must be the first range that
    // ends after `base`, and becomes the first range that ends after `stop`.
    void mark(const Ranges& ranges, std::size_t& at, std::uint64_t base, std::uint64_t stop) {
        clear(base);
        const auto *const starts = ranges.starts.data(), *const ends = ranges.ends.data();
        auto i = at;
        const auto size = ranges.size();
        if (i < size && starts[i] < base && ends[i] <= stop) set(base, ends[i++]);
        for (; i < size && ends[i] <= stop; ++i) {
            const auto start = starts[i] - base;
            if (ends[i] - starts[i] == 1) bits_[start / 64] |= std::uint64_t{1} << start % 64;
            else set(starts[i], ends[i]);
        }
        if (i < size && starts[i] < stop) set(std::max(starts[i], base), stop);
        at = i;
    }

    bool has(std::uint64_t position) const {
        const auto bit = position - base_;
        return bits_[bit / 64] >> bit % 64 & 1;
    }

    template <class Add>
    void each_stretch(std::uint64_t start, std::uint64_t end, Add&& add) const {
        for_each_stretch(reinterpret_cast<const std::uint8_t*>(bits_), start - base_, end - start, start, add);
    }

private:
    void set(std::uint64_t start, std::uint64_t end) {
        fill(reinterpret_cast<std::uint8_t*>(bits_), start - base_, end - start, true);
    }

    std::uint64_t base_ = 0;
    std::uint64_t bits_[width / 64];
};

// Whether `ranges` ranges in first..last lie so close together that marking them pays off.
inline bool are_close(std::uint64_t first, std::uint64_t last, std::size_t ranges) {
    constexpr std::uint64_t distance = 512;
    return (last - first) / distance <= ranges;
}

// Starts at range `at` and adds the ranges of a single position if that position is marked. Stops at the first range
// that has several positions, that begins at or before `base`, or that begins at or after `stop`. Returns the index of
// that range.
inline std::size_t add_marked(const Ranges& ranges, std::size_t at, std::uint64_t base, std::uint64_t stop,
                              const Marks& marks, RangesOut& out) {
    const auto *const starts = ranges.starts.data(), *const ends = ranges.ends.data();
    auto found = out;  // a local copy: no write through it can change its size
    for (; at < ranges.size() && starts[at] < stop && ends[at] - starts[at] == 1 && starts[at] > base; ++at) {
        found.add_if(starts[at], ends[at], marks.has(starts[at]));
    }
    out = found;
    return at;
}

// Adds the positions that both sets have. Meant for ranges that lie close together. The positions of `marked` are
// marked in a bitmap, and those of `asking` are looked up there, so no step waits for the one before it. `out` must
// have room for the ranges of both.
inline void intersect_by_marks(const Ranges& marked, const Ranges& asking, RangesOut& out) {
    Marks marks;
    const auto last = std::min(marked.ends.back(), asking.ends.back());
    std::size_t i = 0, j = 0;
    for (auto base = std::max(marked.starts[0], asking.starts[0]); base < last;) {
        i = seek(marked.ends, i, base + 1);
        base = std::max(base, marked.starts[i]);
        if (base >= last) break;
        j = seek(asking.ends, j, base + 1);
        const auto stop = base + std::min(Marks::width, last - base);
        marks.mark(marked, i, base, stop);
        while (true) {
            j = add_marked(asking, j, base, stop, marks, out);
            if (j == asking.size() || asking.starts[j] >= stop) break;
            // The range may begin before this window, or with its first position. Then it may touch what was found in
            // the previous one.
            const auto start = std::max(asking.starts[j], base), end = std::min(asking.ends[j], stop);
            marks.each_stretch(start, end, [&](auto from, auto to) { out.add_or_extend(from, to); });
            if (asking.ends[j] > stop) break;
            ++j;
        }
        base = stop;
    }
}

// Adds the positions that `a` and `b` have in common. `out` must have room for the ranges of both.
inline void intersect(const Ranges& a, const Ranges& b, RangesOut& out) {
    const auto &few = a.size() <= b.size() ? a : b, &many = a.size() <= b.size() ? b : a;
    constexpr std::size_t many_more = 16, enough = 64;
    if (many.size() / many_more < few.size()) {
        const auto first = std::max(few.starts[0], many.starts[0]), last = std::min(few.ends.back(), many.ends.back());
        if (first >= last) return;
        const bool by_marks = few.size() >= enough && are_close(first, last, few.size() + many.size());
        return by_marks ? intersect_by_marks(few, many, out) : intersect_evenly(few, many, out);
    }
    std::size_t j = 0;
    for (std::size_t i = 0; i < few.size(); ++i) {
        const auto start = few.starts[i], end = few.ends[i];
        j = seek(many.ends, j, start + 1);
        while (j < many.size() && many.starts[j] < end) {
            out.add(std::max(start, many.starts[j]), std::min(end, many.ends[j]));
            if (many.ends[j] > end) break;
            ++j;
        }
    }
}

// How many positions both sets have. Steps through the smaller set, and looks at little of a much larger one.
inline std::uint64_t count_common(const Ranges& a, const Ranges& b) {
    const auto &few = a.size() <= b.size() ? a : b, &many = a.size() <= b.size() ? b : a;
    std::uint64_t found = 0;
    std::size_t j = 0;
    for (std::size_t i = 0; i < few.size(); ++i) {
        const auto start = few.starts[i], end = few.ends[i];
        j = seek(many.ends, j, start + 1);
        for (auto k = j; k < many.size() && many.starts[k] < end; ++k) {
            found += std::min(end, many.ends[k]) - std::max(start, many.starts[k]);
        }
    }
    return found;
}

// Adds the positions that `a` has and `b` does not have. `out` must have room for the ranges of both.
inline void subtract(const Ranges& a, const Ranges& b, RangesOut& out) {
    std::size_t i = 0, j = 0;
    while (i < a.size()) {
        j = seek(b.ends, j, a.starts[i] + 1);
        if (j == b.size()) break;
        const auto apart = seek(a.ends, i, b.starts[j] + 1);
        if (apart > i) {
            out.add(a, i, apart);
            i = apart;
            continue;
        }
        // The ranges overlap. Add what `b` leaves of this range of `a`.
        auto start = a.starts[i];
        const auto end = a.ends[i++];
        for (; j < b.size() && b.starts[j] < end; ++j) {
            if (start < b.starts[j]) out.add(start, b.starts[j]);
            start = b.ends[j];
            if (start >= end) break;
        }
        if (start < end) out.add(start, end);
    }
    out.add(a, i, a.size());
}

// Writes each position of `ranges` to `out`.
inline void positions_of(const Ranges& ranges, std::uint64_t* out) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        for (auto at = ranges.starts[i]; at < ranges.ends[i]; ++at) *out++ = at;
    }
}

// Counts the ranges that ascending positions form. A repeated position counts once. Returns false if the positions do
// not ascend, or if the last one is 2^64 - 1, after which no range can end.
inline bool count_ranges(std::span<const std::uint64_t> positions, std::size_t& count) {
    count = !positions.empty();
    bool ascending = true;
    for (std::size_t i = 1; i < positions.size(); ++i) {
        ascending &= positions[i - 1] <= positions[i];
        count += positions[i] - positions[i - 1] > 1;
    }
    return ascending && (positions.empty() || positions.back() != std::numeric_limits<std::uint64_t>::max());
}

inline void ranges_of_positions(std::span<const std::uint64_t> positions, RangesOut& out) {
    for (std::size_t i = 0; i < positions.size();) {
        const auto start = positions[i];
        auto last = start;
        for (++i; i < positions.size() && positions[i] - last <= 1; ++i) last = positions[i];
        out.add(start, last + 1);
    }
}

// Counts the stretches of set bits: the set bits that have no set bit before them.
inline std::size_t count_stretches(const std::uint8_t* bitmap, std::size_t at, std::size_t count) {
    std::size_t found = 0, first = 0;
    std::uint64_t before = 0;
    const auto count_in = [&](std::uint64_t bits) {
        found += static_cast<std::size_t>(std::popcount(bits & ~(bits << 1 | before)));
        before = bits >> 63;
    };
    if (at % 8 == 0) {
        const auto* in = bitmap + at / 8;
        for (; first + 64 <= count; first += 64, in += 8) count_in(load<std::uint64_t>(in));
    }
    for (; first < count; first += 64) count_in(word(bitmap, at + first, std::min<std::size_t>(64, count - first)));
    return found;
}

// Calls use(bit, count, position) for each range: its start, its size, and the bit at which it begins in a bitmap that
// holds the positions of all ranges back to back.
template <class Use>
void for_each_range(const Ranges& ranges, Use&& use) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const auto count = static_cast<std::size_t>(ranges.ends[i] - ranges.starts[i]);
        use(at, count, ranges.starts[i]);
        at += count;
    }
}

}  // namespace amudai::bits
