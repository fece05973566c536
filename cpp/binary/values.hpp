// Values in Arrow's layout, to be written into blocks: where each value lies, and which slots are null.
#pragma once
#include <bit>

#include "bits/bitmap.hpp"

namespace amudai {

// Bit `at` of `bitmap` belongs to the first slot. Without a bitmap no slot is null.
struct Validity {
    const std::uint8_t* bitmap = nullptr;
    std::size_t at = 0;

    // The bits of slots [first, first + count), at most 64 of them, in the lowest bits of a word.
    std::uint64_t word(std::size_t first, std::size_t count) const {
        const auto mask = ~std::uint64_t{0} >> (64 - count);
        if (!bitmap) return mask;
        const auto from = at + first, shift = from % 8;
        const auto* const bytes = bitmap + from / 8;
        const auto size = (shift + count + 7) / 8;  // at most nine bytes
        std::uint64_t word = 0;
        std::memcpy(&word, bytes, std::min<std::size_t>(size, 8));
        word >>= shift;
        if (size == 9) word |= std::uint64_t{bytes[8]} << (64 - shift);
        return word & mask;
    }
    bool at_slot(std::size_t slot) const { return !bitmap || bits::get(bitmap, at + slot); }
};

// Calls value(slot) or null(slot) for each of `count` slots, in order.
template <class Value, class Null>
void for_each_slot(std::size_t count, const Validity& validity, Value&& value, Null&& null) {
    for (std::size_t first = 0; first < count; first += 64) {
        const auto size = std::min<std::size_t>(64, count - first);
        auto word = validity.word(first, size);
        if (static_cast<std::size_t>(std::popcount(word)) == size) {
            for (std::size_t i = 0; i < size; ++i) value(first + i);
        } else {
            for (std::size_t i = 0; i < size; ++i, word >>= 1) {
                if (word & 1) value(first + i);
                else null(first + i);
            }
        }
    }
}

namespace binary {

template <class Offset>
bool ascend(std::span<const Offset> offsets) {
    bool ascending = true;
    for (std::size_t i = 1; i < offsets.size(); ++i) ascending &= offsets[i - 1] <= offsets[i];
    return ascending;
}

template <class Offset>
bool are_offsets(std::span<const Offset> offsets) {
    return !offsets.empty() && offsets.front() >= 0 && ascend(offsets);
}

template <class Offset>
void require_offsets(std::span<const Offset> offsets) {
    if (offsets.empty() || offsets.front() < 0) throw std::invalid_argument("offsets: expected at least one, and none below 0");
    if (!ascend(offsets)) throw std::invalid_argument("offsets: expected an ascending sequence");
}

// Slot i holds bytes [offsets[i], offsets[i + 1]) of `data`. `checked` validates the offsets.
template <class Offset>
struct VariableValues {
    std::span<const Offset> offsets;
    Bytes data;

    static VariableValues checked(std::span<const Offset> offsets, Bytes data) {
        require_offsets(offsets);
        const auto end = static_cast<std::size_t>(offsets.back());
        if (end > data.size()) throw std::invalid_argument("data: shorter than the offsets say");
        return {offsets, data};
    }

    std::size_t count() const { return offsets.size() - 1; }
    std::size_t length(std::size_t slot) const { return static_cast<std::size_t>(offsets[slot + 1] - offsets[slot]); }
    Bytes operator[](std::size_t slot) const { return {data.data() + offsets[slot], length(slot)}; }
    // The bytes of all slots.
    Bytes all() const { return {data.data() + offsets.front(), static_cast<std::size_t>(offsets.back() - offsets.front())}; }
    const std::uint8_t* end() const { return data.data() + data.size(); }
};

// Slot i holds the i-th group of `size` bytes of `data`.
struct FixedValues {
    std::size_t size;
    std::size_t slots;
    Bytes data;

    static FixedValues checked(std::size_t size, std::size_t slots, Bytes data) {
        if (size && data.size() / size < slots) throw std::invalid_argument("data: shorter than its values");
        return {size, slots, data};
    }

    std::size_t count() const { return slots; }
    std::size_t length(std::size_t) const { return size; }
    Bytes operator[](std::size_t slot) const { return {data.data() + slot * size, size}; }
    Bytes all() const { return data.first(slots * size); }
    const std::uint8_t* end() const { return data.data() + data.size(); }
};

}  // namespace binary
}  // namespace amudai
