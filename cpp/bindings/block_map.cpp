// What Python may ask of the places of blocks: where all of them lie, and which of them hold some positions.
#include "base/block_map.hpp"
#include "bits/spans.hpp"

#include "bindings/arrays.hpp"

namespace amudai::bindings {

namespace {

using Numbers = In<std::uint64_t>;

nb::tuple block_map(nb::handle payload, std::uint64_t room, std::optional<std::uint64_t> expected_values,
                    std::optional<std::uint64_t> expected_blocks) {
    const Held held(payload);
    const BlockMap map(held.bytes(), room);
    if (expected_values) require_equal("block map value_count", map.values(), *expected_values);
    if (expected_blocks) require_equal("block map block_count", map.blocks(), *expected_blocks);
    Made<std::uint64_t> values(map.blocks() + 1), bytes(map.blocks() + 1);
    map.fill(values.span(), bytes.span());
    return nb::make_tuple(std::move(values).frozen(), std::move(bytes).frozen());
}

bool ascends(std::span<const std::uint64_t> ends) {
    if (ends.empty() || ends[0] != 0) return false;
    std::uint64_t wrong = 0;
    for (std::size_t i = 1; i < ends.size(); ++i) wrong |= std::uint64_t{ends[i - 1] >= ends[i]};
    return wrong == 0;
}

nb::tuple block_spans(Numbers values, Numbers offsets, Numbers starts, Numbers ends, std::uint64_t unit) {
    const auto value_ends = span(values), byte_ends = span(offsets);
    const bits::Ranges ranges{span(starts), span(ends)};
    if (unit == 0 || value_ends.size() != byte_ends.size() || !ascends(value_ends) || !ascends(byte_ends)) {
        throw nb::value_error("blocks: expected ascending ends of values and bytes");
    }
    if (!bits::is_sound(ranges)) throw nb::value_error("ranges: expected ascending ones that neither are empty nor touch");
    if (ranges.size() != 0 && ranges.ends.back() / unit + (ranges.ends.back() % unit != 0) > value_ends.back()) {
        throw Corrupted("positions: expected at most " + std::to_string(value_ends.back() * unit) +
                        " in the buffer, found " + std::to_string(ranges.ends.back()));
    }
    constexpr auto none = std::numeric_limits<std::size_t>::max();
    std::size_t pieces = 0, blocks = 0, last = none;
    std::uint64_t most = 0, slots = 0;
    bits::each_span(value_ends, ranges, unit, [&](std::size_t block, std::uint64_t first, std::uint64_t count) {
        ++pieces;
        blocks += block != last;
        last = block;
        most = std::max(most, first + count);
        slots += count;
    });
    if (most > std::numeric_limits<std::uint32_t>::max()) {
        throw Unsupported("slots of a block: expected at most 4294967295, found " + std::to_string(most));
    }
    Made<std::uint64_t> used(blocks), begins(blocks), sizes(blocks), counts(blocks);
    Made<std::uint32_t> index(pieces), firsts(pieces), lengths(pieces);
    std::size_t piece = 0, at = none;
    last = none;
    bits::each_span(value_ends, ranges, unit, [&](std::size_t block, std::uint64_t first, std::uint64_t count) {
        if (block != last) {
            last = block;
            ++at;
            used.data()[at] = block;
            begins.data()[at] = byte_ends[block];
            sizes.data()[at] = byte_ends[block + 1] - byte_ends[block];
            counts.data()[at] = value_ends[block + 1] - value_ends[block];
        }
        index.data()[piece] = static_cast<std::uint32_t>(at);
        firsts.data()[piece] = static_cast<std::uint32_t>(first);
        lengths.data()[piece++] = static_cast<std::uint32_t>(count);
    });
    return nb::make_tuple(std::move(used).array(), std::move(begins).array(), std::move(sizes).array(),
                          std::move(counts).array(), std::move(index).array(), std::move(firsts).array(),
                          std::move(lengths).array(), slots);
}

}  // namespace

void bind_block_map(nb::module_& m) {
    m.def("block_map", &block_map, "payload"_a, "room"_a, "expected_values"_a.none(), "expected_blocks"_a.none(),
          nb::sig("def block_map(payload: bytes | memoryview, room: int, expected_values: int | None, "
                  "expected_blocks: int | None) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]"),
          "Where each block of a buffer ends, in values and in bytes, from 0 on; `room` is what lies before the map.");

    m.def("block_spans", &block_spans, "values"_a.noconvert(), "offsets"_a.noconvert(), "starts"_a.noconvert(),
          "ends"_a.noconvert(), "unit"_a,
          nb::sig("def block_spans(values: NDArray[np.uint64], offsets: NDArray[np.uint64], starts: NDArray[np.uint64], "
                  "ends: NDArray[np.uint64], unit: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], "
                  "NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], int]"),
          "The blocks that hold these positions: their ordinals, where they begin, their sizes in bytes and in values; then "
          "the pieces of the ranges in them: which of these blocks, the first slot, how many; last, how many slots in all. "
          "Block `i` is `[i] .. [i + 1]` of `values` and `offsets`; a value makes `unit` positions.");
}

}  // namespace amudai::bindings
