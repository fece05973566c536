// A run of blocks of bytes-like values: first offsets and validity, then, once their total is known, the bytes.
#pragma once
#include <variant>

#include "binary/region.hpp"
#include "binary/utf8.hpp"
#include "numeric/run.hpp"

namespace amudai::binary {

// More bytes than 32-bit offsets can count. The caller reads fewer rows at a time.
struct TooLong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void require_ascending(std::span<const std::uint64_t> offsets) {
    bool ascending = true;
    for (std::size_t i = 1; i < offsets.size(); ++i) ascending &= offsets[i - 1] <= offsets[i];
    if (!ascending) throw Corrupted("offsets: expected an ascending sequence");
}

template <class L>
inline constexpr bool is_dictionary = std::is_same_v<L, block_dictionary::Layout>;

// What is decoded once for all spans of a block, the first of which begins at `first` and the last of which ends `count`
// slots further on: codes and entries of a dictionary, nothing of other layouts.
template <class L>
auto decode_once(const L& layout, const Slots& slots, std::size_t first, std::size_t count, Context& context) {
    if constexpr (is_dictionary<L>) return block_dictionary::decode(layout, slots, first, count, context);
    else return std::monostate{};
}

template <class L, class Once>
void write_bytes(const L& layout, const Once& once, const Slots& slots, const Piece& piece, MutableBytes out,
                 std::size_t writable, Context& context) {
    if constexpr (is_dictionary<L>) block_dictionary::bytes(layout, once, slots, piece, out, writable);
    else bytes(layout, slots, piece, out, writable, context);
}

template <class Once>
std::size_t write_validity(const Once& once, const Slots& slots, const Piece& piece, std::uint8_t* validity, std::size_t at) {
    if constexpr (std::is_same_v<Once, block_dictionary::Decoded>) {
        return block_dictionary::write_validity(once, piece, validity, at);
    } else {
        return slots.present->write(piece.first, piece.count, validity, at);
    }
}

// Writes Arrow offsets behind out[at] (which the caller has set) and, for each span, where its bytes begin in the
// block's decoded bytes. `sizes` gets the decoded bytes of each ZSTD block, which inflating it needs. Returns the nulls.
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
                offsets(layout, slots, begin, local, context);
                require_ascending(local);
                if (begin == 0) require_equal("first offset", local[0], 0);
                // Before memory is taken for them: values cannot be longer than what is stored.
                require_range("last offset", local.back(), 0, bytes_most(layout));
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

// The bytes of slots from `at` on, each where its offset says, in `out`.
template <class Offset>
void decode_bytes(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                  std::span<const std::uint64_t> origins, std::span<const Offset> offsets, std::size_t at, bool text,
                  MutableBytes out) {
    Arena arena;
    const auto* const first_span = spans.data();
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        const auto present = presence::decode(block.presence, block.count, arena);
        const Slots slots{block.count, 0, false, &present};
        const auto from = static_cast<std::size_t>(offsets[at]);
        const auto start = at;
        with_layout(block.values, slots, [&]<class L>(const L& layout) {
            constexpr bool by_slot = is_dictionary<L> || std::is_same_v<L, single_value::Layout>;
            const auto first = wanted.front().first;
            const auto between = wanted.back().first + wanted.back().count - first;
            const auto once = decode_once(layout, slots, first, between, context);
            const auto size_of = [&](const Span& span, std::size_t slot) {
                return static_cast<std::size_t>(offsets[slot + span.count]) - static_cast<std::size_t>(offsets[slot]);
            };
            const auto index = static_cast<std::size_t>(wanted.data() - first_span);
            if (wanted.size() == 1 || by_slot || std::is_same_v<L, plain::Layout> || std::is_same_v<L, zstd::Layout>) {
                for (std::size_t i = 0; i < wanted.size(); ++i) {
                    const auto& span = wanted[i];
                    const auto to = static_cast<std::size_t>(offsets[at]);
                    const auto target = out.subspan(to, size_of(span, at));
                    write_bytes(layout, once, slots, {span.first, span.count, origins[index + i]}, target, out.size() - to, context);
                    at += span.count;
                }
            } else {
                // One pass over the compressed bytes serves all spans of the block.
                const auto last = wanted.size() - 1;
                std::size_t slot = at;
                for (std::size_t i = 0; i < last; ++i) slot += wanted[i].count;
                const auto first_byte = origins[index];
                const auto end_byte = origins[index + last] + size_of(wanted[last], slot);
                const auto hull = arena.take<std::uint8_t>(end_byte - first_byte);
                write_bytes(layout, once, slots, {first, between, first_byte}, hull, hull.size() + Arena::slack, context);
                for (std::size_t i = 0; i < wanted.size(); ++i) {
                    const auto to = static_cast<std::size_t>(offsets[at]);
                    std::memcpy(out.data() + to, hull.data() + (origins[index + i] - first_byte), size_of(wanted[i], at));
                    at += wanted[i].count;
                }
            }
        });
        if (text) {
            const auto to = static_cast<std::size_t>(offsets[at]);
            utf8::require_text<Offset>(out.subspan(from, to - from), offsets.subspan(start, at - start + 1));
        }
    });
}

// Values of one size, from slot `at` on. Returns the nulls.
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
            const auto between = wanted.back().first + wanted.back().count - first;
            const auto once = decode_once(layout, slots, first, between, context);
            // As above: one pass over compressed bytes serves all spans of the block.
            const bool as_one = wanted.size() > 1 && (std::is_same_v<L, lz4::Layout> || std::is_same_v<L, fsst::Layout>);
            const auto hull = arena.take<std::uint8_t>(as_one ? between * size : 0);
            if (as_one) {
                write_bytes(layout, once, slots, {first, between, first * size}, hull, hull.size() + Arena::slack, context);
            }
            for (const auto& span : wanted) {
                const Piece piece{span.first, span.count, span.first * size};
                const auto target = out.subspan(at * size, span.count * size);
                if (as_one) std::memcpy(target.data(), hull.data() + (span.first - first) * size, target.size());
                else write_bytes(layout, once, slots, piece, target, out.size() - at * size, context);
                nulls += write_validity(once, slots, piece, validity, at);
                at += span.count;
            }
        });
    });
    return nulls;
}

}  // namespace amudai::binary
