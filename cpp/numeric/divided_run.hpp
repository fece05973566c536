// Decoding of a run of blocks of integers to a coarser unit: ticks become days or microseconds block by block, while they
// are in the cache.
#pragma once
#include "numeric/divide.hpp"
#include "numeric/run.hpp"

namespace amudai::numeric {

// (value - origin) / by.
struct Unit {
    std::int64_t origin, by;
};

// Writes the quotients of `values`. Returns whether they are exact. Unsigned values must not use the highest bit.
template <class T, class Out>
bool divide(std::span<const T> values, const Unit& unit, Out* out) {
    const std::span<const std::int64_t> numbers{reinterpret_cast<const std::int64_t*>(values.data()), values.size()};
    bool in_range = true;
    if constexpr (std::unsigned_integral<T>) {
        T seen = 0;
        for (const auto value : values) seen |= value;
        in_range = seen >> 63 == 0;
    }
    return divide_exactly<Out>(numbers, unit.origin, unit.by, out) && in_range;
}

struct Divided {
    std::size_t nulls;
    bool exact;
};

// The slots of `spans` in a coarser unit. Returns whether all quotients are exact. Entries of a dictionary, heads of runs
// and a single value are divided once and not for each of their slots.
template <class T, class Out>
bool decode_block_divided(const Block& block, std::span<const Span> spans, const Unit& unit, std::span<Out> out,
                          Context& context) {
    const auto code = code_of(block.values);
    auto& arena = context.arena;
    if (code == single_value::code) {
        const auto value = arena.take<T>(1);
        decode_section<T>(block.values, block.count, 0, value, context);
        Out quotient;
        const bool exact = divide<T, Out>(value, unit, &quotient);
        std::ranges::fill(out, quotient);
        return exact;
    }
    if (spans.size() == 1 && code == run_length::code) {
        const auto found = run_length::layout(block.values, block.count);
        const auto lengths = run_length::lengths_of(block.values, found, block.count, context);
        const auto heads = run_length::heads_of<T>(found, context);
        const auto quotients = arena.take<Out>(heads.size());
        const bool exact = divide<T, Out>(heads, unit, quotients.data());
        run_length::repeat<Out>(quotients, lengths, spans[0].first, out);
        return exact;
    }
    if (spans.size() == 1 && code == block_dictionary::code) {
        const auto found = block_dictionary::layout<T>(block.values, block.count);
        const auto codes = block_dictionary::codes_of(found, block.count, spans[0].first, out.size(), context);
        const auto entries = block_dictionary::entries_of<T>(found, context);
        const auto quotients = arena.take<Out>(entries.size());
        quotients[0] = 0;  // for null slots
        const bool exact = divide<T, Out>(entries.subspan(1), unit, quotients.data() + 1);
        block_dictionary::look_up<Out>(quotients, codes, out.data());
        return exact;
    }
    const auto values = arena.take<T>(out.size());
    decode_spans<T>(block, spans, values, context);
    return divide<T, Out>(values, unit, out.data());
}

// Like decode_run, for 64-bit integers in a coarser unit. If `exact` is false, a value is not a multiple of the unit or
// out of range, and `out` holds nothing of use. This may be the value of a null slot, or an entry that no slot uses.
template <class T, class Out>
Divided decode_divided(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                       const Unit& unit, std::span<Out> out, std::uint8_t* validity, std::size_t at) {
    Arena arena;
    Divided result{0, true};
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        const auto count = total(wanted);
        result.exact &= decode_block_divided<T, Out>(block, wanted, unit, out.subspan(at, count), context);
        result.nulls += write_presence(block, wanted, validity, at, arena);
        at += count;
    });
    return result;
}

}  // namespace amudai::numeric
