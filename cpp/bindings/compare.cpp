// Bindings for comparing values in their blocks. Loops and byte layouts are in numeric/ and binary/.
#include "binary/compare.hpp"

#include "bindings/blocks.hpp"

namespace amudai::bindings {

namespace {

using InAny = nb::ndarray<nb::ro, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<numeric::Range<T>> ranges_between(const InAny& low, const InAny& high) {
    const auto *const lows = static_cast<const T*>(low.data()), *const highs = static_cast<const T*>(high.data());
    std::vector<numeric::Range<T>> ranges;
    for (std::size_t i = 0; i < low.shape(0); ++i) {
        if (!(lows[i] <= highs[i])) throw nb::value_error("low: expected at most high");
        ranges.push_back(numeric::Range<T>::between(lows[i], highs[i]));
    }
    return ranges;
}

}  // namespace

void bind_compare(nb::module_& m) {
    m.def("compare_numbers", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                                InAny low, InAny high, bool inverted, Out<std::uint8_t> out, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 1, at, 8 * out.shape(0));
        if (low.shape(0) != high.shape(0) || low.dtype() != high.dtype()) {
            throw nb::value_error("high: expected as many as low, and of its type");
        }
        return with_number(low.dtype(), [&]<class T>() {
            const auto ranges = ranges_between<T>(low, high);
            const Unlocked unlocked(blocks.size_bytes() + numeric::total(spans));
            return numeric::compare_run<T>(blocks.blocks(), spans, blocks.inflated(), ranges, inverted, out.data(), at);
        });
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "low"_a.noconvert(),
    "high"_a.noconvert(), "inverted"_a, "out"_a.noconvert(), "at"_a,
    nb::sig("def compare_numbers(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], low: NDArray[Any], high: NDArray[Any], inverted: bool, out: NDArray[np.uint8], "
            "at: int) -> int"),
    "Set a bit of `out`, from bit `at` on, for each slot whose number lies in a range or, if `inverted`, in none. "
    "Return how many bits are set.");

    m.def("compare_codes", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                              In<std::uint8_t> answers, Out<std::uint8_t> out, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 1, at, 8 * out.shape(0));
        if (std::ranges::any_of(span(answers), [](auto answer) { return answer > 1; })) {
            throw nb::value_error("answers: expected 0 or 1 for each code");
        }
        const Unlocked unlocked(blocks.size_bytes() + numeric::total(spans));
        return numeric::compare_codes(blocks.blocks(), spans, blocks.inflated(), span(answers), out.data(), at);
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "answers"_a.noconvert(),
    "out"_a.noconvert(), "at"_a,
    nb::sig("def compare_codes(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], answers: NDArray[np.uint8], out: NDArray[np.uint8], at: int) -> int"),
    "As `compare_numbers`, for codes of a dictionary: a bit for each slot, the answer to its code.");

    m.def("compare_bytes", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                              std::optional<std::size_t> fixed_size, In<std::uint64_t> offsets, In<std::uint8_t> keys,
                              bool prefixes, bool inverted, Out<std::uint8_t> out, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 1, at, 8 * out.shape(0));
        if (!binary::are_offsets(span(offsets)) || span(offsets).back() > keys.shape(0)) {
            throw nb::value_error("offsets: expected those of the keys");
        }
        const binary::AnyKey wanted(span(offsets), span(keys), prefixes);
        const Unlocked unlocked(blocks.size_bytes() + numeric::total(spans));
        return binary::compare_run(blocks.blocks(), spans, blocks.inflated(), fixed_size, wanted, inverted, out.data(), at);
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "fixed_size"_a.none(),
    "offsets"_a.noconvert(), "keys"_a.noconvert(), "prefixes"_a, "inverted"_a, "out"_a.noconvert(), "at"_a,
    nb::sig("def compare_bytes(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], fixed_size: int | None, offsets: NDArray[np.uint64], keys: NDArray[np.uint8], "
            "prefixes: bool, inverted: bool, out: NDArray[np.uint8], at: int) -> int"),
    "Like `compare_numbers`, for values that equal one of the keys or begin with one of them.");

    m.def("payload_sizes", [](const Blocks& blocks, Out<std::uint64_t> out) {
        if (out.shape(0) != blocks.blocks().size()) throw nb::value_error("out: expected one for each block");
        const Unlocked unlocked(blocks.blocks().size() * sizeof(Block));
        binary::payload_sizes(blocks.blocks(), blocks.inflated(), span(out));
    }, "blocks"_a, "out"_a.noconvert(), nb::sig("def payload_sizes(blocks: Blocks, out: NDArray[np.uint64]) -> None"),
    "Write the decoded sizes of the Zstandard frames of variable-size values, as `payload_frames` needs them.");
}

}  // namespace amudai::bindings
