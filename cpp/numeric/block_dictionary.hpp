// BlockDictionary (code 14): the block's distinct values and a code for each slot. Bytes: docs/format/numeric.md.
#pragma once
#include "bits/hash.hpp"
#include "bits/radix_sort.hpp"
#include "numeric/encoder.hpp"

namespace amudai::numeric::block_dictionary {

inline constexpr std::uint16_t code = 14;
inline constexpr std::string_view name = "block_dictionary";
inline constexpr std::size_t header_size = 16;
template <class T>
inline constexpr bool accepts = true;

struct Layout {
    Bytes codes, values;
    std::size_t entries;
    bool values_nested;
};

template <class T>
Layout layout(Bytes section, std::size_t count) {
    require_at_least("block_dictionary section bytes", section.size(), header_size);
    const std::size_t codes_size = load<std::uint32_t>(section, 2);
    const std::size_t entries = load<std::uint32_t>(section, 6);
    const bool nested = section[10] != 0;
    const auto codes = part("block_dictionary codes bytes", section, header_size, codes_size);
    const auto values = section.subspan(header_size + codes_size);
    // A nested section could claim any number of entries. More entries than slots are of no use.
    require_range("block_dictionary entries", entries, 0, nested ? count : values.size() / sizeof(T));
    return {codes, values, entries, nested};
}

template <class T, class Visit>
void parts(Bytes section, std::size_t count, Visit&& visit) {
    const auto found = layout<T>(section, count);
    visit.template operator()<std::uint32_t>(found.codes, count);
    if (found.values_nested) visit.template operator()<T>(found.values, found.entries);
}

// Throws if a code has no entry.
inline void require_codes(const Layout& found, std::span<const std::uint32_t> codes) {
    std::uint32_t largest = 0;
    for (const auto each : codes) largest = std::max(largest, each);
    require_range("block_dictionary code", largest, 0, found.entries);
}

// Decodes codes [first, first + size). Throws if a code has no entry.
inline std::span<const std::uint32_t> codes_of(const Layout& found, std::size_t count, std::size_t first, std::size_t size,
                                               Context& context) {
    const auto codes = context.arena.take<std::uint32_t>(size);
    decode_section<std::uint32_t>(found.codes, count, first, codes, context);
    require_codes(found, codes);
    return codes;
}

// The value that each code stands for.
template <class T>
std::span<const T> entries_of(const Layout& found, Context& context) {
    const auto entries = context.arena.take<T>(found.entries + 1);
    entries[0] = T{};  // code 0 stands for a null slot, which reads as zero
    decode_part<T>("block_dictionary values", found.values_nested, found.values, found.entries, 0, entries.subspan(1), context);
    return entries;
}

// Writes the entry of each code. Loads and stores are what takes the time: two codes are loaded at once, and two entries
// of four bytes are stored at once. Four codes a step: a shorter loop takes half as long again where its instructions
// happen to lie in two cache lines.
template <class T>
void look_up(std::span<const T> entries, std::span<const std::uint32_t> codes, T* out) {
    constexpr std::size_t step = 4;
    const auto* const from = entries.data();
    const auto two = [&](const std::uint32_t* two_codes, T* to) {
        if constexpr (sizeof(T) < 4) {
            to[0] = from[two_codes[0]], to[1] = from[two_codes[1]];
        } else {
            const auto both = load<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(two_codes));
            const auto first = from[static_cast<std::uint32_t>(both)], second = from[both >> 32];
            if constexpr (sizeof(T) == 4) {
                const std::uint64_t high = std::bit_cast<std::uint32_t>(second);
                store(reinterpret_cast<std::uint8_t*>(to), std::bit_cast<std::uint32_t>(first) | high << 32);
            } else {
                to[0] = first, to[1] = second;
            }
        }
    };
    std::size_t i = 0;
    for (; i + step <= codes.size(); i += step) {
        two(codes.data() + i, out + i);
        two(codes.data() + i + 2, out + i + 2);
    }
    for (; i < codes.size(); ++i) out[i] = from[codes[i]];
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    const auto found = layout<T>(section, count);
    const auto codes = codes_of(found, count, first, out.size(), context);
    look_up<T>(entries_of<T>(found, context), codes, out.data());
}

template <class T, class Visit>
void asks(Visit&& visit) {
    visit.template operator()<std::uint32_t>(false);
    visit.template operator()<T>(true);
}

// The distinct values of a block in order of appearance, found by hashing their bits.
template <class U>
class Distinct {
public:
    Distinct(std::size_t count, Arena& arena) : arena_(arena), keys_(arena.take<U>(count)) {
        resize(std::max<std::size_t>(256, std::bit_ceil(count / 4)));
    }
    std::span<U> keys() const { return keys_.first(size_); }

    // The number of `key`. A new key gets the next number.
    std::uint32_t number(U key) {
        for (auto at = bits::hash_slot(key, shift_);; at = (at + 1) & (numbers_.size() - 1)) {
            const auto found = numbers_[at];
            if (found == vacant) [[unlikely]] return add(key, at);
            if (slots_[at] == key) [[likely]] return found;
        }
    }

private:
    static constexpr std::uint32_t vacant = 0xffffffff;

    void resize(std::size_t slots) {
        slots_ = arena_.take<U>(slots);
        numbers_ = arena_.take<std::uint32_t>(slots);
        shift_ = 64 - static_cast<unsigned>(std::bit_width(slots - 1));
        std::ranges::fill(numbers_, vacant);
        for (std::uint32_t i = 0; i < size_; ++i) {
            auto at = bits::hash_slot(keys_[i], shift_);
            while (numbers_[at] != vacant) at = (at + 1) & (slots - 1);
            slots_[at] = keys_[i], numbers_[at] = i;
        }
    }
    std::uint32_t add(U key, std::size_t at) {
        const auto number = static_cast<std::uint32_t>(size_);
        keys_[size_++] = key;
        slots_[at] = key, numbers_[at] = number;
        if (2 * size_ > numbers_.size()) resize(4 * numbers_.size());
        return number;
    }

    Arena& arena_;
    std::span<U> keys_;
    std::span<U> slots_;
    std::span<std::uint32_t> numbers_;  // the numbers of the keys in `slots_`
    std::size_t size_ = 0;
    unsigned shift_ = 0;
};

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    using U = unsigned_of<T>;
    auto& arena = context.arena;
    // Signed values are sorted by value, floats by their bits.
    constexpr U flip = std::signed_integral<T> ? U{1} << (8 * sizeof(T) - 1) : U{0};
    const auto codes = arena.take<std::uint32_t>(values.size());
    Distinct<U> distinct(values.size(), arena);
    for (std::size_t i = 0; i < values.size(); ++i) codes[i] = distinct.number(static_cast<U>(bits_of(values[i]) ^ flip));
    // Sorted entries compress well. Code 0 is reserved for nulls but never needed: the presence section says which
    // slots are null.
    const auto keys = distinct.keys();
    const auto order = arena.take<std::uint32_t>(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    bits::radix_sort<U>(keys, order, arena);
    const auto entries = arena.take<T>(keys.size());
    const auto rank = arena.take<std::uint32_t>(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        entries[i] = std::bit_cast<T>(static_cast<U>(keys[i] ^ flip));
        rank[order[i]] = static_cast<std::uint32_t>(i + 1);
    }
    for (auto& each : codes) each = rank[each];

    const auto at = out.header(code, header_size);
    encode_section<std::uint32_t>(codes, plan.part(0), out, context);
    if (may_be_padded(out.bytes().subspan(at + header_size))) out.pad8(at);
    const auto values_at = out.size();
    out.set<std::uint32_t>(at + 2, static_cast<std::uint32_t>(values_at - at - header_size));
    out.set<std::uint32_t>(at + 6, static_cast<std::uint32_t>(entries.size()));
    const bool fits = aligned(context, [&] {
        out.set<std::uint8_t>(at + 10, encode_part<T>(entries, plan.part(1), out, context));
    });
    if (fits) return;
    out.cut(values_at);
    out.set<std::uint8_t>(at + 10, 0);
    out.append(std::span<const T>(entries));
}

}  // namespace amudai::numeric::block_dictionary
