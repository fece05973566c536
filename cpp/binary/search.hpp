// Search of a text in blocks of strings. Bytes are searched where they are decoded, while they are in the cache, and are
// not copied out.
#pragma once
#include "binary/compare.hpp"
#include "text/match.hpp"

namespace amudai::binary {

// Sets bit i of `out` if the operator is true for the text in slot `first + i` of a block or, with `inverted`, if it is
// false. The bit of a null is 0.
template <class L>
void search_slots(const L& layout, const Slots& slots, std::size_t first, std::size_t size, const text::Needle& needle,
                  bool inverted, std::uint8_t* out, Context& context) {
    const auto search = [&](std::span<const std::uint64_t> offsets, Bytes bytes, std::span<std::uint8_t> found) {
        utf8::require_text<std::uint64_t>(bytes.subspan(offsets.front(), offsets.back() - offsets.front()), offsets);
        text::match<std::uint64_t>(offsets, bytes, needle, found);
    };
    if constexpr (std::is_same_v<L, single_value::Layout>) {
        const std::uint64_t offsets[]{0, layout.value.size()};
        std::uint8_t found = 0;
        search(offsets, layout.value, {&found, 1});
        bits::fill(out, 0, size, found != 0);
    } else if constexpr (is_dictionary<L>) {
        const auto found = block_dictionary::decode(layout, slots, first, size, context);
        const auto answers = context.arena.take<std::uint8_t>(layout.entry_count + 1);
        search(found.starts.subspan(1, layout.entry_count + 1), layout.entries, answers.subspan(1));
        for (auto& answer : answers) answer = (answer != 0) != inverted;
        answers[0] = 0;  // null, no matter what the presence section says
        return numeric::look_up(answers, found.codes, out);
    } else {
        const auto offsets = detail::offsets_of(layout, slots, first, size, context);
        const auto origin = offsets.front(), total = offsets.back() - origin;
        const auto bytes = detail::bytes_of(layout, slots, {first, size, origin}, total, context);
        const auto found = context.arena.take<std::uint8_t>(size);
        if (origin == 0) {
            search(offsets, bytes, found);
        } else {
            const auto rebased = context.arena.take<std::uint64_t>(size + 1);
            for (std::size_t i = 0; i <= size; ++i) rebased[i] = offsets[i] - origin;
            search(rebased, bytes, found);
        }
        bits::test_each(size, out, [&](std::size_t i) { return found[i] != 0; });
    }
    slots.present->keep(first, size, inverted, out, context.arena);
}

// Like compare_run, for strings for which a text operator is true.
inline std::size_t search_run(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                              const text::Needle& needle, bool inverted, std::uint8_t* out, std::size_t at) {
    const auto answer = [&](const auto& layout, const Slots& slots, std::size_t first, std::size_t size, std::uint8_t* answers,
                            Context& context) { search_slots(layout, slots, first, size, needle, inverted, answers, context); };
    return answer_run(blocks, spans, inflated, {}, out, at, answer);
}

}  // namespace amudai::binary
