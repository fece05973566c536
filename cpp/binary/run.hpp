// Decoding of a run of blocks of bytes-like values: first offsets and validity, then, once the total size is known, the
// bytes.
#pragma once
#include <variant>

#include "binary/region.hpp"
#include "binary/utf8.hpp"
#include "numeric/run.hpp"

namespace amudai::binary {

// Thrown for more bytes than 32-bit offsets can count. The caller then reads fewer rows at a time.
struct TooLong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void require_ascending(std::span<const std::uint64_t> offsets) {
    bool ascending = true;
    for (std::size_t i = 1; i < offsets.size(); ++i) ascending &= offsets[i - 1] <= offsets[i];
    if (!ascending) throw Corrupted("offsets: expected an ascending sequence");
}

// Where the slots from `first` on begin in the block's decoded bytes, and where the last one ends.
template <class L>
void slot_offsets(const L& layout, const Slots& slots, std::size_t first, std::span<std::uint64_t> out, Context& context) {
    offsets(layout, slots, first, out, context);
    require_ascending(out);
    if (first == 0) require_equal("first offset", out[0], 0);
    // Check this before memory is allocated for the values: they cannot be longer than what is stored.
    require_range("last offset", out.back(), 0, bytes_most(layout));
}

template <class L>
inline constexpr bool is_dictionary = std::is_same_v<L, block_dictionary::Layout>;

// What is decoded once for all spans of a block: the codes and entries of a dictionary, where the records of a Zstandard
// frame lie, nothing for other layouts. The first span begins at `first`, and the last one ends `count` slots later.
template <class L>
auto decode_once(const L& layout, const Slots& slots, std::size_t first, std::size_t count, Context& context) {
    if constexpr (is_dictionary<L>) return block_dictionary::decode(layout, slots, first, count, context);
    else if constexpr (std::is_same_v<L, zstd::Layout>) return zstd::records_of(layout, slots, context);
    else return std::monostate{};
}

template <class L, class Once>
void write_bytes(const L& layout, const Once& once, const Slots& slots, const SlotRange& piece, MutableBytes out,
                 std::size_t writable, Context& context) {
    if constexpr (is_dictionary<L>) return block_dictionary::bytes(layout, once, slots, piece, out, writable);
    if constexpr (std::is_same_v<L, zstd::Layout>) {
        if (!once.empty()) return zstd_records::expand(once, piece.first, piece.count, out.data());
    }
    if constexpr (!is_dictionary<L>) bytes(layout, slots, piece, out, writable, context);
}

// Writes the bytes of all spans of a block, each to its own target. One pass over compressed bytes serves all of them.
template <class L, class Once>
void write_spans(const L& layout, const Once& once, const Slots& slots, std::span<const Span> wanted,
                 std::span<const DecodeTarget> targets, Context& context) {
    constexpr bool as_one = std::is_same_v<L, lz4::Layout> || std::is_same_v<L, fsst::Layout> || std::is_same_v<L, snappy::Layout>;
    if constexpr (std::is_same_v<L, lz4::Layout>) {
        if (wanted.size() > 1) return lz4::copy_targets(layout, targets, context);
    }
    if constexpr (std::is_same_v<L, fsst::Layout>) {
        if (pick(layout, targets, context)) return;
    }
    if (!as_one || wanted.size() == 1) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const auto& [origin, out, writable] = targets[i];
            write_bytes(layout, once, slots, {wanted[i].first, wanted[i].count, origin}, out, writable, context);
        }
        return;
    }
    const auto first = wanted.front().first, between = wanted.back().first + wanted.back().count - first;
    const auto origin = targets.front().origin, end = targets.back().origin + targets.back().out.size();
    const auto size = end - origin;
    // In place if there is room, and then the gaps are closed. What stands behind the last target is not written yet.
    const bool fits = size <= targets.front().writable;
    const MutableBytes hull = fits ? MutableBytes(targets.front().out.data(), size) : context.arena.take<std::uint8_t>(size);
    const auto writable = fits ? targets.front().writable : size + Arena::slack;
    write_bytes(layout, once, slots, {first, between, origin}, hull, writable, context);
    for (const auto& target : targets) {
        const auto* const from = hull.data() + (target.origin - origin);
        if (from != target.out.data()) std::memmove(target.out.data(), from, target.out.size());
    }
}

template <class Once>
std::size_t write_validity(const Once& once, const Slots& slots, const SlotRange& piece, std::uint8_t* validity, std::size_t at) {
    if constexpr (std::is_same_v<Once, block_dictionary::Decoded>) {
        return block_dictionary::write_validity(once, piece, validity, at);
    } else {
        return slots.present->write(piece.first, piece.count, validity, at);
    }
}

// Writes Arrow offsets after out[at], which the caller has set. Writes to `origins` where the bytes of each span begin
// in the block's decoded bytes, and to `sizes` the decoded size of each ZSTD block, which is needed to inflate it.
// Returns the number of nulls.
template <class Offset>
std::size_t decode_offsets(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                           std::span<Offset> out, std::uint8_t* validity, std::size_t at,
                           std::span<std::uint64_t> origins, std::span<std::uint64_t> sizes) {
    Arena arena;
    std::size_t nulls = 0;
    const auto* const first_span = spans.data();
    const auto* const first_block = blocks.data();
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        const auto present = presence::decode(block.presence, block.count, arena);
        const Slots slots{block.count, 0, false, &present};
        with_layout(block.values, slots, [&]<class L>(const L& layout) {
            const bool is_zstd = std::is_same_v<L, zstd::Layout>;
            const auto begin = wanted.front().first;
            const auto end = is_zstd ? block.count : wanted.back().first + wanted.back().count;
            const auto local = arena.take<std::uint64_t>(end - begin + 1);
            const auto once = decode_once(layout, slots, begin, end - begin, context);
            if constexpr (is_dictionary<L>) {
                block_dictionary::offsets(once, local);
            } else {
                slot_offsets(layout, slots, begin, local, context);
            }
            if (is_zstd) sizes[static_cast<std::size_t>(&block - first_block)] = local.back();
            for (const auto& span : wanted) {
                const auto* const from = local.data() + (span.first - begin);
                const auto origin = from[0];
                origins[static_cast<std::size_t>(&span - first_span)] = origin;
                const auto base = static_cast<std::uint64_t>(out[at]);
                if (from[span.count] - origin > static_cast<std::uint64_t>(std::numeric_limits<Offset>::max()) - base) {
                    throw TooLong("more bytes than the offsets of this Arrow type can count");
                }
                for (std::size_t i = 1; i <= span.count; ++i) out[at + i] = static_cast<Offset>(base + (from[i] - origin));
                nulls += write_validity(once, slots, {span.first, span.count, origin}, validity, at);
                at += span.count;
            }
        });
    });
    return nulls;
}

// Writes the bytes of the slots from `at` on to `out`, each where its offset says.
template <class Offset>
void decode_bytes(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                  std::span<const std::uint64_t> origins, std::span<const Offset> offsets, std::size_t at, bool text,
                  MutableBytes out) {
    Arena arena;
    const auto* const first_span = spans.data();
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        // Reading the offsets has decoded and checked the presence section. Only SingleValue needs it again.
        const bool asks = numeric::code_of(block.values) == single_value::code;
        const auto present = asks ? presence::decode(block.presence, block.count, arena) : presence::Presence{};
        const Slots slots{block.count, 0, false, &present};
        const auto from = static_cast<std::size_t>(offsets[at]);
        const auto start = at;
        with_layout(block.values, slots, [&]<class L>(const L& layout) {
            const auto first = wanted.front().first;
            const auto once = decode_once(layout, slots, first, wanted.back().first + wanted.back().count - first, context);
            const auto targets = arena.take<DecodeTarget>(wanted.size());
            const auto* const origin = origins.data() + (wanted.data() - first_span);
            for (std::size_t i = 0; i < wanted.size(); at += wanted[i++].count) {
                const auto to = static_cast<std::size_t>(offsets[at]);
                const auto size = static_cast<std::size_t>(offsets[at + wanted[i].count]) - to;
                targets[i] = {static_cast<std::size_t>(origin[i]), out.subspan(to, size), out.size() - to};
            }
            write_spans(layout, once, slots, wanted, targets, context);
        });
        if (text) {
            const auto to = static_cast<std::size_t>(offsets[at]);
            utf8::require_text<Offset>(out.subspan(from, to - from), offsets.subspan(start, at - start + 1));
        }
    });
}

// Decodes values of one fixed size, from slot `at` on. Returns the number of nulls.
inline std::size_t decode_fixed(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                                std::size_t size, MutableBytes out, std::uint8_t* validity, std::size_t at) {
    Arena arena;
    std::size_t nulls = 0;
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        const auto present = presence::decode(block.presence, block.count, arena);
        const Slots slots{block.count, size, true, &present};
        with_layout(block.values, slots, [&]<class L>(const L& layout) {
            const auto first = wanted.front().first;
            const auto once = decode_once(layout, slots, first, wanted.back().first + wanted.back().count - first, context);
            const auto targets = arena.take<DecodeTarget>(wanted.size());
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                const auto& [ordinal, slot, count] = wanted[i];
                targets[i] = {slot * size, out.subspan(at * size, count * size), out.size() - at * size};
                nulls += write_validity(once, slots, {slot, count, slot * size}, validity, at);
                at += count;
            }
            write_spans(layout, once, slots, wanted, targets, context);
        });
    });
    return nulls;
}

}  // namespace amudai::binary
