// RunLength (code 6): values and how often each repeats. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/encoder.hpp"

namespace amudai::numeric::run_length {

inline constexpr std::uint16_t code = 6;
inline constexpr std::string_view name = "run_length";
inline constexpr std::size_t header_size = 16;
template <class T>
inline constexpr bool accepts = true;

struct Layout {
    std::size_t runs;
    bool values_nested, lengths_nested;
    Bytes values, lengths;
};

// Where the lengths begin. The reference implementation pads the values to an 8-byte boundary of the block when it
// writes, but of the section when it reads. The two differ only if the section does not begin at such a boundary; then
// the lengths lie a few bytes off. A section of lengths is found by its code, whose low byte is never 0, while padding
// is. Raw lengths are found by their sum (`lengths_of`).
inline std::size_t lengths_at(Bytes section, std::size_t values_size, bool nested, std::size_t shift) {
    const auto expected = header_size + align8(values_size + shift) - shift;
    if (!nested) return expected;
    auto at = header_size + values_size;
    const auto end = std::min(section.size(), expected + 8);
    while (at < end && section[at] == 0) ++at;
    return at < end ? at : expected;
}

inline Layout layout(Bytes section, std::size_t count, std::size_t shift = 0) {
    require_at_least("run_length section bytes", section.size(), header_size);
    const std::size_t values_size = load<std::uint32_t>(section, 2);
    const std::size_t runs = load<std::uint32_t>(section, 6);
    require_range("run_length runs", runs, count ? 1 : 0, count);
    const auto values = part("run_length values bytes", section, header_size, values_size);
    const bool nested = section[11] != 0;
    const auto lengths = rest("run_length section bytes", section, lengths_at(section, values_size, nested, shift));
    return {runs, section[10] != 0, nested, values, lengths};
}

template <class T, class Visit>
void parts(Bytes section, std::size_t count, Visit&& visit) {
    const auto found = layout(section, count);
    if (found.values_nested) visit.template operator()<T>(found.values, found.runs);
    if (found.lengths_nested) visit.template operator()<std::uint32_t>(found.lengths, found.runs);
}

inline std::uint64_t sum(std::span<const std::uint32_t> lengths) {
    std::uint64_t total = 0;
    for (const auto length : lengths) total += length;
    return total;
}

// How often each value repeats. The sum must be `count`.
inline std::span<const std::uint32_t> lengths_of(Bytes section, const Layout& found, std::size_t count, Context& context) {
    const auto decode_lengths = [&](const Layout& at) {
        return decode_all<std::uint32_t>("run_length lengths", at.lengths_nested, at.lengths, at.runs, context);
    };
    const auto shift = static_cast<std::size_t>(section.data() - context.block) % 8;
    if (shift != 0 && !found.lengths_nested) {
        try {
            const auto lengths = decode_lengths(found);
            if (sum(lengths) == count) return lengths;
        } catch (const Corrupted&) {
        }
        const auto lengths = decode_lengths(layout(section, count, shift));
        if (sum(lengths) == count) return lengths;
    }
    const auto lengths = decode_lengths(found);
    require_equal("sum of run lengths", sum(lengths), count);
    return lengths;
}

// The distinct values of a section, one for each of its runs.
template <class T>
std::span<const T> heads_of(const Layout& found, Context& context) {
    return decode_all<T>("run_length values", found.values_nested, found.values, found.runs, context);
}

// Writes the values from `first` on. The runs must cover all of them.
template <class T>
void repeat(std::span<const T> heads, std::span<const std::uint32_t> lengths, std::size_t first, std::span<T> out) {
    std::size_t run = 0;
    std::size_t skip = first;
    while (skip >= lengths[run]) skip -= lengths[run++];
    T* at = out.data();
    T* const end = at + out.size();
    for (std::size_t left = lengths[run] - skip; at != end; left = lengths[++run]) {
        const auto value = heads[run];
        constexpr std::size_t step = 32 / sizeof(T);
        const auto room = static_cast<std::size_t>(end - at);
        if (left <= step && room >= step) {
            // Most runs are short: write a whole step, then advance by the length of the run.
            for (std::size_t i = 0; i < step; ++i) at[i] = value;
            at += left;
        } else {
            const auto length = std::min(left, room);
            std::fill_n(at, length, value);
            at += length;
        }
        if (at == end) break;
    }
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    const auto found = layout(section, count);
    const auto lengths = lengths_of(section, found, count, context);
    const auto heads = heads_of<T>(found, context);
    // Everything is checked by now: the runs cover exactly `count` values.
    repeat<T>(heads, lengths, first, out);
}

template <class T, class Visit>
void asks(Visit&& visit) {
    visit.template operator()<T>(true);
    visit.template operator()<std::uint32_t>(true);
}

// Finds the value and the length of each run. Returns the number of runs. Both spans must have room for as many runs as
// there are values.
template <class T>
std::size_t find_runs(std::span<const T> values, std::span<T> heads, std::span<std::uint32_t> lengths) {
    constexpr std::size_t tile = 128 / sizeof(T);
    std::size_t runs = 0;
    const auto step = [&](std::size_t i) {
        // Written for every value, but only kept if the next value differs: no branch to mispredict.
        heads[runs] = values[i];
        lengths[runs] = static_cast<std::uint32_t>(i + 1);
        runs += difference(values[i], values[i + 1]) != 0;
    };
    std::size_t at = 0;
    for (; at + tile < values.size(); at += tile) {
        unsigned_of<T> differences = 0;
        for (std::size_t i = at; i < at + tile; ++i) differences |= difference(values[i], values[i + 1]);
        if (!differences) continue;
        for (std::size_t i = at; i < at + tile; ++i) step(i);
    }
    for (; at + 1 < values.size(); ++at) step(at);
    heads[runs] = values[at];
    lengths[runs++] = static_cast<std::uint32_t>(values.size());
    // So far `lengths` holds where each run ends.
    for (std::size_t run = runs - 1; run; --run) lengths[run] -= lengths[run - 1];
    return runs;
}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    const auto heads = context.arena.take<T>(values.size());
    const auto lengths = context.arena.take<std::uint32_t>(values.size());
    const auto runs = find_runs(values, heads, lengths);
    context.wants_alignment(out);
    const auto at = out.header(code, header_size);
    out.set<std::uint8_t>(at + 10, encode_part<T>(heads.first(runs), plan.part(0), out, context));
    out.set<std::uint32_t>(at + 2, static_cast<std::uint32_t>(out.size() - at - header_size));
    out.set<std::uint32_t>(at + 6, static_cast<std::uint32_t>(runs));
    out.pad8(at);
    out.set<std::uint8_t>(at + 11, encode_part<std::uint32_t>(lengths.first(runs), plan.part(1), out, context));
}

}  // namespace amudai::numeric::run_length
