// Comparison of numbers with ranges. Numbers are compared where they are unpacked, without writing them to memory.
#pragma once
#include <optional>

#include "bits/answers.hpp"
#include "bits/packed_test.hpp"
#include "numeric/run.hpp"

namespace amudai::numeric {

// A range of integers, both ends included. It is stored as its first integer and the distance to its last one. So it is
// the same for signed and unsigned numbers, and can be moved by any reference, wrapping around the end of the type if
// needed.
template <class T>
struct Range {
    using U = unsigned_of<T>;
    U first, length;

    static Range between(T low, T high) {
        return {static_cast<U>(low), static_cast<U>(static_cast<U>(high) - static_cast<U>(low))};
    }
    bool holds(T value) const { return static_cast<U>(static_cast<U>(value) - first) <= length; }
    // The same range for distances from `reference`.
    Range<U> from(U reference) const { return {static_cast<U>(first - reference), length}; }

    // Whether the range certainly holds all of the numbers 0..most, and whether it holds none of them.
    bool holds_all(U most) const { return (first == 0 || goes_around()) && last() >= most; }
    bool holds_none(U most) const { return !goes_around() && first > most; }

private:
    U last() const { return static_cast<U>(first + length); }
    bool goes_around() const { return last() < first; }
};

// A range of floats, which compare as in IEEE 754: NaN is in no range, and the two zeros are equal.
template <std::floating_point T>
struct Range<T> {
    T low, high;

    static Range between(T low, T high) { return {low, high}; }
    bool holds(T value) const { return bool(int{low <= value} & int{value <= high}); }
};

// Ranges of which a value must be in at least one. There should be few: each value is compared with all of them.
template <class T>
using AnyOf = std::span<const Range<T>>;

template <class T>
bool any_holds(AnyOf<T> ranges, T value) {
    return std::ranges::any_of(ranges, [&](const auto& range) { return range.holds(value); });
}

template <class T>
void compare_values(std::span<const T> values, AnyOf<T> ranges, std::uint8_t* out) {
    const auto* const at = values.data();
    if (ranges.size() == 1) {
        bits::test_each(values.size(), out, [at, range = ranges[0]](std::size_t i) { return range.holds(at[i]); });
    } else if (ranges.size() == 2) {
        bits::test_each(values.size(), out, [at, one = ranges[0], other = ranges[1]](std::size_t i) {
            return bool(int{one.holds(at[i])} | int{other.holds(at[i])});
        });
    } else {
        bits::test_each(values.size(), out, [&](std::size_t i) { return any_holds(ranges, at[i]); });
    }
}

// The codes whose answer is 1, if there are any and no other code lies between them: entries are usually sorted, so that
// those in a range are neighbours.
inline std::optional<Range<std::uint32_t>> neighbours(std::span<const std::uint8_t> answers) {
    const auto begin = std::ranges::find(answers, 1);
    const auto end = std::find(begin, answers.end(), 0);
    if (begin == end || std::find(end, answers.end(), 1) != answers.end()) return {};
    return Range<std::uint32_t>::between(static_cast<std::uint32_t>(begin - answers.begin()),
                                         static_cast<std::uint32_t>(end - answers.begin() - 1));
}

// Writes for each code the answer, 0 or 1, of its entry.
inline void look_up(std::span<const std::uint8_t> answers, std::span<const std::uint32_t> codes, std::uint8_t* out) {
    if (const auto range = neighbours(answers)) {
        return compare_values<std::uint32_t>(codes, {&*range, 1}, out);  // faster than looking up answers
    }
    if (std::ranges::find(answers, 1) == answers.end()) return bits::fill(out, 0, codes.size(), false);
    // A word holds the answers of few entries: compilers vectorise shifts, but not loads from a table.
    if (answers.size() <= 32) {
        std::uint32_t word = 0;
        for (std::size_t i = 0; i < answers.size(); ++i) word |= std::uint32_t{answers[i] != 0} << i;
        return bits::test_each(codes.size(), out, [&](std::size_t i) { return (word >> codes[i] & 1) != 0; });
    }
    if (answers.size() <= 64) {
        std::uint32_t words[2] = {};
        for (std::size_t i = 0; i < answers.size(); ++i) words[i / 32] |= std::uint32_t{answers[i] != 0} << i % 32;
        return bits::test_each(codes.size(), out, [&, low = words[0], high = words[1]](std::size_t i) {
            return ((codes[i] < 32 ? low : high) >> (codes[i] & 31) & 1) != 0;
        });
    }
    bits::test_each(codes.size(), out, [&](std::size_t i) { return answers[codes[i]] != 0; });
}

// Sets bit i of `out` to whether value `first + i` of a section lies in one of the ranges. `out` must have room for
// whole words.
template <class T>
void compare_section(Bytes section, std::size_t count, std::size_t first, std::size_t size, AnyOf<T> ranges,
                     std::uint8_t* out, Context& context);

namespace detail {

template <class T>
std::span<Range<unsigned_of<T>>> moved(AnyOf<T> ranges, unsigned_of<T> reference, Context& context) {
    const auto found = context.arena.take<Range<unsigned_of<T>>>(ranges.size());
    std::ranges::transform(ranges, found.begin(), [&](const auto& range) { return range.from(reference); });
    return found;
}

// Sets bit i of `out` to whether the packed value `first + i` lies in one of the ranges. With `largest`, also raises it to
// the largest value. What is no whole chunk, or compared with several ranges, is unpacked into the L1 cache.
template <class U>
void compare_chunks(const fl_bit_pack::Layout<U>& found, std::size_t first, std::size_t size, AnyOf<U> ranges,
                    std::uint8_t* out, U* largest = nullptr) {
    U values[bits::chunk_values];
    std::uint8_t answers[bits::chunk_values / 8 + 8];
    for (std::size_t done = 0; done < size;) {
        const auto step = std::min(size - done, bits::chunk_values - (first + done) % bits::chunk_values);
        const bool in_place = done % 8 == 0 && step % 64 == 0;
        auto* const to = in_place ? out + done / 8 : answers;
        const auto test = [&] {
            if constexpr (bits::tests_chunks<U>) {
                if (step < bits::chunk_values || ranges.size() != 1) return false;
                const auto ordinal = (first + done) / bits::chunk_values;
                const auto* const chunk = found.data.data() + ordinal * bits::chunk_bytes(found.width);
                bits::test_chunk<U>(chunk, found.width, ranges[0].first, ranges[0].length, to, largest);
                return true;
            }
            return false;
        };
        if (!test()) {
            bits::unpack<U>(found.data.data(), found.width, 0, first + done, std::span(values, step));
            if (largest) *largest = std::max(*largest, *std::max_element(values, values + step));
            compare_values<U>(std::span<const U>(values, step), ranges, to);
        }
        if (!in_place) bits::copy(answers, 0, out, done, step);
        done += step;
    }
}

// Compares bit-packed values. Sometimes the width alone decides.
template <class U>
void compare_packed(const fl_bit_pack::Layout<U>& found, std::size_t first, std::size_t size, std::span<Range<U>> ranges,
                    std::uint8_t* out) {
    const auto most = bits::width_mask<U>(found.width);
    if (std::ranges::any_of(ranges, [&](const auto& range) { return range.holds_all(most); })) {
        return bits::fill(out, 0, size, true);
    }
    const auto beyond = std::ranges::remove_if(ranges, [&](const auto& range) { return range.holds_none(most); });
    const AnyOf<U> near(ranges.begin(), beyond.begin());
    if (near.empty()) return bits::fill(out, 0, size, false);
    compare_chunks<U>(found, first, size, near, out);
}

// The same for packed codes and a range of them, if that takes less time than decoding the codes. Returns the largest
// code, which the caller compares with the number of entries.
inline std::optional<std::uint64_t> compare_packed_codes(Bytes section, std::size_t count, std::size_t first, std::size_t size,
                                                         Range<std::uint32_t> range, std::uint8_t* out, Context& context) {
    using U = std::uint32_t;
    const auto code = code_of(section);
    if (!bits::tests_chunks<U> || (code != fl_bit_pack::code && code != ffor::code)) return {};
    const Deeper deeper(context);
    const auto found = code == ffor::code ? ffor::layout<U>(section, count) : fl_bit_pack::layout<U>(section, count);
    // Codes that wrap around are not in the order of the packed values.
    if (found.reference > std::numeric_limits<U>::max() - bits::width_mask<U>(found.width)) return {};
    const auto moved = range.from(found.reference);
    U largest = 0;
    compare_chunks<U>(found, first, size, {&moved, 1}, out, &largest);
    return std::uint64_t{found.reference} + largest;
}

template <class T>
void compare_runs(Bytes section, std::size_t count, std::size_t first, std::size_t size, AnyOf<T> ranges, std::uint8_t* out,
                  Context& context) {
    const auto found = run_length::layout(section, count);
    const auto lengths = run_length::lengths_of(section, found, count, context);
    const auto answers = context.arena.take<std::uint8_t>(bits::answer_bytes(found.runs));
    if (found.values_nested) {
        compare_section<T>(found.values, found.runs, 0, found.runs, ranges, answers.data(), context);
    } else {
        const auto values = decode_all<T>("run_length values", false, found.values, found.runs, context);
        compare_values<T>(values, ranges, answers.data());
    }
    std::size_t run = 0;
    while (first >= lengths[run]) first -= lengths[run++];
    bits::Stretches stretches(out);
    for (auto left = lengths[run] - first; size; left = lengths[++run]) {
        const auto length = std::min<std::size_t>(left, size);
        stretches.add(bits::get(answers.data(), run), length);
        size -= length;
        if (size == 0) break;
    }
    stretches.finish();
}

template <class T>
void compare_codes(Bytes section, std::size_t count, std::size_t first, std::size_t size, AnyOf<T> ranges, std::uint8_t* out,
                   Context& context) {
    const auto found = block_dictionary::layout<T>(section, count);
    const auto entries = block_dictionary::entries_of<T>(found, context);
    const auto answers = context.arena.take<std::uint8_t>(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) answers[i] = any_holds(ranges, entries[i]);
    if (const auto range = neighbours(answers)) {
        if (const auto largest = compare_packed_codes(found.codes, count, first, size, *range, out, context)) {
            return require_range("block_dictionary code", *largest, 0, found.entries);
        }
    }
    look_up(answers, block_dictionary::codes_of(found, count, first, size, context), out);
}

// The integers whose floats, as ALP makes them, lie in a range. Multiplying by positive numbers never reverses an order,
// also after rounding, so these integers are neighbours, and both ends are found by binary search. Comparisons with NaN
// are false, so that a range with such an end holds nothing.
template <class T, class ToFloat>
std::optional<Range<signed_of<T>>> integers_within(const Range<T>& range, ToFloat&& to_float) {
    using Integer = signed_of<T>;
    using U = unsigned_of<T>;
    constexpr auto least = std::numeric_limits<Integer>::min(), most = std::numeric_limits<Integer>::max();
    // The first integer for which `holds` is true, given that it is true for all integers after that one.
    const auto first_that = [](auto&& holds) -> std::optional<Integer> {
        if (!holds(most)) return {};
        Integer low = least, high = most;
        while (low < high) {
            const auto half = static_cast<Integer>(static_cast<U>(static_cast<U>(high) - static_cast<U>(low)) / 2);
            const auto middle = static_cast<Integer>(low + half);
            if (holds(middle)) high = middle;
            else low = static_cast<Integer>(middle + 1);
        }
        return low;
    };
    const auto low = first_that([&](Integer integer) { return to_float(integer) >= range.low; });
    if (!low || !(to_float(*low) <= range.high)) return {};
    const auto behind = first_that([&](Integer integer) { return to_float(integer) > range.high; });
    return Range<Integer>::between(*low, behind ? static_cast<Integer>(*behind - 1) : most);
}

// Compares the integers of ALP instead of the floats they stand for, and the exceptions by their values.
template <class T>
void compare_alp(Bytes section, std::size_t count, std::size_t first, std::size_t size, AnyOf<T> ranges, std::uint8_t* out,
                 Context& context) {
    using Integer = signed_of<T>;
    const auto found = alp::layout<T>(section, count);
    const auto near = context.arena.take<Range<Integer>>(ranges.size());
    std::size_t kept = 0;
    for (const auto& range : ranges) {
        const auto within = integers_within(range, [&](Integer integer) { return alp::to_float<T>(found, integer); });
        if (within) near[kept++] = *within;
    }
    if (kept) compare_section<Integer>(found.integers, count, first, size, near.first(kept), out, context);
    else bits::fill(out, 0, size, false);
    alp::each_exception<T>(found, count, [&](std::size_t position, T value) {
        if (position >= first && position - first < size) bits::set(out, position - first, any_holds(ranges, value));
    });
}

}  // namespace detail

template <class T>
void compare_section(Bytes section, std::size_t count, std::size_t first, std::size_t size, AnyOf<T> ranges,
                     std::uint8_t* out, Context& context) {
    if (size == 0) return;
    const auto code = code_of(section);
    const auto within = [&](auto&& compare) {
        const Deeper deeper(context);
        compare();
    };
    if constexpr (ffor::accepts<T>) {
        if (code == ffor::code) {
            return within([&] {
                const auto found = ffor::layout<T>(section, count);
                detail::compare_packed(found, first, size, detail::moved(ranges, found.reference, context), out);
            });
        }
        if (code == frame_of_reference::code) {
            return within([&] {
                const auto nested = rest("for section bytes", section, frame_of_reference::header_size<T>);
                const auto near = detail::moved(ranges, load<unsigned_of<T>>(section, 2), context);
                compare_section<unsigned_of<T>>(nested, count, first, size, near, out, context);
            });
        }
    }
    if constexpr (fl_bit_pack::accepts<T>) {
        if (code == fl_bit_pack::code) {
            return within([&] {
                const auto near = detail::moved(ranges, 0, context);
                detail::compare_packed(fl_bit_pack::layout<T>(section, count), first, size, near, out);
            });
        }
    }
    if constexpr (alp::accepts<T>) {
        if (code == alp::code) {
            return within([&] { detail::compare_alp<T>(section, count, first, size, ranges, out, context); });
        }
    }
    switch (code) {
        case single_value::code: {
            T value;
            decode_section<T>(section, count, 0, {&value, 1}, context);
            return bits::fill(out, 0, size, any_holds(ranges, value));
        }
        case run_length::code:
            return within([&] { detail::compare_runs(section, count, first, size, ranges, out, context); });
        case block_dictionary::code:
            return within([&] { detail::compare_codes(section, count, first, size, ranges, out, context); });
        default: {
            // Sums and compressed bytes cannot be compared before they are decoded.
            const auto values = context.arena.take<T>(size);
            decode_section<T>(section, count, first, values, context);
            return compare_values<T>(values, ranges, out);
        }
    }
}

// Sets bit `at + i` of `out` if slot i of the spans holds a value that lies in one of the ranges or, with `inverted`,
// in none of them. The bit of a null is never set. Returns how many bits are set.
template <class T>
std::size_t compare_run(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                        AnyOf<T> ranges, bool inverted, std::uint8_t* out, std::size_t at) {
    Arena arena;
    std::size_t found = 0;
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        const auto present = presence::decode(block.presence, block.count, arena);
        const auto compare = [&](std::span<const Span> near) {
            const auto first = near.front().first;
            const auto size = near.back().first + near.back().count - first;
            const auto answers = arena.take<std::uint8_t>(bits::answer_bytes(size));
            compare_section<T>(block.values, block.count, first, size, ranges, answers.data(), context);
            present.keep(first, size, inverted, answers.data(), arena);
            for (const auto& span : near) {
                bits::copy(answers.data(), span.first - first, out, at, span.count);
                found += bits::count_set(out, at, span.count);
                at += span.count;
            }
        };
        if (!are_apart<T>(block, wanted)) return compare(wanted);
        for (const auto& span : wanted) compare({&span, 1});
    });
    return found;
}

// Bit `at + i` of `out` is the answer, 0 or 1, to the code in slot i of the spans. Returns how many bits are set.
inline std::size_t compare_codes(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                                 std::span<const std::uint8_t> answers, std::uint8_t* out, std::size_t at) {
    Arena arena;
    std::size_t found = 0;
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        require_all_present(block, arena);
        const auto look_up_all = [&](std::span<const Span> near) {
            const auto first = near.front().first;
            const auto size = near.back().first + near.back().count - first;
            const auto found_bits = arena.take<std::uint8_t>(bits::answer_bytes(size));
            const auto require_codes = [&](std::uint64_t largest) {
                if (size) require_range("dictionary code", largest, 0, answers.empty() ? 0 : answers.size() - 1);
                if (size && answers.empty()) throw Corrupted("dictionary code: the dictionary is empty");
            };
            const auto wanted_codes = size ? neighbours(answers) : std::nullopt;
            const auto packed = !wanted_codes ? std::nullopt
                                              : detail::compare_packed_codes(block.values, block.count, first, size,
                                                                             *wanted_codes, found_bits.data(), context);
            if (packed) {
                require_codes(*packed);
            } else {
                const auto codes = arena.take<std::uint32_t>(size);
                decode_section<std::uint32_t>(block.values, block.count, first, codes, context);
                std::uint32_t largest = 0;
                for (const auto code : codes) largest = std::max(largest, code);
                require_codes(largest);
                look_up(answers, codes, found_bits.data());
            }
            for (const auto& span : near) {
                bits::copy(found_bits.data(), span.first - first, out, at, span.count);
                found += bits::count_set(out, at, span.count);
                at += span.count;
            }
        };
        if (!are_apart<std::uint32_t>(block, wanted)) return look_up_all(wanted);
        for (const auto& span : wanted) look_up_all({&span, 1});
    });
    return found;
}

}  // namespace amudai::numeric
