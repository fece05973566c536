// Bindings for block maps: where all blocks are, and which blocks hold given positions.
#include "base/block_map.hpp"
#include "bits/ranges.hpp"

#include "bindings/arrays.hpp"

namespace amudai::bindings {

namespace {

using Numbers = In<std::uint64_t>;

// A map together with its bytes.
class Map {
public:
    Map(nb::handle payload, std::uint64_t room, std::optional<std::uint64_t> values, std::optional<std::uint64_t> blocks)
        : held_(payload), map_(held_.bytes(), room) {
        if (values) require_equal("block map value_count", map_.values(), *values);
        if (blocks) require_equal("block map block_count", map_.blocks(), *blocks);
    }

    BlockMap& map() { return map_; }

private:
    Held held_;
    BlockMap map_;
};

// An array of numbers that a map owns.
auto array_of(nb::handle map, std::span<const std::uint64_t> numbers) {
    return nb::ndarray<nb::numpy, const std::uint64_t, nb::ndim<1>>(numbers.data(), {numbers.size()}, map);
}

// The ranges that have positions in a block: those with indexes [first, last). The block's positions are those from
// `begin` on, up to but without `end`. Only the first range may begin before them, and only the last may end after them.
struct Share {
    BlockMap::Place place;
    std::size_t first, last;
    std::uint64_t begin, end;

    std::uint64_t start_of(const bits::Ranges& ranges, std::size_t i) const { return std::max(ranges.starts[i], begin); }
    std::uint64_t end_of(const bits::Ranges& ranges, std::size_t i) const { return std::min(ranges.ends[i], end); }
};

// Calls use(share) for each block that holds positions of the ranges. A value has `unit` positions. No range may go
// beyond the last value.
template <class Unit, class Use>
void each_share(BlockMap& map, const bits::Ranges& ranges, Unit unit, Use&& use) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    BlockMap::Place place{};
    for (std::size_t i = 0; i < ranges.size();) {
        const auto value = ranges.starts[i] / unit;
        // Most ranges begin in the block in which the one before them ended, or in the next.
        if (value >= place.value_end) place = map.find(value, place.block);
        for (bool goes_on = true; goes_on;) {
            const auto end = place.value_end > most / unit ? most : place.value_end * unit;
            auto last = i + 1;
            if (ranges.ends[i] < end) last = bits::seek(ranges.starts, last, end);
            use(Share{place, i, last, place.value * unit, end});
            goes_on = ranges.ends[last - 1] > end;
            i = goes_on ? last - 1 : last;
            if (goes_on) place = map.next(place.block);
        }
    }
}

// The unit of most buffers as a constant: dividing by it takes no time.
using One = std::integral_constant<std::uint64_t, 1>;

// Throws if positions lie beyond the last value. `end` is one more than the largest position.
void require_positions(const BlockMap& map, std::uint64_t end, std::uint64_t unit) {
    if (end / unit + (end % unit != 0) <= map.values()) return;
    throw Corrupted("positions: expected at most " + std::to_string(map.values() * unit) + " in the buffer, found " +
                    std::to_string(end));
}

template <class Unit>
nb::tuple spans_of(BlockMap& map, const bits::Ranges& ranges, Unit unit) {
    if (ranges.size() != 0) require_positions(map, ranges.ends.back(), unit);
    std::size_t pieces = 0, blocks = 0;
    std::uint64_t most = 0;
    each_share(map, ranges, unit, [&](const Share& share) {
        pieces += share.last - share.first;
        ++blocks;
        most = std::max(most, share.end_of(ranges, share.last - 1) - share.begin);
    });
    if (most > std::numeric_limits<std::uint32_t>::max()) {
        throw Unsupported("slots of a block: expected at most 4294967295, found " + std::to_string(most));
    }
    NumpyMemory<std::uint64_t> used(blocks), begins(blocks), sizes(blocks), counts(blocks);
    NumpyMemory<std::uint32_t> index(pieces), firsts(pieces), lengths(pieces);
    std::size_t piece = 0, at = 0;
    std::uint64_t slots = 0;
    each_share(map, ranges, unit, [&](const Share& share) {
        const auto& place = share.place;
        used.data()[at] = place.block;
        begins.data()[at] = place.byte;
        sizes.data()[at] = place.byte_end - place.byte;
        counts.data()[at] = place.value_end - place.value;
        const auto count = share.last - share.first;
        const auto begin = share.begin;
        const auto *const starts = ranges.starts.data() + share.first, *const ends = ranges.ends.data() + share.first;
        auto *const slot = firsts.data() + piece, *const length = lengths.data() + piece;
        std::fill_n(index.data() + piece, count, static_cast<std::uint32_t>(at));
        // Only the first and the last range may have to be cut.
        for (std::size_t i = 0; i < count; ++i) {
            slot[i] = static_cast<std::uint32_t>(starts[i] - begin);
            length[i] = static_cast<std::uint32_t>(ends[i] - starts[i]);
        }
        for (const auto i : {std::size_t{0}, count - 1}) {
            const auto from = share.start_of(ranges, share.first + i), to = share.end_of(ranges, share.first + i);
            slot[i] = static_cast<std::uint32_t>(from - begin);
            length[i] = static_cast<std::uint32_t>(to - from);
        }
        for (std::size_t i = 0; i < count; ++i) slots += length[i];
        piece += count, ++at;
    });
    return nb::make_tuple(std::move(used).array(), std::move(begins).array(), std::move(sizes).array(),
                          std::move(counts).array(), std::move(index).array(), std::move(firsts).array(),
                          std::move(lengths).array(), slots);
}

nb::tuple spans(Map& self, Numbers starts, Numbers ends, std::uint64_t unit) {
    if (unit == 0) throw nb::value_error("unit: expected at least 1");
    const auto ranges = ranges_of(starts, ends);
    return unit == 1 ? spans_of(self.map(), ranges, One{}) : spans_of(self.map(), ranges, unit);
}

// The blocks that hold positions first..last: the ordinal of the first block, the slot of `first` in it, where the
// bytes of all blocks begin and end, and the size and count of each block. Nothing if they have more than `most` bytes.
std::optional<nb::tuple> stretch(Map& self, std::uint64_t first, std::uint64_t last, std::uint64_t most) {
    auto& map = self.map();
    if (first >= last) throw nb::value_error("positions: expected at least one");
    require_positions(map, last, 1);
    const auto begin = map.find(first);
    std::vector<std::uint64_t> sizes, counts;
    auto place = begin;
    while (true) {
        if (place.byte_end - begin.byte > most) return {};
        sizes.push_back(place.byte_end - place.byte);
        counts.push_back(place.value_end - place.value);
        if (place.value_end >= last) break;
        place = map.next(place.block);
    }
    return nb::make_tuple(begin.block, first - begin.value, begin.byte, place.byte_end,
                          copied<std::uint64_t>(sizes), copied<std::uint64_t>(counts));
}

// The one block that holds positions first..last: its ordinal, the slot of `first` in it, where its bytes begin and end,
// and its number of values. Nothing if the positions are in several blocks.
std::optional<nb::tuple> block_of(Map& self, std::uint64_t first, std::uint64_t last) {
    auto& map = self.map();
    if (first >= last) throw nb::value_error("positions: expected at least one");
    require_positions(map, last, 1);
    const auto place = map.find(first);
    if (place.value_end < last) return {};
    return nb::make_tuple(place.block, first - place.value, place.byte, place.byte_end, place.value_end - place.value);
}

}  // namespace

void bind_block_map(nb::module_& m) {
    // The GIL is held in all of these functions, because any thread may read segments on demand.
    nb::class_<Map>(m, "BlockMap",
                    "Where the blocks of a buffer begin and end. `room` is the number of bytes before the map.")
        .def(nb::init<nb::handle, std::uint64_t, std::optional<std::uint64_t>, std::optional<std::uint64_t>>(), "payload"_a,
             "room"_a, "expected_values"_a.none(), "expected_blocks"_a.none(),
             nb::sig("def __init__(self, payload: bytes | memoryview, room: int, expected_values: int | None, "
                     "expected_blocks: int | None) -> None"))
        .def_prop_ro("value_count", [](Map& self) { return self.map().values(); },
                     "Number of logical values in the buffer.")
        .def_prop_ro("block_count", [](Map& self) { return self.map().blocks(); }, "Number of blocks in the buffer.")
        .def_prop_ro("values", [](nb::handle self) { return array_of(self, nb::cast<Map&>(self).map().value_ends()); },
                     nb::sig("def values(self) -> NDArray[np.uint64]"),
                     "0, then where each block ends, in values: block `i` holds values `[i] .. [i + 1]`.")
        .def_prop_ro("offsets", [](nb::handle self) { return array_of(self, nb::cast<Map&>(self).map().byte_ends()); },
                     nb::sig("def offsets(self) -> NDArray[np.uint64]"),
                     "The same in bytes, counted from the start of the buffer.")
        .def("stretch", &stretch, "first"_a, "last"_a, "most"_a,
             nb::sig("def stretch(self, first: int, last: int, most: int) -> "
                     "tuple[int, int, int, int, NDArray[np.uint64], NDArray[np.uint64]] | None"),
             "The blocks that hold positions `first..last`: the ordinal of the first block, the slot of `first` in "
             "it, where the bytes of all blocks begin and end, the size of each block in bytes, and its number of "
             "values. None if the blocks have more than `most` bytes.")
        .def("block_of", &block_of, "first"_a, "last"_a,
             nb::sig("def block_of(self, first: int, last: int) -> tuple[int, int, int, int, int] | None"),
             "The one block that holds positions `first..last`: its ordinal, the slot of `first` in it, where its bytes "
             "begin and end, and its number of values. None if the positions are in several blocks.")
        .def("spans", &spans, "starts"_a.noconvert(), "ends"_a.noconvert(), "unit"_a,
             nb::sig("def spans(self, starts: NDArray[np.uint64], ends: NDArray[np.uint64], unit: int) -> "
                     "tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], "
                     "NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], int]"),
             "The blocks that hold these positions, as arrays: their ordinals, where they begin, their sizes in "
             "bytes and in values. Then the pieces of the ranges: the index of the block among these, the first "
             "slot, the number of slots. Last the total number of slots. A value has `unit` positions.");
}

}  // namespace amudai::bindings
