// Bindings for writing values: regions of bytes-like values, dictionaries, sketches.
#include "binary/dictionary.hpp"
#include "binary/lz4_run.hpp"
#include "binary/region.hpp"
#include "sketch/bloom.hpp"
#include "sketch/byte_bounds.hpp"
#include "sketch/hll.hpp"
#include "sketch/ranges.hpp"
#include "sketch/text_stats.hpp"

#include "bindings/arrays.hpp"

namespace amudai::bindings {

namespace {

nb::bytes to_bytes(Bytes bytes) { return nb::bytes(bytes.data(), bytes.size()); }

// Returns a region of `size` bytes, written without holding the GIL.
template <class Write>
nb::bytes region(std::size_t size, Write&& write) {
    binary::size32("region", size);
    auto result = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!result.is_valid()) throw nb::python_error();
    const MutableBytes out{reinterpret_cast<std::uint8_t*>(PyBytes_AsString(result.ptr())), size};
    const nb::gil_scoped_release unlocked;
    write(out);
    return result;
}

// The offsets of a region, held while the region is written.
class HeldOffsets {
public:
    HeldOffsets(const nb::object& offsets, bool cascading) : cascading_(cascading) {
        if (!offsets.is_none()) held_.emplace(offsets);
        if (held_ && !cascading && held_->bytes().size() % 8) throw nb::value_error("offsets: expected u64, or a section");
    }
    binary::OffsetsPart part() const { return {!held_, cascading_, held_ ? held_->bytes() : Bytes{}}; }

private:
    std::optional<Held> held_;
    bool cascading_;
};

void bind_regions(nb::module_& m) {
    m.def("plain_region", [](std::optional<InAny> offsets, In<std::uint8_t> data) {
        const auto write = [](const auto& values) {
            constexpr bool is_fixed = std::is_same_v<std::remove_cvref_t<decltype(values)>, binary::FixedValues>;
            const auto size = binary::plain::encoded_size(values.count(), values.all().size(), is_fixed);
            return region(size, [&](MutableBytes out) { binary::plain::encode(values, out); });
        };
        if (!offsets) return write(binary::FixedValues::checked(1, data.shape(0), span(data)));
        if (offsets->shape(0) == 0) throw nb::value_error("offsets: expected at least one");
        return with_values(offsets, data, std::nullopt, offsets->shape(0) - 1, write);
    }, "offsets"_a.noconvert().none(), "data"_a.noconvert(),
    nb::sig("def plain_region(offsets: NDArray[Any] | None, data: NDArray[np.uint8]) -> bytes"),
    "Plain: values of variable size that Arrow's `offsets` delimit in `data`. Without offsets, all of `data` as "
    "values of a fixed size.");

    m.def("zstd_region", [](nb::object frame, nb::object offsets, bool cascading, std::optional<std::uint32_t> dictionary) {
        const Held payload(frame);
        const HeldOffsets held(offsets, cascading);
        return region(binary::zstd::encoded_size(payload.bytes().size(), held.part(), dictionary.has_value()),
                      [&](MutableBytes out) { binary::zstd::encode(payload.bytes(), held.part(), dictionary, out); });
    }, "frame"_a, "offsets"_a.none(), "cascading"_a, "dictionary"_a = nb::none(),
    nb::sig("def zstd_region(frame: bytes | memoryview, offsets: bytes | memoryview | NDArray[Any] | None, "
            "cascading: bool, dictionary: int | None = None) -> bytes"),
    "ZSTD: a Zstandard frame of the values, and their offsets. These are a section if `cascading`, else u64, and "
    "None for values of a fixed size. `dictionary` is the checksum of the shared dictionary of the frame, if it has one.");

    m.def("lz4_region", [](nb::object block, std::size_t decoded_size, nb::object offsets, bool cascading,
                           std::optional<std::uint32_t> dictionary) {
        const Held payload(block);
        const HeldOffsets held(offsets, cascading);
        return region(binary::lz4::encoded_size(payload.bytes().size(), held.part(), dictionary.has_value()), [&](MutableBytes out) {
            binary::lz4::encode(payload.bytes(), decoded_size, held.part(), dictionary, out);
        });
    }, "block"_a, "decoded_size"_a, "offsets"_a.none(), "cascading"_a, "dictionary"_a = nb::none(),
    nb::sig("def lz4_region(block: bytes | memoryview, decoded_size: int, offsets: bytes | memoryview | NDArray[Any] | None, "
            "cascading: bool, dictionary: int | None = None) -> bytes"),
    "LZ4: a raw LZ4 block of the values, which decodes to `decoded_size` bytes, and offsets and dictionary as in "
    "`zstd_region`.");

    m.def("lz4_blocks", [](In<std::int64_t> offsets, In<std::uint8_t> data, Bitmap validity, In<std::int64_t> cuts, bool thorough,
                           const std::vector<nb::bytes>& programs) {
        if (offsets.shape(0) == 0 || cuts.shape(0) == 0) throw nb::value_error("offsets or cuts: expected at least one");
        const auto count = offsets.shape(0) - 1;
        const auto list = span(cuts);
        if (!binary::are_offsets(list) || static_cast<std::size_t>(list.back()) > count) {
            throw nb::value_error("cuts: expected an ascending sequence of slots");
        }
        std::vector<std::vector<numeric::Step>> steps;
        for (const auto& program : programs) {
            steps.push_back(numeric::parse_program<std::uint64_t>({static_cast<const std::uint8_t*>(program.data()), program.size()}));
            if (numeric::Plan(steps.back().data())->codecs) throw nb::value_error("programs: expected some without codecs");
        }
        const auto valid = validity_of(validity, 0, count);
        NumpyMemory<std::uint32_t> blocks(list.size() - 1), regions(list.size() - 1);
        const auto write = [&](auto run) {
            {
                const nb::gil_scoped_release unlocked;
                for (std::size_t i = 0; i + 1 < list.size(); ++i) {
                    const auto first = static_cast<std::size_t>(list[i]), slots = static_cast<std::size_t>(list[i + 1]) - first;
                    const auto values = binary::VariableValues<std::int64_t>::checked(span(offsets).subspan(first, slots + 1), span(data));
                    const auto sizes = run.write(values, {valid.bitmap, first});
                    blocks.data()[i] = sizes.block, regions.data()[i] = sizes.values;
                }
            }
            return nb::make_tuple(to_bytes(run.blocks()), std::move(blocks).array(), std::move(regions).array());
        };
        return thorough ? write(binary::Lz4Run<true>(steps)) : write(binary::Lz4Run<false>(steps));
    }, "offsets"_a.noconvert(), "data"_a.noconvert(), "validity"_a.noconvert().none(), "cuts"_a.noconvert(), "thorough"_a, "programs"_a,
    nb::sig("def lz4_blocks(offsets: NDArray[np.int64], data: NDArray[np.uint8], validity: NDArray[np.uint8] | None, "
            "cuts: NDArray[np.int64], thorough: bool, programs: list[bytes]) "
            "-> tuple[bytes, NDArray[np.uint32], NDArray[np.uint32]]"),
    "Blocks of values that are compressed by LZ4, with checksums: one for the slots between each two of `cuts`. The search "
    "is that of `lz4_compress`. Offsets are encoded by the program that makes least of them, if that is less than they take raw. Return the blocks, the size of "
    "each, and the size of the values in each. Both sizes are 0 for values that LZ4 does not make smaller.");

    m.def("snappy_region", [](nb::object block, nb::object offsets, bool cascading) {
        const Held payload(block);
        const HeldOffsets held(offsets, cascading);
        return region(binary::snappy::encoded_size(payload.bytes().size(), held.part()),
                      [&](MutableBytes out) { binary::snappy::encode(payload.bytes(), held.part(), out); });
    }, "block"_a, "offsets"_a.none(), "cascading"_a,
    nb::sig("def snappy_region(block: bytes | memoryview, offsets: bytes | memoryview | NDArray[Any] | None, "
            "cascading: bool) -> bytes"),
    "Snappy: a raw Snappy block of the values, and offsets as in `zstd_region`.");

    m.def("fsst_encode", [](In<std::uint8_t> data) {
        binary::fsst::Encoded encoded;
        {
            const nb::gil_scoped_release unlocked;
            encoded = binary::fsst::compress(span(data));
        }
        return nb::make_tuple(to_bytes(encoded.symbols), to_bytes(encoded.lengths), to_bytes(encoded.codes));
    }, "data"_a.noconvert(), nb::sig("def fsst_encode(data: NDArray[np.uint8]) -> tuple[bytes, bytes, bytes]"),
    "The arguments of `fsst_region`: symbols (8 bytes each), their lengths, and the codes of `data`. There is at "
    "least one symbol.");

    m.def("fsst_region", [](nb::object symbols, nb::object lengths, nb::object codes, nb::object offsets, bool cascading) {
        const Held table(symbols), sizes(lengths), stream(codes);
        const HeldOffsets held(offsets, cascading);
        const auto count = sizes.bytes().size();
        if (count < 1 || count > binary::fsst::max_symbols) throw nb::value_error("symbols: expected 1..255");
        if (table.bytes().size() != 8 * count) throw nb::value_error("symbols: expected 8 bytes for each length");
        return region(binary::fsst::encoded_size(count, stream.bytes().size(), held.part()), [&](MutableBytes out) {
            binary::fsst::encode(table.bytes(), sizes.bytes(), stream.bytes(), held.part(), out);
        });
    }, "symbols"_a, "lengths"_a, "codes"_a, "offsets"_a.none(), "cascading"_a,
    nb::sig("def fsst_region(symbols: bytes, lengths: bytes, codes: bytes, offsets: bytes | memoryview | NDArray[Any] | None, "
            "cascading: bool) -> bytes"),
    "FSST: the result of `fsst_encode` for the values, and offsets as in `zstd_region`.");

    m.def("dictionary_region", [](nb::object codes, nb::object lengths, bool cascading, std::size_t entry_count,
                                  nb::object entries) {
        const Held code_section(codes), data(entries);
        std::optional<Held> sizes;
        if (!lengths.is_none()) sizes.emplace(lengths);
        const auto raw = sizes ? sizes->bytes() : Bytes{};
        if (entry_count == 0) throw nb::value_error("entries: expected at least one");
        if (sizes && !cascading && raw.size() != 4 * entry_count) throw nb::value_error("lengths: expected a u32 for each entry");
        const auto size = binary::block_dictionary::encoded_size(code_section.bytes().size(), raw.size(), data.bytes().size());
        return region(size, [&](MutableBytes out) {
            binary::block_dictionary::encode(code_section.bytes(), raw, sizes && cascading, entry_count, data.bytes(), out);
        });
    }, "codes"_a, "lengths"_a.none(), "cascading"_a, "entry_count"_a, "entries"_a,
    nb::sig("def dictionary_region(codes: bytes | memoryview, lengths: bytes | memoryview | NDArray[Any] | None, cascading: bool, "
            "entry_count: int, entries: bytes | memoryview) -> bytes"),
    "BlockDictionary: a section of codes, the lengths of the entries, and the entries. The lengths are a section if "
    "`cascading`, else u32, and None for values of a fixed size.");

    m.def("block_dictionary", [](InAny offsets, In<std::uint8_t> data, Bitmap validity, std::size_t validity_at) -> nb::object {
        if (offsets.shape(0) == 0) throw nb::value_error("offsets: expected at least one");
        const auto count = offsets.shape(0) - 1;
        const auto present = validity_of(validity, validity_at, count);
        std::optional<binary::block_dictionary::Distinct> found;
        with_values(offsets, data, std::nullopt, count, [&](const auto& values) {
            const nb::gil_scoped_release unlocked;
            found = binary::block_dictionary::distinct(values, present);
        });
        if (!found) return nb::none();
        const auto codes = copied<std::uint32_t>(found->codes), lengths = copied<std::uint32_t>(found->lengths);
        return nb::make_tuple(codes, lengths, to_bytes(found->entries.bytes()));
    }, "offsets"_a.noconvert(), "data"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def block_dictionary(offsets: NDArray[Any], data: NDArray[np.uint8], validity: NDArray[np.uint8] | None, "
            "validity_at: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32], bytes] | None"),
    "Codes (0 is null, c is entry c - 1), lengths and bytes of the distinct values. None if there are more than "
    "half as many distinct values as slots.");
}

void bind_dictionary(nb::module_& m) {
    using binary::Dictionary;
    nb::class_<Dictionary>(m, "Dictionary", "A stripe's dictionary while it grows. One thread at a time may use it.")
        .def(nb::init<std::optional<std::size_t>>(), "fixed_size"_a.none(),
             nb::sig("def __init__(self, fixed_size: int | None) -> None"))
        .def("encode", [](Dictionary& self, std::optional<InAny> offsets, In<std::uint8_t> data, Bitmap validity,
                          std::size_t validity_at, std::size_t count) {
            const auto present = validity_of(validity, validity_at, count);
            return with_values(offsets, data, self.fixed_size(), count, [&](const auto& values) {
                NumpyMemory<std::uint32_t> codes(count);
                {
                    const nb::gil_scoped_release unlocked;
                    self.encode(values, present, codes.data());
                }
                return std::move(codes).array();
            });
        }, "offsets"_a.noconvert().none(), "data"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a, "count"_a,
        nb::sig("def encode(self, offsets: NDArray[Any] | None, data: NDArray[np.uint8], validity: NDArray[np.uint8] | None, "
                "validity_at: int, count: int) -> NDArray[np.uint32]"),
        "The codes of these values. A new value gets the next code, and so does the first null.")
        .def("recode", [](Dictionary& self, std::optional<InAny> offsets, In<std::uint8_t> data, std::size_t count,
                          In<std::uint32_t> codes, Bitmap validity, std::size_t validity_at) {
            const auto present = validity_of(validity, validity_at, codes.shape(0));
            return with_values(offsets, data, self.fixed_size(), count, [&](const auto& values) {
                NumpyMemory<std::uint32_t> recoded(codes.shape(0));
                {
                    const nb::gil_scoped_release unlocked;
                    self.recode(values, span(codes), present, recoded.data());
                }
                return std::move(recoded).array();
            });
        }, "offsets"_a.noconvert().none(), "data"_a.noconvert(), "count"_a, "codes"_a.noconvert(),
        "validity"_a.noconvert().none(), "validity_at"_a,
        nb::sig("def recode(self, offsets: NDArray[Any] | None, data: NDArray[np.uint8], count: int, "
                "codes: NDArray[np.uint32], validity: NDArray[np.uint8] | None, validity_at: int) -> NDArray[np.uint32]"),
        "The codes of slots that hold codes of another dictionary, which has `count` entries. They are the same as "
        "`encode` returns for the values.")
        .def_prop_ro("size", &Dictionary::size, "Number of entries, including that of null.")
        .def_prop_ro("value_bytes", [](const Dictionary& self) { return self.entries().bytes().size(); },
            "Size of all entries together, in bytes.")
        .def_prop_ro("null_code", &Dictionary::null_code, "The code of null, if there was a null.")
        .def("values", [](const Dictionary& self) {
            return nb::make_tuple(copied<std::uint64_t>(self.entries().starts()), copied<std::uint8_t>(self.entries().bytes()));
        }, nb::sig("def values(self) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]"),
        "Offsets and bytes of the entries, in the order of their codes. The entry of null is empty or, for values "
        "of a fixed size, all zeros.")
        .def("sorted_ids", [](const Dictionary& self) {
            NumpyMemory<std::uint32_t> ids(self.size() - self.null_code().has_value());
            {
                const nb::gil_scoped_release unlocked;
                self.sort(ids.span());
            }
            return std::move(ids).array();
        }, nb::sig("def sorted_ids(self) -> NDArray[np.uint32]"),
        "The codes of all entries except that of null, sorted by the bytes of the entries.")
        .def("counts", [](const Dictionary& self) { return copied<std::uint64_t>(self.counts()); },
             nb::sig("def counts(self) -> NDArray[np.uint64]"), "How often each code was assigned.");
}

void bind_sketches(nb::module_& m) {
    m.def("hll_update", [](std::optional<InAny> offsets, In<std::uint8_t> data, std::optional<std::size_t> fixed_size,
                           Bitmap validity, std::size_t validity_at, std::size_t count, Out<std::uint8_t> registers) {
        const auto present = validity_of(validity, validity_at, count);
        const sketch::hll::Registers target(span(registers));
        with_values(offsets, data, fixed_size, count, [&](const auto& values) {
            const nb::gil_scoped_release unlocked;
            sketch::hll::update(values, present, target);
        });
    }, "offsets"_a.noconvert().none(), "data"_a.noconvert(), "fixed_size"_a.none(), "validity"_a.noconvert().none(),
    "validity_at"_a, "count"_a, "registers"_a.noconvert(),
    nb::sig("def hll_update(offsets: NDArray[Any] | None, data: NDArray[np.uint8], fixed_size: int | None, "
            "validity: NDArray[np.uint8] | None, validity_at: int, count: int, registers: NDArray[np.uint8]) -> None"),
    "Add the values that are not null to the registers of a HyperLogLog sketch.");

    m.def("hash_values", [](std::optional<InAny> offsets, In<std::uint8_t> data, std::optional<std::size_t> fixed_size,
                            Bitmap validity, std::size_t validity_at, std::size_t count, std::uint64_t seed) {
        const auto present = validity_of(validity, validity_at, count);
        return with_values(offsets, data, fixed_size, count, [&](const auto& values) {
            NumpyMemory<std::uint64_t> hashes(count);
            std::size_t size = 0;
            {
                const nb::gil_scoped_release unlocked;
                size = static_cast<std::size_t>(sketch::hash_values(values, present, seed, hashes.data()) - hashes.data());
            }
            return std::move(hashes).first(size);
        });
    }, "offsets"_a.noconvert().none(), "data"_a.noconvert(), "fixed_size"_a.none(), "validity"_a.noconvert().none(),
    "validity_at"_a, "count"_a, "seed"_a,
    nb::sig("def hash_values(offsets: NDArray[Any] | None, data: NDArray[np.uint8], fixed_size: int | None, "
            "validity: NDArray[np.uint8] | None, validity_at: int, count: int, seed: int) -> NDArray[np.uint64]"),
    "XXH3 of each value that is not null, in order.");

    nb::class_<sketch::HashSet>(m, "HashSet", "A set of distinct hashes, as long as there are at most `limit`.")
        .def(nb::init<std::size_t>(), "limit"_a)
        .def("add", [](sketch::HashSet& self, In<std::uint64_t> hashes) {
            const nb::gil_scoped_release unlocked;
            return self.add(span(hashes));
        }, "hashes"_a.noconvert(), nb::sig("def add(self, hashes: NDArray[np.uint64]) -> bool"),
        "Add hashes. Return whether the set still holds everything that was added: False once there were more than "
        "`limit`.")
        .def("values", [](const sketch::HashSet& self) {
            if (self.full()) throw nb::value_error("hashes: more than the limit, none was kept");
            return copied<std::uint64_t>(self.values());
        }, nb::sig("def values(self) -> NDArray[np.uint64]"), "The hashes, in the order of first appearance.");

    m.def("text_stats", [](std::optional<InAny> offsets, In<std::uint8_t> data, std::optional<std::size_t> fixed_size,
                           Bitmap validity, std::size_t validity_at, std::size_t count) {
        const auto present = validity_of(validity, validity_at, count);
        const auto found = with_values(offsets, data, fixed_size, count, [&](const auto& values) {
            const nb::gil_scoped_release unlocked;
            return sketch::text_stats(values, present);
        });
        const auto non_empty = found.min_non_empty == sketch::TextStats::none ? -1 : static_cast<std::int64_t>(found.min_non_empty);
        return std::tuple(found.total_bytes, found.min_length, non_empty, found.max_length, found.ascii_count);
    }, "offsets"_a.noconvert().none(), "data"_a.noconvert(), "fixed_size"_a.none(), "validity"_a.noconvert().none(),
    "validity_at"_a, "count"_a,
    nb::sig("def text_stats(offsets: NDArray[Any] | None, data: NDArray[np.uint8], fixed_size: int | None, "
            "validity: NDArray[np.uint8] | None, validity_at: int, count: int) -> tuple[int, int, int, int, int]"),
    "Of the values that are not null: their total size in bytes; the least length, the least length above 0 (-1 if "
    "there is none) and the greatest length; how many values are ASCII.");

    m.def("byte_bounds", [](std::optional<InAny> offsets, In<std::uint8_t> data, std::optional<std::size_t> fixed_size,
                            Bitmap validity, std::size_t count) {
        const auto present = validity_of(validity, 0, count);
        const auto found = with_values(offsets, data, fixed_size, count, [&](const auto& values) {
            const nb::gil_scoped_release unlocked;
            return sketch::byte_bounds(values, present);
        });
        return found ? nb::object(nb::make_tuple(found->first, found->second)) : nb::none();
    }, "offsets"_a.noconvert().none(), "data"_a.noconvert(), "fixed_size"_a.none(), "validity"_a.noconvert().none(), "count"_a,
    nb::sig("def byte_bounds(offsets: NDArray[Any] | None, data: NDArray[np.uint8], fixed_size: int | None, "
            "validity: NDArray[np.uint8] | None, count: int) -> tuple[int, int] | None"),
    "The slots of the least and of the greatest value that is not null, in the order of their bytes.");

    m.def("are_ascii", [](InAny offsets, In<std::uint8_t> data) {
        if (offsets.shape(0) == 0) throw nb::value_error("offsets: expected at least one");
        const auto count = offsets.shape(0) - 1;
        return with_values(offsets, data, std::nullopt, count, [&](const auto& values) {
            NumpyMemory<bool> found(count);
            {
                const nb::gil_scoped_release unlocked;
                sketch::are_ascii(values, found.data());
            }
            return std::move(found).array();
        });
    }, "offsets"_a.noconvert(), "data"_a.noconvert(),
    nb::sig("def are_ascii(offsets: NDArray[Any], data: NDArray[np.uint8]) -> NDArray[np.bool_]"),
    "Whether each value has no byte above 127.");

    m.def("range_minmax", [](InAny values, Bitmap validity, std::size_t validity_at, std::size_t per_range) {
        if (per_range < 1 || per_range > 65535) throw nb::value_error("span: expected 1..65535");
        const auto count = values.shape(0);
        const auto present = validity_of(validity, validity_at, count);
        return with_number(values.dtype(), [&]<class T>() {
            const auto ranges = (count + per_range - 1) / per_range;
            NumpyMemory<T> least(ranges), greatest(ranges);
            NumpyMemory<std::uint16_t> invalid(ranges);
            {
                const nb::gil_scoped_release unlocked;
                sketch::range_minmax<T>({static_cast<const T*>(values.data()), count}, present, per_range, least.data(),
                                        greatest.data(), invalid.data());
            }
            return nb::make_tuple(std::move(least).array(), std::move(greatest).array(), std::move(invalid).array());
        });
    }, "values"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a, "span"_a,
    nb::sig("def range_minmax(values: NDArray[Any], validity: NDArray[np.uint8] | None, validity_at: int, span: int) "
            "-> tuple[NDArray[Any], NDArray[Any], NDArray[np.uint16]]"),
    "The least and the greatest value of each group of `span` slots, and how many slots are invalid (null or "
    "NaN). Both values are 0 if no slot is valid.");
}

}  // namespace

void bind_text(nb::module_& m) {
    bind_regions(m);
    bind_dictionary(m);
    bind_sketches(m);
}

}  // namespace amudai::bindings
