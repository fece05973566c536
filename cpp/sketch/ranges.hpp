// The least and the greatest number of each group of slots, for the range index. Definitions: docs/format/indexes.md.
#pragma once
#include <array>
#include <concepts>

#include "binary/values.hpp"

namespace amudai::sketch {

// Up to 64 slots with each null replaced by a value that changes no bound: NaN, or one of the valid values. At least
// one slot must be valid.
template <class T>
const T* without_nulls(const T* values, std::size_t count, std::uint64_t valid, std::array<T, 64>& filled) {
    if (static_cast<std::size_t>(std::popcount(valid)) == count) return values;
    T filler = values[std::countr_zero(valid)];
    if constexpr (std::floating_point<T>) filler = std::numeric_limits<T>::quiet_NaN();
    for (std::size_t i = 0; i < count; ++i) filled[i] = valid >> i & 1 ? values[i] : filler;
    return filled.data();
}

// Integers that sort as the values do. For floats these are the bits, with the order of negative numbers reversed.
// Loops over integers vectorise. Loops over floats do not, because compilers must keep their order of evaluation.
template <class T>
struct Order {
    using Key = T;
    static Key key(T value) { return value; }
    static T value(Key key) { return key; }
    static Key nan(Key) { return 0; }
};
template <std::floating_point T>
struct Order<T> {
    using Key = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    static Key turned(Key bits) { return bits ^ ((bits >> (8 * sizeof(Key) - 1)) & std::numeric_limits<Key>::max()); }
    static Key key(T value) { return turned(std::bit_cast<Key>(value)); }
    static T value(Key key) { return std::bit_cast<T>(turned(key)); }
    // All bits set for a NaN, none for a number.
    static Key nan(Key key) {
        constexpr auto infinity = std::bit_cast<Key>(std::numeric_limits<T>::infinity());
        return -static_cast<Key>(key > infinity) | -static_cast<Key>(key < -infinity - 1);
    }
};

// The bounds of all numbers taken. They are meaningless before the first number.
template <class T>
struct Bounds {
    using Key = typename Order<T>::Key;
    Key low = std::numeric_limits<Key>::max();
    Key high = std::numeric_limits<Key>::lowest();
    std::size_t numbers = 0;

    // Takes at most 65535 values.
    void take(const T* values, std::size_t count) {
        auto least = low, greatest = high;
        Key nans = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto key = Order<T>::key(values[i]);
            const auto nan = Order<T>::nan(key);
            // Masks instead of conditions, for which the compiler would keep a branch.
            least = std::min(least, static_cast<Key>((key & ~nan) | (std::numeric_limits<Key>::max() & nan)));
            greatest = std::max(greatest, static_cast<Key>((key & ~nan) | (std::numeric_limits<Key>::lowest() & nan)));
            if constexpr (std::floating_point<T>) nans -= nan;
        }
        low = least, high = greatest;
        numbers += count - static_cast<std::size_t>(nans);
    }

    T least() const { return Order<T>::value(low); }
    T greatest() const { return Order<T>::value(high); }
};

// 0.0 or -0.0, which are equal: whichever comes last in the slots.
template <std::floating_point T>
T last_zero(std::span<const T> values, const Validity& validity, std::size_t first) {
    for (auto i = values.size(); i-- > 0;) {
        if (values[i] == 0 && validity.at_slot(first + i)) return values[i];
    }
    return 0;
}

// Writes an entry for each group of `span` slots; the last group may be smaller. Nulls and NaNs are invalid. Without a
// valid slot, both bounds are 0.
template <class T>
void range_minmax(std::span<const T> values, const Validity& validity, std::size_t span, T* least, T* greatest,
                  std::uint16_t* invalid) {
    std::array<T, 64> filled;
    for (std::size_t first = 0; first < values.size(); first += span) {
        const auto range = values.subspan(first, std::min(span, values.size() - first));
        Bounds<T> bounds;
        if (!validity.bitmap) bounds.take(range.data(), range.size());
        auto valid = bounds.numbers;
        for (std::size_t i = 0; validity.bitmap && i < range.size(); i += 64) {
            const auto count = std::min<std::size_t>(64, range.size() - i);
            const auto word = validity.word(first + i, count);
            if (word == 0) continue;
            valid += static_cast<std::size_t>(std::popcount(word));
            bounds.take(without_nulls(range.data() + i, count, word, filled), count);
        }
        if constexpr (std::floating_point<T>) valid = bounds.numbers;
        *least = valid ? bounds.least() : 0;
        *greatest = valid ? bounds.greatest() : 0;
        if constexpr (std::floating_point<T>) {
            if (valid && *least == 0) *least = last_zero(range, validity, first);
            if (valid && *greatest == 0) *greatest = last_zero(range, validity, first);
        }
        *invalid++ = static_cast<std::uint16_t>(range.size() - valid);
        ++least, ++greatest;
    }
}

}  // namespace amudai::sketch
