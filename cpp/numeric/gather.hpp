// Single values of a section, named by ascending slots. Only what these slots need is unpacked, multiplied or looked up.
#pragma once
#include "numeric/section.hpp"

namespace amudai::numeric {

// Slots of a block, in ascending order and each once.
using SlotList = std::span<const std::uint32_t>;

// The values of `slots`, of which there is at least one, one after the other. `out` has as many elements.
template <class T>
void gather_section(Bytes section, std::size_t count, SlotList slots, std::span<T> out, Context& context);

namespace detail {

// Packed values chunk by chunk: a few are picked, more are taken from the whole chunk, unpacked into the L1 cache.
template <class U>
void gather_packed(const fl_bit_pack::Layout<U>& found, SlotList slots, std::span<U> out) {
    constexpr std::size_t few = 24;
    U values[bits::chunk_values];
    for (std::size_t i = 0; i < slots.size();) {
        const auto ordinal = slots[i] / bits::chunk_values;
        const auto begin = ordinal * bits::chunk_values;
        auto end = i + 1;
        while (end < slots.size() && slots[end] - begin < bits::chunk_values) ++end;
        const std::uint8_t* const chunk = found.data.data() + ordinal * bits::chunk_bytes(found.width);
        if (end - i <= few) {
            for (; i < end; ++i) {
                out[i] = static_cast<U>(bits::pick<U>(chunk, found.width, slots[i] - begin) + found.reference);
            }
        } else {
            bits::unpack_chunk<U>(chunk, found.width, found.reference, values);
            for (; i < end; ++i) out[i] = values[slots[i] - begin];
        }
    }
}

template <class T>
void gather_alp(Bytes section, std::size_t count, SlotList slots, std::span<T> out, Context& context) {
    using Integer = signed_of<T>;
    const auto found = alp::layout<T>(section, count);
    gather_section<Integer>(found.integers, count, slots, {reinterpret_cast<Integer*>(out.data()), out.size()}, context);
    alp::to_floats<T>(found, out);
    alp::each_exception<T>(found, count, [&](std::size_t position, T value) {
        const auto at = std::ranges::lower_bound(slots, position);
        if (at != slots.end() && *at == position) out[static_cast<std::size_t>(at - slots.begin())] = value;
    });
}

template <class T>
void gather_alprd(Bytes section, std::size_t count, SlotList slots, std::span<T> out, Context& context) {
    const auto found = alprd::layout<T>(section, count);
    const auto left = context.arena.take<std::uint16_t>(slots.size());
    gather_section<std::uint16_t>(found.left, count, slots, left, context);
    gather_section<unsigned_of<T>>(found.right, count, slots, as_unsigned(out), context);
    alprd::join<T>(found, left, out);
    alprd::each_exception(found, count, [&](std::size_t position, std::uint16_t front) {
        const auto at = std::ranges::lower_bound(slots, position);
        if (at != slots.end() && *at == position) {
            alprd::set_front<T>(found, front, out[static_cast<std::size_t>(at - slots.begin())]);
        }
    });
}

template <class T>
void gather_entries(Bytes section, std::size_t count, SlotList slots, std::span<T> out, Context& context) {
    const auto found = block_dictionary::layout<T>(section, count);
    const auto codes = context.arena.take<std::uint32_t>(slots.size());
    gather_section<std::uint32_t>(found.codes, count, slots, codes, context);
    block_dictionary::require_codes(found, codes);
    const auto entries = block_dictionary::entries_of<T>(found, context);
    for (std::size_t i = 0; i < codes.size(); ++i) out[i] = entries[codes[i]];
}

template <class T, class N>
void gather_narrow(Bytes section, std::size_t count, SlotList slots, std::span<T> out, Context& context) {
    const auto data = rest("truncate section bytes", section, truncate::header_size);
    const auto narrow = context.arena.take<N>(slots.size());
    if (section[2] != 0) {
        gather_section<N>(data, count, slots, narrow, context);
    } else {
        require_equal("truncate section bytes", data.size(), count * sizeof(N));
        for (std::size_t i = 0; i < slots.size(); ++i) narrow[i] = load<N>(data, slots[i] * sizeof(N));
    }
    for (std::size_t i = 0; i < slots.size(); ++i) out[i] = static_cast<T>(static_cast<signed_of<N>>(narrow[i]));
}

// Whether `gather_section` treats sections of this encoding itself. The others are decoded from the first slot to the
// last.
template <class T>
bool has_gather(std::uint16_t code) {
    if (code == block_dictionary::code) return true;
    if constexpr (fl_bit_pack::accepts<T>) {
        if (code == fl_bit_pack::code) return true;
    }
    if (truncate::U8::accepts<T> && code == truncate::U8::code) return true;
    if (truncate::U16::accepts<T> && code == truncate::U16::code) return true;
    if (truncate::U32::accepts<T> && code == truncate::U32::code) return true;
    if constexpr (ffor::accepts<T>) return code == ffor::code || code == frame_of_reference::code;
    else return code == alp::code || code == alprd::code;
}

}  // namespace detail

template <class T>
void gather_section(Bytes section, std::size_t count, SlotList slots, std::span<T> out, Context& context) {
    const auto code = code_of(section);
    if (!detail::has_gather<T>(code)) {
        // `decode_section` counts how deep sections are nested, so that this one must not be counted here.
        const auto values = context.arena.take<T>(slots.back() - slots.front() + 1);
        decode_section<T>(section, count, slots.front(), values, context);
        for (std::size_t i = 0; i < slots.size(); ++i) out[i] = values[slots[i] - slots.front()];
        return;
    }
    const Deeper deeper(context);
    if (code == block_dictionary::code) return detail::gather_entries<T>(section, count, slots, out, context);
    if constexpr (fl_bit_pack::accepts<T>) {
        if (code == fl_bit_pack::code) return detail::gather_packed<T>(fl_bit_pack::layout<T>(section, count), slots, out);
    }
    if constexpr (truncate::U8::accepts<T>) {
        if (code == truncate::U8::code) return detail::gather_narrow<T, std::uint8_t>(section, count, slots, out, context);
    }
    if constexpr (truncate::U16::accepts<T>) {
        if (code == truncate::U16::code) return detail::gather_narrow<T, std::uint16_t>(section, count, slots, out, context);
    }
    if constexpr (truncate::U32::accepts<T>) {
        if (code == truncate::U32::code) return detail::gather_narrow<T, std::uint32_t>(section, count, slots, out, context);
    }
    if constexpr (ffor::accepts<T>) {
        using U = unsigned_of<T>;
        if (code == ffor::code) return detail::gather_packed<U>(ffor::layout<T>(section, count), slots, as_unsigned(out));
        const auto nested = rest("for section bytes", section, frame_of_reference::header_size<T>);
        gather_section<U>(nested, count, slots, as_unsigned(out), context);
        for (auto& value : as_unsigned(out)) value = static_cast<U>(value + load<U>(section, 2));
    } else {
        if (code == alp::code) return detail::gather_alp<T>(section, count, slots, out, context);
        detail::gather_alprd<T>(section, count, slots, out, context);
    }
}

}  // namespace amudai::numeric
