// What Python may ask of numbers. No loop, no layout.
#include "numeric/run.hpp"

#include "bindings/blocks.hpp"

namespace amudai::bindings {

void bind_numeric(nb::module_& m) {
    m.def("numeric_encodings", [] {
        std::map<unsigned, std::string> names;
        numeric::Encodings::each([&]<class E>() { names[E::code] = E::name; });
        return names;
    }, "Code and name of every numeric encoding.");

    m.def("numeric_frames", [](const Blocks& blocks, const std::string& dtype) {
        std::vector<Frame> frames;
        const auto found = [&](Bytes frame, std::size_t decoded) {
            require_zstd_size(frame.size(), decoded);
            frames.push_back(blocks.locate(frame, decoded));
        };
        with_number(dtype, [&]<class T>() {
            for (const auto& block : blocks.blocks()) {
                at_block(block.ordinal, [&] { numeric::find_zstd<T>(block.values, block.count, found); });
            }
        });
        return frames;
    }, "blocks"_a, "dtype"_a, nb::sig("def numeric_frames(blocks: Blocks, dtype: str) -> list[tuple[int, int, int, int]]"),
    "The Zstandard frames of a run: (buffer, start, end, decoded bytes).");

    m.def("decode_numbers", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                               OutAny out, std::optional<Out<std::uint8_t>> validity, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 1, at, out.shape(0));
        if (validity && validity->shape(0) < (out.shape(0) + 7) / 8) throw nb::value_error("validity: too short");
        return with_number(out.dtype(), [&]<class T>() {
            const std::span<T> values{static_cast<T*>(out.data()), out.shape(0)};
            auto* const bitmap = validity ? validity->data() : nullptr;
            const nb::gil_scoped_release unlocked;
            return numeric::decode_run<T>(blocks.blocks(), spans, blocks.inflated(), values, bitmap, at);
        });
    // noconvert: nanobind would copy a strided array, fill the copy and drop it.
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "out"_a.noconvert(),
    "validity"_a.noconvert().none(), "at"_a,
    nb::sig("def decode_numbers(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], out: NDArray[Any], validity: NDArray[np.uint8] | None, at: int) -> int"),
    "Decode slots of a run of blocks into `out` from `at` on; returns the number of nulls.");

    m.def("decode_bits", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                            Out<std::uint8_t> out, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 8, at, 8 * out.shape(0));
        const nb::gil_scoped_release unlocked;
        return numeric::decode_bits(blocks.blocks(), spans, blocks.inflated(), out.data(), at);
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "out"_a.noconvert(), "at"_a,
    nb::sig("def decode_bits(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], out: NDArray[np.uint8], at: int) -> int"),
    "Decode bits of a run of blocks of bytes into `out` from bit `at` on; returns how many are set.");

    m.def("describe_numbers", [](const Blocks& blocks, const std::string& dtype) {
        std::map<std::string, std::size_t> plans;
        with_number(dtype, [&]<class T>() {
            for (const auto& block : blocks.blocks()) {
                at_block(block.ordinal, [&] {
                    std::string plan;
                    numeric::describe<T>(block.values, block.count, plan);
                    ++plans[plan];
                });
            }
        });
        return plans;
    }, "blocks"_a, "dtype"_a, nb::sig("def describe_numbers(blocks: Blocks, dtype: str) -> dict[str, int]"),
    "Which cascades a run uses, and in how many blocks each.");
}

}  // namespace amudai::bindings
