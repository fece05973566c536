// Statistics for the choice of an encoding, from one pass over the values.
#pragma once
#include <numeric>
#include <optional>
#include <vector>

#include "bits/hash.hpp"
#include "numeric/encode_run.hpp"

namespace amudai::numeric {

using Wide = __int128;  // differences of 64-bit values need 65 bits

// The least and the greatest of the values seen.
template <class T>
struct MinMax {
    T least, most;
    void add(MinMax other) { least = std::min(least, other.least), most = std::max(most, other.most); }
};

// Nulls count as the value before them.
template <class T>
struct Summary {
    std::size_t nulls = 0;
    std::size_t runs = 0;
    std::size_t distinct = 0;  // exact up to Distincts::most; for more values, one more than that
    std::optional<MinMax<T>> range;  // of the values that are not NaN
    std::optional<MinMax<Wide>> deltas;
    std::uint64_t divisor = 0;  // greatest common divisor of all distances between values; 0 if all are equal
};

// Counts distinct values, up to a bound.
template <class T>
class Distincts {
public:
    static constexpr std::size_t most = 4096;

    std::size_t count() const { return count_; }
    void add(std::span<const T> values) {
        for (const auto value : values) {
            if (count_ > most) return;
            add(bits_of(value));
        }
    }

private:
    using U = unsigned_of<T>;
    static constexpr std::size_t slots = 4 * most;

    void add(U key) {
        if constexpr (sizeof(U) <= 2) {
            count_ += !seen_[key];
            seen_[key] = true;
        } else {
            // Zero marks a vacant slot, so the key 0 is counted separately.
            if (key == 0) {
                count_ += !zero_;
                zero_ = true;
                return;
            }
            for (std::size_t at = bits::hash_slot(key, 50);; at = (at + 1) % slots) {
                if (keys_[at] == key) return;
                if (keys_[at] == 0) {
                    keys_[at] = key;
                    ++count_;
                    return;
                }
            }
        }
    }

    std::size_t count_ = 0;
    bool zero_ = false;
    std::vector<U> keys_ = std::vector<U>(sizeof(U) <= 2 ? 0 : slots);
    std::vector<std::uint8_t> seen_ = std::vector<std::uint8_t>(sizeof(U) <= 2 ? 65536 : 0);
};

// The greatest common divisor of the numbers added. Tests without a division whether a number is a multiple.
class Divisor {
public:
    std::uint64_t value() const { return value_; }
    void add(std::uint64_t number) {
        if (std::rotr(number * inverse_, shift_) <= limit_) [[likely]] return;
        value_ = std::gcd(value_, number);
        shift_ = std::countr_zero(value_);
        const auto odd = value_ >> shift_;
        // Newton's iteration: three bits are correct at first, and each step doubles their number.
        inverse_ = odd;
        for (unsigned step = 0; step < 5; ++step) inverse_ *= 2 - odd * inverse_;
        limit_ = std::numeric_limits<std::uint64_t>::max() / value_;
    }

private:
    std::uint64_t value_ = 0;
    std::uint64_t inverse_ = 1;
    std::uint64_t limit_ = 0;
    int shift_ = 0;
};

template <class T>
MinMax<T> range_of(std::span<const T> values) {
    if constexpr (std::integral<T>) {
        const auto [least, most] = min_max(values);
        return {least, most};
    } else {
        // Comparisons with NaN are false, so NaN leaves no trace. Lanes let the loop vectorise: compilers do not
        // reorder operations on floats.
        constexpr std::size_t lanes = 8;
        constexpr auto infinity = std::numeric_limits<T>::infinity();
        T least[lanes], most[lanes];
        std::ranges::fill(least, infinity);
        std::ranges::fill(most, -infinity);
        const auto take = [&](std::size_t lane, T value) {
            least[lane] = value < least[lane] ? value : least[lane];
            most[lane] = value > most[lane] ? value : most[lane];
        };
        std::size_t at = 0;
        for (; at + lanes <= values.size(); at += lanes) {
            for (std::size_t lane = 0; lane < lanes; ++lane) take(lane, values[at + lane]);
        }
        for (; at < values.size(); ++at) take(0, values[at]);
        return {*std::ranges::min_element(least), *std::ranges::max_element(most)};
    }
}

// The range of the differences between neighbours, computed without overflow.
template <class T>
MinMax<Wide> deltas_of(std::span<const T> values) {
    using U = unsigned_of<T>;
    if constexpr (sizeof(T) == 8) {
        auto least = std::numeric_limits<std::int64_t>::max();
        auto most = std::numeric_limits<std::int64_t>::min();
        std::uint64_t overflow = 0;
        for (std::size_t i = 1; i < values.size(); ++i) {
            const auto to = static_cast<U>(values[i]), from = static_cast<U>(values[i - 1]);
            const auto delta = to - from;
            // The highest bit is set if the sign of the true difference is not the sign of `delta`.
            if constexpr (std::signed_integral<T>) overflow |= (to ^ from) & (to ^ delta);
            else overflow |= ((~to & from) | ((~to | from) & delta)) ^ delta;
            least = std::min(least, static_cast<std::int64_t>(delta));
            most = std::max(most, static_cast<std::int64_t>(delta));
        }
        if (!(overflow >> 63)) return {least, most};
    }
    using Exact = std::conditional_t<sizeof(T) == 8, Wide, std::int64_t>;
    const auto delta = [&](std::size_t i) { return static_cast<Exact>(values[i]) - static_cast<Exact>(values[i - 1]); };
    MinMax<Exact> found{delta(1), delta(1)};
    for (std::size_t i = 2; i < values.size(); ++i) found.add({delta(i), delta(i)});
    return {found.least, found.most};
}

template <class T>
Summary<T> analyze(std::span<const T> values, Validity validity) {
    Summary<T> summary;
    if (values.empty()) return summary;
    summary.nulls = validity.nulls(0, values.size());
    summary.runs = 1;
    Distincts<T> distinct;
    Divisor divisor;
    // A tile stays in the L1 cache while several loops go over it. Each tile begins with the last value of the previous
    // one.
    constexpr std::size_t tile = 2048;
    T filled[tile];
    auto last = summary.nulls ? first_valid(values, validity, 0, values.size()) : values.front();
    const auto origin = last;
    for (std::size_t first = 0; first == 0 || first + 1 < values.size(); first += tile - 1) {
        const auto count = std::min(tile, values.size() - first);
        auto part = values.subspan(first, count);
        if (summary.nulls) {
            if (first) filled[0] = last;
            const auto from = first ? 1 : 0;
            fill_nulls(values, validity, first + from, last, std::span<T>(filled + from, count - from));
            part = std::span<const T>(filled, count);
        }
        const auto range = range_of(part);
        if (range.least <= range.most) {
            if (summary.range) summary.range->add(range);
            else summary.range = range;
        }
        unsigned_of<T> changes = 0;  // at most 255 at a time, which fits into one byte
        for (std::size_t at = 1; at < count;) {
            const auto end = std::min<std::size_t>(count, at + 255);
            for (changes = 0; at < end; ++at) changes += bits_of(part[at]) != bits_of(part[at - 1]);
            summary.runs += changes;
        }
        distinct.add(part);
        if constexpr (std::integral<T>) {
            if (count > 1) {
                const auto deltas = deltas_of(part);
                if (summary.deltas) summary.deltas->add(deltas);
                else summary.deltas = deltas;
            }
            for (std::size_t i = 0; i < count && divisor.value() != 1; ++i) {
                using U = unsigned_of<T>;
                const auto value = static_cast<U>(part[i]), from = static_cast<U>(origin);
                divisor.add(part[i] < origin ? static_cast<U>(from - value) : static_cast<U>(value - from));
            }
        }
    }
    summary.distinct = distinct.count();
    summary.divisor = divisor.value();
    return summary;
}

}  // namespace amudai::numeric
