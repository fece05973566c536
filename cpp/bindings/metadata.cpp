// Bindings for reading the metadata of many columns at once.
#include "columns/descriptors.hpp"
#include "columns/names.hpp"

#include "bindings/arrays.hpp"

namespace amudai::bindings {

namespace {

// Adds bytes as a text. False if they are not UTF-8.
bool append_text(nb::list& texts, Bytes bytes) {
    auto* const text = PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(bytes.data()), static_cast<Py_ssize_t>(bytes.size()),
                                            nullptr);
    if (text) {
        texts.append(nb::steal<nb::str>(text));
        return true;
    }
    if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) throw nb::python_error();
    PyErr_Clear();
    return false;
}

}  // namespace

void bind_metadata(nb::module_& m) {
    m.attr("NOT_READ") = columns::unknown_blocks;

    m.def("plain_buffers", [](nb::handle data, In<std::uint64_t> starts, In<std::uint64_t> ends, std::uint64_t positions,
                              std::size_t longest, bool verify) -> std::optional<nb::tuple> {
        if (starts.shape(0) != ends.shape(0)) throw nb::value_error("frames: the arrays differ in length");
        const Held held(data);
        const auto n = starts.shape(0);
        std::optional<Bytes> url;
        NumpyMemory<std::uint64_t> numbers(n * std::tuple_size_v<decltype(columns::PlainBuffer::numbers)>);
        NumpyMemory<std::uint8_t> found(n);
        {
            const nb::gil_scoped_release unlocked;
            std::ranges::fill(numbers.span(), std::uint64_t{0});
            std::ranges::fill(found.span(), std::uint8_t{0});
            for (std::size_t i = 0; i < n; ++i) {
                const auto payload = columns::unframe(held.bytes(), span(starts)[i], span(ends)[i], verify);
                if (!payload) return {};
                if (payload->size() > longest) continue;
                const auto buffer = columns::plain_buffer(*payload, positions);
                if (!buffer) continue;
                if (!url) url = buffer->url;
                if (!std::ranges::equal(*url, buffer->url)) continue;
                std::ranges::copy(buffer->numbers, numbers.data() + i * buffer->numbers.size());
                found.data()[i] = 1;
            }
        }
        const auto name = url.value_or(Bytes{});
        return nb::make_tuple(nb::bytes(name.data(), name.size()), std::move(numbers).array(), std::move(found).array());
    }, "data"_a, "starts"_a.noconvert(), "ends"_a.noconvert(), "positions"_a, "longest"_a, "verify"_a,
    nb::sig("def plain_buffers(data: bytes | memoryview, starts: NDArray[np.uint64], ends: NDArray[np.uint64], positions: int, "
            "longest: int, verify: bool) -> tuple[bytes, NDArray[np.uint64], NDArray[np.uint8]] | None"),
    "Where the values of columns are that are stored in the simplest way, given the frames of their descriptors: the file, "
    "nine numbers for each column, and 1 for each that is stored so, in this file. The numbers are: where the buffer begins "
    "and ends, and its block map; the number of blocks or `NOT_READ`; 1 for checksums; 1 for an identity; the identity in "
    "two numbers. A payload of more than `longest` bytes is not looked at. None if a frame is not sound.");

    m.def("texts", [](nb::handle data, In<std::uint64_t> starts, In<std::uint64_t> ends) -> std::optional<nb::list> {
        if (starts.shape(0) != ends.shape(0)) throw nb::value_error("texts: the arrays differ in length");
        const Held held(data);
        nb::list found;
        for (std::size_t i = 0; i < starts.shape(0); ++i) {
            const auto start = span(starts)[i], end = span(ends)[i];
            if (start > end || end > held.bytes().size()) return {};
            if (!append_text(found, held.bytes().subspan(start, end - start))) return {};
        }
        return found;
    }, "data"_a, "starts"_a.noconvert(), "ends"_a.noconvert(),
    nb::sig("def texts(data: bytes | memoryview, starts: NDArray[np.uint64], ends: NDArray[np.uint64]) -> list[str] | None"),
    "The strings between `starts` and `ends`. None if one is not UTF-8, or outside of the data.");

    m.def("field_names", [](nb::handle data, std::size_t start, std::size_t end, std::size_t type, std::size_t internal,
                            std::size_t name) -> std::optional<nb::list> {
        const Held held(data);
        const auto names = columns::field_names(held.bytes(), start, end, {type, internal, name});
        if (!names) return {};
        nb::list found;
        for (const auto each : *names) {
            if (!append_text(found, each)) return {};
        }
        return found;
    }, "data"_a, "start"_a, "end"_a, "type"_a, "internal"_a, "name"_a,
    nb::sig("def field_names(data: bytes | memoryview, start: int, end: int, type: int, internal: int, name: int) "
            "-> list[str] | None"),
    "The names of the fields of a schema, which is a FlatBuffer. The references to the fields lie at `start..end`; then come "
    "the slots of a field's type, of its annotation as internal, and of the name in a type. None if a field is internal, or "
    "must be looked at alone.");
}

}  // namespace amudai::bindings
