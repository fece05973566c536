// Bindings for sets of positions, as ranges and as bitmaps.
#include "bits/fences.hpp"
#include "bits/ranges.hpp"
#include "bits/row_bits.hpp"

#include <nanobind/stl/optional.h>

#include "bindings/arrays.hpp"

namespace amudai::bindings {

namespace {

using Positions = In<std::uint64_t>;

constexpr std::size_t range_bytes = 2 * sizeof(std::uint64_t);

// Returns the ranges that `write` produces, at most `most`, from so many bytes.
template <class Write>
nb::tuple ranges_from(std::size_t bytes, std::size_t most, Write&& write) {
    NumpyMemory<std::uint64_t> starts(most), ends(most);
    bits::RangesOut out(starts.data(), ends.data());
    {
        const Unlocked unlocked(bytes + most * range_bytes);
        write(out);
    }
    return nb::make_tuple(std::move(starts).first(out.size()), std::move(ends).first(out.size()));
}

void require_room(std::uint64_t base, std::size_t count) {
    if (base > std::numeric_limits<std::uint64_t>::max() - count) throw nb::value_error("base: too large");
}

void require_words(std::uint64_t base, std::size_t count) {
    if (count > (std::numeric_limits<std::uint64_t>::max() - base) / bits::word_bits) throw nb::value_error("count: too large");
}

template <class Combine>
void bind_combination(nb::module_& m, const char* name, const char* signature, const char* doc, Combine combine) {
    m.def(name, [combine](Positions starts, Positions ends, Positions other_starts, Positions other_ends) {
        const auto a = ranges_of(starts, ends), b = ranges_of(other_starts, other_ends);
        return ranges_from(0, a.size() + b.size(), [&](bits::RangesOut& out) { combine(a, b, out); });
    }, "starts"_a.noconvert(), "ends"_a.noconvert(), "other_starts"_a.noconvert(), "other_ends"_a.noconvert(),
    nb::sig(signature), doc);
}

}  // namespace

void bind_rows(nb::module_& m) {
#define SIGNATURE(name)                                                                                                  \
    "def " name "(starts: NDArray[np.uint64], ends: NDArray[np.uint64], other_starts: NDArray[np.uint64], "              \
    "other_ends: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]"
    bind_combination(m, "unite_ranges", SIGNATURE("unite_ranges"), "The positions in either set.", bits::unite);
    bind_combination(m, "intersect_ranges", SIGNATURE("intersect_ranges"), "The positions in both sets.",
                     bits::intersect);
    bind_combination(m, "subtract_ranges", SIGNATURE("subtract_ranges"),
                     "The positions that the other set does not have.",
                     bits::subtract);
#undef SIGNATURE

    m.def("count_common", [](Positions starts, Positions ends, Positions other_starts, Positions other_ends) {
        if (starts.shape(0) != ends.shape(0) || other_starts.shape(0) != other_ends.shape(0)) {
            throw nb::value_error("ranges: expected as many ends as starts");
        }
        // Whether the ranges ascend is not checked: that takes longer than counting, which nothing unsafe depends on.
        const Unlocked unlocked((starts.shape(0) + other_starts.shape(0)) * range_bytes);
        return bits::count_common({span(starts), span(ends)}, {span(other_starts), span(other_ends)});
    }, "starts"_a.noconvert(), "ends"_a.noconvert(), "other_starts"_a.noconvert(), "other_ends"_a.noconvert(),
    nb::sig("def count_common(starts: NDArray[np.uint64], ends: NDArray[np.uint64], other_starts: NDArray[np.uint64], "
            "other_ends: NDArray[np.uint64]) -> int"),
    "How many positions both sets have. The ranges must ascend, and neither be empty nor touch.");

    m.def("rebase_fences", [](Positions fences, Positions lengths, OutAny out) {
        std::uint64_t lists = 0;
        for (const auto length : span(lengths)) {
            if (length >= fences.shape(0) - lists) throw nb::value_error("lengths: expected fewer lists than fences");
            lists += length;
        }
        if (lists + lengths.shape(0) != fences.shape(0)) throw nb::value_error("fences: expected one more than lists in each group");
        if (out.shape(0) != lists + 1) throw nb::value_error("out: expected room for one more than lists");
        const bool is_wide = out.dtype() == nb::dtype<std::int64_t>();
        if (!is_wide && out.dtype() != nb::dtype<std::int32_t>()) throw nb::value_error("out: expected i4 or i8");
        const Unlocked unlocked(fences.shape(0) * sizeof(std::uint64_t));
        if (is_wide) bits::rebase_fences(span(fences), span(lengths), static_cast<std::int64_t*>(out.data()));
        else bits::rebase_fences(span(fences), span(lengths), static_cast<std::int32_t*>(out.data()));
    }, "fences"_a.noconvert(), "lengths"_a.noconvert(), "out"_a.noconvert(),
    nb::sig("def rebase_fences(fences: NDArray[np.uint64], lengths: NDArray[np.uint64], out: NDArray[Any]) -> None"),
    "Write the offsets, i4 or i8, of the lists of several groups whose items are stored one after the other. Group i has "
    "lengths[i] lists, and `fences` with the beginning of each and the end of the last. The fences of a group must ascend.");

    m.def("positions_of_ranges", [](Positions starts, Positions ends) {
        const auto ranges = ranges_of(starts, ends);
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < ranges.size(); ++i) count += ranges.ends[i] - ranges.starts[i];
        NumpyMemory<std::uint64_t> positions(count);
        {
            const Unlocked unlocked(count * sizeof(std::uint64_t));
            bits::positions_of(ranges, positions.data());
        }
        return std::move(positions).array();
    }, "starts"_a.noconvert(), "ends"_a.noconvert(),
    nb::sig("def positions_of_ranges(starts: NDArray[np.uint64], ends: NDArray[np.uint64]) -> NDArray[np.uint64]"),
    "Every position of the ranges.");

    m.def("ranges_of_positions", [](Positions positions) {
        const auto values = span(positions);
        std::size_t count = 0;
        if (!bits::count_ranges(values, count)) throw nb::value_error("positions: expected an ascending sequence");
        return ranges_from(positions.nbytes(), count, [&](bits::RangesOut& out) { bits::ranges_of_positions(values, out); });
    }, "positions"_a.noconvert(),
    nb::sig("def ranges_of_positions(positions: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]"),
    "The ranges that ascending positions form. Positions may repeat.");

    m.def("select_ranges", [](Positions starts, Positions ends, In<std::uint8_t> bitmap) {
        const auto ranges = ranges_of(starts, ends);
        std::uint64_t room = 8 * bitmap.shape(0);
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            const auto count = ranges.ends[i] - ranges.starts[i];
            if (count > room) throw nb::value_error("bitmap: too short");
            room -= count;
        }
        std::size_t stretches = 0;
        {
            const Unlocked unlocked(bitmap.shape(0) + ranges.size() * range_bytes);
            bits::for_each_range(ranges, [&](auto at, auto count, auto) {
                stretches += bits::count_stretches(bitmap.data(), at, count);
            });
        }
        return ranges_from(bitmap.shape(0), stretches, [&](bits::RangesOut& out) {
            bits::for_each_range(ranges, [&](auto at, auto count, auto base) {
                bits::for_each_stretch(bitmap.data(), at, count, base, [&](auto start, auto end) { out.add(start, end); });
            });
        });
    }, "starts"_a.noconvert(), "ends"_a.noconvert(), "bitmap"_a.noconvert(),
    nb::sig("def select_ranges(starts: NDArray[np.uint64], ends: NDArray[np.uint64], bitmap: NDArray[np.uint8]) "
            "-> tuple[NDArray[np.uint64], NDArray[np.uint64]]"),
    "The positions of the ranges whose bit is set. Bit i belongs to the i-th position of all ranges together.");

    m.def("ranges_of_bitmap", [](In<std::uint8_t> bitmap, std::size_t at, std::size_t count, std::uint64_t base) {
        const auto held = 8 * bitmap.shape(0);
        if (at > held || count > held - at) throw nb::value_error("bitmap: too short");
        require_room(base, count);
        std::size_t stretches = 0;
        {
            const Unlocked unlocked(count / 8);
            stretches = bits::count_stretches(bitmap.data(), at, count);
        }
        return ranges_from(count / 8, stretches, [&](bits::RangesOut& out) {
            bits::for_each_stretch(bitmap.data(), at, count, base, [&](auto start, auto end) { out.add(start, end); });
        });
    }, "bitmap"_a.noconvert(), "at"_a, "count"_a, "base"_a,
    nb::sig("def ranges_of_bitmap(bitmap: NDArray[np.uint8], at: int, count: int, base: int) "
            "-> tuple[NDArray[np.uint64], NDArray[np.uint64]]"),
    "The ranges of set bits among the `count` bits from bit `at` on. Bit `at` is position `base`.");

    m.def("few_ranges_of_bitmap", [](In<std::uint8_t> bitmap, std::size_t count, std::uint64_t base, std::size_t most)
                                      -> std::optional<nb::tuple> {
        if (count > 8 * bitmap.shape(0)) throw nb::value_error("bitmap: too short");
        require_room(base, count);
        std::size_t stretches = 0;
        {
            const Unlocked unlocked(count / 8);
            stretches = bits::count_stretches(bitmap.data(), 0, count);
        }
        if (stretches > most) return std::nullopt;
        return ranges_from(count / 8, stretches, [&](bits::RangesOut& out) {
            bits::for_each_stretch(bitmap.data(), 0, count, base, [&](auto start, auto end) { out.add(start, end); });
        });
    }, "bitmap"_a.noconvert(), "count"_a, "base"_a, "most"_a,
    nb::sig("def few_ranges_of_bitmap(bitmap: NDArray[np.uint8], count: int, base: int, most: int) "
            "-> tuple[NDArray[np.uint64], NDArray[np.uint64]] | None"),
    "The ranges of set bits among the first `count` bits; None if there are more than `most`. Bit 0 is position `base`.");

    m.def("count_bits", [](In<std::uint64_t> words) {
        const Unlocked unlocked(words.shape(0) * sizeof(std::uint64_t));
        return bits::count_words(span(words));
    }, "words"_a.noconvert(), nb::sig("def count_bits(words: NDArray[np.uint64]) -> int"), "The number of set bits.");

    m.def("align_bits", [](In<std::uint8_t> bitmap, std::size_t count, std::size_t offset) {
        if (count > 8 * bitmap.shape(0)) throw nb::value_error("bitmap: too short");
        if (offset >= bits::word_bits) throw nb::value_error("offset: expected less than 64");
        NumpyMemory<std::uint64_t> words((offset + count + bits::word_bits - 1) / bits::word_bits);
        {
            const Unlocked unlocked(words.span().size_bytes());
            bits::align(bitmap.data(), count, offset, words.span());
        }
        return std::move(words).array();
    }, "bitmap"_a.noconvert(), "count"_a, "offset"_a,
    nb::sig("def align_bits(bitmap: NDArray[np.uint8], count: int, offset: int) -> NDArray[np.uint64]"),
    "The first `count` bits of a bitmap, copied into words from bit `offset` on. All other bits are 0.");

    m.def("bits_of_ranges", [](Positions starts, Positions ends, std::uint64_t base, std::size_t count) {
        const auto ranges = ranges_of(starts, ends);
        require_words(base, count);
        NumpyMemory<std::uint64_t> words(count);
        {
            const Unlocked unlocked(words.span().size_bytes() + ranges.size() * range_bytes);
            bits::mark(ranges, base, words.span());
        }
        return std::move(words).array();
    }, "starts"_a.noconvert(), "ends"_a.noconvert(), "base"_a, "count"_a,
    nb::sig("def bits_of_ranges(starts: NDArray[np.uint64], ends: NDArray[np.uint64], base: int, count: int) "
            "-> NDArray[np.uint64]"),
    "The positions of the ranges as `count` words of bits, the first of which is position `base`. Positions outside "
    "of the words are left out.");

    m.def("clear_ranges", [](In<std::uint64_t> words, std::uint64_t base, Positions starts, Positions ends) {
        const auto ranges = ranges_of(starts, ends);
        require_words(base, words.shape(0));
        NumpyMemory<std::uint64_t> left(words.shape(0));
        {
            const Unlocked unlocked(left.span().size_bytes() + ranges.size() * range_bytes);
            std::ranges::copy(span(words), left.data());
            bits::unmark(ranges, base, left.span());
        }
        return std::move(left).array();
    }, "words"_a.noconvert(), "base"_a, "starts"_a.noconvert(), "ends"_a.noconvert(),
    nb::sig("def clear_ranges(words: NDArray[np.uint64], base: int, starts: NDArray[np.uint64], ends: NDArray[np.uint64]) "
            "-> NDArray[np.uint64]"),
    "The words of bits, the first of which is position `base`, without the positions of the ranges.");

    m.def("count_ranges", [](In<std::uint64_t> words, std::uint64_t base, Positions starts, Positions ends) {
        const auto ranges = ranges_of(starts, ends);
        require_words(base, words.shape(0));
        const Unlocked unlocked(words.shape(0) * sizeof(std::uint64_t) + ranges.size() * range_bytes);
        return bits::count_marked(ranges, base, span(words));
    }, "words"_a.noconvert(), "base"_a, "starts"_a.noconvert(), "ends"_a.noconvert(),
    nb::sig("def count_ranges(words: NDArray[np.uint64], base: int, starts: NDArray[np.uint64], ends: NDArray[np.uint64]) "
            "-> int"),
    "How many positions of the ranges have their bit set in the words, the first bit of which is position `base`.");
}

}  // namespace amudai::bindings
