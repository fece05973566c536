// Decoding of a run of blocks of numbers in one call. Values and validity are written straight to their place.
#pragma once
#include "base/block.hpp"
#include "numeric/apart.hpp"
#include "presence/presence.hpp"

namespace amudai::numeric {

inline std::size_t total(std::span<const Span> spans) {
    std::size_t count = 0;
    for (const auto& span : spans) count += span.count;
    return count;
}

// Whether there are so few spans that finding each by its position takes less time than reading all slots between them.
// If the spans hold most of the slots, reading all of them is faster: both ends of a span cost some slots more.
inline bool are_few(std::span<const Span> spans) {
    const auto hull = spans.back().first + spans.back().count - spans.front().first;
    const auto wanted = total(spans);
    if (wanted >= 32 * spans.size()) return wanted * 3 < hull;  // long spans: both ends cost little
    return spans.size() * 64 < hull && wanted * 2 < hull;
}

// Whether the spans are so short that their slots are better listed one by one.
inline bool are_short(std::span<const Span> spans) { return spans.size() > 1 && total(spans) < 4 * spans.size(); }

inline SlotList slots_of(std::span<const Span> spans, Arena& arena) {
    const auto slots = arena.take<std::uint32_t>(total(spans));
    auto* at = slots.data();
    for (const auto& span : spans) {
        // Most spans are short: write a whole step, into the slack if need be, then advance by the length of the span.
        constexpr std::size_t step = 4;
        static_assert(step * sizeof(std::uint32_t) <= Arena::slack);
        const auto first = static_cast<std::uint32_t>(span.first);
        for (std::uint32_t i = 0; i < step; ++i) at[i] = first + i;
        for (std::size_t i = step; i < span.count; ++i) at[i] = first + static_cast<std::uint32_t>(i);
        at += span.count;
    }
    return slots;
}

// Whether the spans of a block are read one by one. This is better for few values, if they can be found by their
// position. Otherwise everything from the first span to the last is read.
template <class T>
bool are_apart(const Block& block, std::span<const Span> spans) {
    return are_few(spans) && seekable<T>(block.values, block.count);
}

// Whether the block is a dictionary whose codes are found by their position, although its entries are decoded first.
template <class T>
bool has_seekable_codes(const Block& block) {
    if (code_of(block.values) != block_dictionary::code) return false;
    return seekable<std::uint32_t>(block_dictionary::layout<T>(block.values, block.count).codes, block.count);
}

// The values of `spans` of a block dictionary, one after the other, into `out`. The entries are decoded once.
template <class T>
void look_up_spans(const Block& block, std::span<const Span> spans, std::span<T> out, Context& context) {
    const auto found = block_dictionary::layout<T>(block.values, block.count);
    const auto entries = block_dictionary::entries_of<T>(found, context);
    std::size_t at = 0;
    for (const auto& span : spans) {
        const auto codes = block_dictionary::codes_of(found, block.count, span.first, span.count, context);
        block_dictionary::look_up(entries, codes, out.data() + at);
        at += codes.size();
    }
}

// The values of `spans` of a block dictionary, one after the other, into `out`. All codes from the first span to the
// last are decoded at once.
template <class T>
void look_up_hull(const Block& block, std::span<const Span> spans, std::span<T> out, Context& context) {
    const auto first = spans.front().first;
    const auto found = block_dictionary::layout<T>(block.values, block.count);
    const auto hull = spans.back().first + spans.back().count - first;
    const auto codes = block_dictionary::codes_of(found, block.count, first, hull, context);
    const auto entries = block_dictionary::entries_of<T>(found, context);
    for (const auto& span : spans) {
        block_dictionary::look_up(entries, codes.subspan(span.first - first, span.count), out.data());
        out = out.subspan(span.count);
    }
}

// Decodes the slots of `spans`, all of one block, to the start of `room`, one span after the other. What stands behind
// them in `room` may be overwritten.
template <class T>
void decode_spans(const Block& block, std::span<const Span> spans, std::span<T> room, Context& context) {
    const std::size_t first = spans.front().first;
    const auto hull = spans.back().first + spans.back().count - first;
    auto out = room.data();
    if (spans.size() == 1) return decode_section<T>(block.values, block.count, first, room.first(hull), context);
    if (are_short(spans) && detail::has_gather<T>(code_of(block.values))) {
        const auto slots = slots_of(spans, context.arena);
        return gather_section<T>(block.values, block.count, slots, room.first(slots.size()), context);
    }
    if (are_apart<T>(block, spans)) {
        return decode_apart<T>(block.values, block.count, spans, room.first(total(spans)), context);
    }
    if (code_of(block.values) == block_dictionary::code) {
        const bool by_span = are_few(spans) && has_seekable_codes<T>(block);
        return by_span ? look_up_spans<T>(block, spans, room, context) : look_up_hull<T>(block, spans, room, context);
    }
    if (are_short(spans)) {  // copying spans one by one would take longer than listing their slots
        const auto slots = slots_of(spans, context.arena);
        return gather_section<T>(block.values, block.count, slots, room.first(slots.size()), context);
    }
    // Everything from the first span to the last is decoded, in place if there is room, and the gaps are closed.
    const auto values = hull <= room.size() ? room.first(hull) : context.arena.take<T>(hull);
    decode_section<T>(block.values, block.count, first, values, context);
    for (const auto& span : spans) {
        const auto* const from = values.data() + (span.first - first);
        if (from != out) std::memmove(out, from, span.count * sizeof(T));
        out += span.count;
    }
}

// Throws if a slot of the block is null. Codes, offsets and bits have no nulls of their own, but a presence section
// that says so is harmless.
inline void require_all_present(const Block& block, Arena& arena) {
    if (block.presence.empty()) return;
    const auto present = presence::decode(block.presence, block.count, arena);
    for (std::size_t i = 0; i < block.count; ++i) {
        if (!present.at(i)) throw Corrupted("block presence: expected no nulls in this buffer, found one in slot " + std::to_string(i));
    }
}

// Writes the validity of spans of a block from bit `at` on, and returns the number of nulls. Without `validity` there must
// be none.
inline std::size_t write_presence(const Block& block, std::span<const Span> spans, std::uint8_t* validity, std::size_t at,
                                  Arena& arena) {
    if (!validity) {
        require_all_present(block, arena);
        return 0;
    }
    const auto present = presence::decode(block.presence, block.count, arena);
    if (are_short(spans) && !present.is_uniform()) return present.write_each(slots_of(spans, arena), validity, at, arena);
    const Span all{0, 0, total(spans)};
    std::size_t nulls = 0;
    for (const auto& span : present.is_uniform() ? std::span{&all, 1} : spans) {
        nulls += present.write(span.first, span.count, validity, at);
        at += span.count;
    }
    return nulls;
}

// Fills `out` and `validity` from slot `at` on. Returns the number of nulls. `validity` may be null if the buffer has
// no embedded presence.
template <class T>
std::size_t decode_run(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                       std::span<T> out, std::uint8_t* validity, std::size_t at) {
    out = out.first(at + total(spans));  // nothing behind the last value is touched
    Arena arena;
    std::size_t nulls = 0;
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        const auto count = total(wanted);
        decode_spans<T>(block, wanted, out.subspan(at), context);
        nulls += write_presence(block, wanted, validity, at, arena);
        at += count;
    });
    return nulls;
}

// Decodes bits that are packed into blocks of bytes: spans count bits, blocks count bytes. Fills `out` from bit `at`
// on. Returns how many of the bits are set.
inline std::size_t decode_bits(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                               std::uint8_t* out, std::size_t at) {
    Arena arena;
    std::size_t found = 0;
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        require_all_present(block, arena);
        const auto first = wanted.front().first / 8;
        const auto end = (wanted.back().first + wanted.back().count + 7) / 8;
        const auto bytes = arena.take<std::uint8_t>(end - first);
        decode_section<std::uint8_t>(block.values, block.count, first, bytes, context);
        for (const auto& span : wanted) {
            bits::copy(bytes.data(), span.first - 8 * first, out, at, span.count);
            found += bits::count_set(out, at, span.count);
            at += span.count;
        }
    });
    return found;
}

}  // namespace amudai::numeric
