// Bindings for values from and to Arrow: validation of text, compression, conversion of units.
#include "binary/lz4_search.hpp"
#include "binary/utf8.hpp"
#include "binary/values.hpp"
#include "binary/zstd_records.hpp"
#include "numeric/divide.hpp"

#include "bindings/blocks.hpp"

namespace amudai::bindings {

namespace {

using InAny = nb::ndarray<nb::ro, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::bytes to_bytes(Bytes bytes) { return nb::bytes(bytes.data(), bytes.size()); }

// An LZ4 block of `size` bytes, which compress(out) writes. It returns the size of the block.
template <class Compress>
nb::bytes compressed(std::size_t size, Compress&& compress) {
    std::unique_ptr<std::uint8_t[]> out;
    std::size_t written = 0;
    {
        const nb::gil_scoped_release unlocked;
        out = std::make_unique_for_overwrite<std::uint8_t[]>(lz4_block::encoded_most(size));
        written = compress(out.get());
    }
    return to_bytes({out.get(), written});
}

template <class Offset>
bool is_text(std::span<const Offset> offsets, Bytes data) {
    if (!binary::are_offsets(offsets) || static_cast<std::size_t>(offsets.back()) > data.size()) return false;
    const binary::VariableValues<Offset> values{offsets, data};
    return utf8::is_text(values.all(), offsets);
}

}  // namespace

void bind_compress(nb::module_& m) {
    nb::class_<lz4_block::DictionarySearch>(m, "Lz4Dictionary", "A dictionary for LZ4 blocks, whose matches may begin in it.")
        .def("__init__", [](lz4_block::DictionarySearch* self, In<std::uint8_t> dictionary) {
            new (self) lz4_block::DictionarySearch(span(dictionary));
        }, "dictionary"_a.noconvert(), nb::sig("def __init__(self, dictionary: NDArray[np.uint8]) -> None"))
        .def("compress", [](const lz4_block::DictionarySearch& self, In<std::uint8_t> data) {
            return compressed(data.shape(0), [&](std::uint8_t* out) { return self.compress(span(data), out); });
        }, "data"_a.noconvert(), nb::sig("def compress(self, data: NDArray[np.uint8]) -> bytes"),
        "The data compressed as one LZ4 block without a frame, by a thorough search.");

    m.def("lz4_compress", [](In<std::uint8_t> data, bool thorough) {
        return compressed(data.shape(0), [&](std::uint8_t* out) {
            return thorough ? lz4_block::compress<true>(span(data), out) : lz4_block::compress<false>(span(data), out);
        });
    }, "data"_a.noconvert(), "thorough"_a, nb::sig("def lz4_compress(data: NDArray[np.uint8], thorough: bool) -> bytes"),
    "The data compressed as one LZ4 block without a frame, by a quick search or a thorough one, which takes half as long "
    "again.");

    m.def("zstd_records", [](In<std::uint8_t> data, std::optional<In<std::uint8_t>> valid) -> std::optional<nb::bytes> {
        const auto count = data.shape(0) / binary::zstd_records::record_size;
        if (data.shape(0) % binary::zstd_records::record_size) throw nb::value_error("data: expected records of 16 bytes");
        if (valid && valid->shape(0) != count) throw nb::value_error("valid: expected a byte for each record");
        Sink out;
        {
            const Unlocked unlocked(data.shape(0));
            if (!binary::zstd_records::encode(span(data), valid ? valid->data() : nullptr, out)) return {};
        }
        return to_bytes(out.bytes());
    }, "data"_a.noconvert(), "valid"_a.noconvert().none(),
    nb::sig("def zstd_records(data: NDArray[np.uint8], valid: NDArray[np.uint8] | None) -> bytes | None"),
    "One Zstandard frame of records of 16 bytes, each of which differs from the one before in its first bytes only. None "
    "if they do not. Records that are not valid become equal to the one before.");

    m.def("is_text", [](InAny offsets, In<std::uint8_t> data) {
        return with_number(offsets.dtype(), [&]<class T>() -> bool {
            if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) {
                const std::span<const T> list{static_cast<const T*>(offsets.data()), offsets.shape(0)};
                const nb::gil_scoped_release unlocked;
                return is_text(list, span(data));
            } else {
                throw nb::type_error("offsets: expected int32 or int64");
            }
        });
    }, "offsets"_a.noconvert(), "data"_a.noconvert(),
    nb::sig("def is_text(offsets: NDArray[Any], data: NDArray[np.uint8]) -> bool"),
    "Whether Arrow's `offsets` ascend, lie inside `data`, and delimit valid UTF-8, including the values of null "
    "slots.");

    m.def("divide_exactly", [](In<std::int64_t> values, std::int64_t origin, std::int64_t by, OutAny out) {
        if (by < 1) throw nb::value_error("by: expected at least 1");
        if (out.shape(0) != values.shape(0)) throw nb::value_error("out: expected as many as values");
        return with_number(out.dtype(), [&]<class T>() -> bool {
            if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) {
                const nb::gil_scoped_release unlocked;
                return numeric::divide_exactly(span(values), origin, by, static_cast<T*>(out.data()));
            } else {
                throw nb::type_error("out: expected int32 or int64");
            }
        });
    }, "values"_a.noconvert(), "origin"_a, "by"_a, "out"_a.noconvert(),
    nb::sig("def divide_exactly(values: NDArray[np.int64], origin: int, by: int, out: NDArray[Any]) -> bool"),
    "Write (value - origin) / by as int32 or int64, which may wrap. Return whether no division left a remainder.");
}

}  // namespace amudai::bindings
