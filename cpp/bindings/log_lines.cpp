// Bindings for lines of text: where they end, what a program finds in them, copies of their parts.
#include "text/line_program.hpp"
#include "text/lines.hpp"

#include "bindings/owned.hpp"

namespace amudai::bindings {

void bind_log_lines(nb::module_& m) {
    m.def("split_lines", [](In<std::uint8_t> data) {
        text::SplitLines found;
        {
            const nb::gil_scoped_release unlocked;
            found = text::split_lines(span(data));
        }
        return nb::make_tuple(owned(std::move(found.starts)), owned(std::move(found.ends)), found.has_returns, found.is_ascii);
    }, "data"_a.noconvert(),
    nb::sig("def split_lines(data: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64], bool, bool]"),
    "Where lines start (with one more start, of what follows the last line feed) and end, whether some end with a carriage "
    "return and a line feed, and whether all bytes are ASCII. Line ends are no part of lines.");

    m.def("part_offsets", [](std::size_t size, In<std::int64_t> from, In<std::int64_t> to) {
        if (from.shape(0) != to.shape(0)) throw nb::value_error("to: expected as many as in from");
        NumpyMemory<std::int32_t> offsets(from.shape(0) + 1);
        {
            const nb::gil_scoped_release unlocked;
            text::part_offsets(size, span(from), span(to), offsets.span());
        }
        return std::move(offsets).array();
    }, "size"_a, "from_"_a.noconvert(), "to"_a.noconvert(),
    nb::sig("def part_offsets(size: int, from_: NDArray[np.int64], to: NDArray[np.int64]) -> NDArray[np.int32]"),
    "Arrow's offsets of texts that are parts of `size` bytes; a text is empty where `to` is negative.");

    m.def("new_bytes", [](std::size_t size) { return NumpyMemory<std::uint8_t>(size).array(); }, "size"_a,
    nb::sig("def new_bytes(size: int) -> NDArray[np.uint8]"),
    "Memory for bytes, whose values are not defined. It may be that of an array that is gone: fresh pages of the operating "
    "system take longer than filling them.");

    m.def("gather_parts", [](In<std::uint8_t> data, In<std::int64_t> from, In<std::int32_t> offsets, Out<std::uint8_t> out) {
        if (offsets.shape(0) != from.shape(0) + 1) throw nb::value_error("offsets: expected one more than in from");
        const nb::gil_scoped_release unlocked;
        text::gather_parts(span(data), span(from), span(offsets), {out.data(), out.shape(0)});
    }, "data"_a.noconvert(), "from_"_a.noconvert(), "offsets"_a.noconvert(), "out"_a.noconvert(),
    nb::sig("def gather_parts(data: NDArray[np.uint8], from_: NDArray[np.int64], offsets: NDArray[np.int32], "
            "out: NDArray[np.uint8]) -> None"),
    "Copy parts of `data`, whose offsets `part_offsets` returned, one after the other.");

    m.def("match_lines", [](In<std::uint8_t> data, In<std::int64_t> starts, In<std::int64_t> ends, In<std::int32_t> steps,
                            In<std::uint8_t> classes, In<std::uint8_t> literals, std::size_t fields, std::int64_t per_second) {
        const auto count = starts.shape(0);
        if (ends.shape(0) != count) throw nb::value_error("ends: expected as many as starts");
        if (steps.shape(0) % 4) throw nb::value_error("steps: expected four numbers each");
        if (per_second != 1'000'000 && per_second != 1'000'000'000) throw nb::value_error("per_second: expected 10^6 or 10^9");
        const text::LineProgram program({reinterpret_cast<const text::LineStep*>(steps.data()), steps.shape(0) / 4},
                                        span(classes), span(literals), fields);
        NumpyMemory<std::uint8_t> flags(count);
        NumpyMemory<std::int64_t> moments(count), from(count * fields), to(count * fields);
        {
            const nb::gil_scoped_release unlocked;
            const Bytes bytes = span(data);
            text::LineMatcher matcher(program, bytes, per_second, from.span(), to.span(), count);
            for (std::size_t line = 0; line < count; ++line) {
                const auto start = static_cast<std::uint64_t>(starts.data()[line]), end = static_cast<std::uint64_t>(ends.data()[line]);
                if (start > end || end > bytes.size()) {
                    refuse("end of a line", "one from its start to " + std::to_string(bytes.size()), end);
                }
                flags.data()[line] = matcher.match(line, start, end, moments.data()[line]);
            }
        }
        return nb::make_tuple(std::move(flags).array(), std::move(moments).array(), std::move(from).array(), std::move(to).array());
    }, "data"_a.noconvert(), "starts"_a.noconvert(), "ends"_a.noconvert(), "steps"_a.noconvert(), "classes"_a.noconvert(),
    "literals"_a.noconvert(), "fields"_a, "per_second"_a,
    nb::sig("def match_lines(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], "
            "steps: NDArray[np.int32], classes: NDArray[np.uint8], literals: NDArray[np.uint8], fields: int, per_second: int) "
            "-> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]"),
    "Flags of each line (1 matched, 2 a valid time, 4 a zone, 8 digits of the time were cut), its moment, and where its "
    "fields begin and end, one row for each field.");
}

}  // namespace amudai::bindings
