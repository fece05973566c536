// Comparison of stored decimals with ranges. Values are compared where they are decoded, and not copied out.
#pragma once
#include "binary/compare.hpp"
#include "decimal/order.hpp"

namespace amudai::decimal {

namespace detail {

template <class L>
void compare_slots(const L& layout, const binary::Slots& slots, std::size_t first, std::size_t size, Ranges& ranges, bool inverted,
                   std::uint8_t* out, Context& context) {
    if constexpr (std::is_same_v<L, binary::single_value::Layout>) {
        bits::fill(out, 0, size, ranges.holds(Stored::at(layout.value.data())));
    } else if constexpr (binary::is_dictionary<L>) {
        const auto found = binary::block_dictionary::decode(layout, slots, first, size, context);
        const auto answers = context.arena.take<std::uint8_t>(layout.entry_count + 1);
        answers[0] = 0;  // null, whatever the presence section says
        for (std::size_t i = 1; i < answers.size(); ++i) {
            answers[i] = ranges.holds(Stored::at(layout.entries.data() + found.starts[i])) != inverted;
        }
        return numeric::look_up(answers, found.codes, out);
    } else {
        std::span<const Group> groups;
        if constexpr (std::is_same_v<L, binary::zstd::Layout>) groups = binary::zstd::records_of(layout, slots, context);
        if (!groups.empty()) {
            ranges.compare(groups, first, size, out);
        } else {
            const binary::SlotRange piece{first, size, first * value_size};
            const auto bytes = binary::detail::bytes_of(layout, slots, piece, size * value_size, context);
            ranges.compare(bytes.data(), size, out);
        }
    }
    slots.present->keep(first, size, inverted, out, context.arena);
}

}  // namespace detail

// Like numeric::compare_run, for decimals.
inline std::size_t compare_run(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated, Ranges& ranges,
                               bool inverted, std::uint8_t* out, std::size_t at) {
    Arena arena;
    std::size_t found = 0;
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        const auto present = presence::decode(block.presence, block.count, arena);
        const binary::Slots slots{block.count, value_size, true, &present};
        const auto first = wanted.front().first;
        const auto size = wanted.back().first + wanted.back().count - first;
        const auto answers = arena.take<std::uint8_t>(bits::answer_bytes(size));
        binary::with_layout(block.values, slots, [&](const auto& layout) {
            detail::compare_slots(layout, slots, first, size, ranges, inverted, answers.data(), context);
        });
        for (const auto& span : wanted) {
            bits::copy(answers.data(), span.first - first, out, at, span.count);
            found += bits::count_set(out, at, span.count);
            at += span.count;
        }
    });
    return found;
}

}  // namespace amudai::decimal
