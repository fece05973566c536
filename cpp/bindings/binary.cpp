// Bindings for bytes-like values. Loops and byte layouts are in binary/.
#include "binary/gather.hpp"

#include "bindings/arrays.hpp"
#include "bindings/few.hpp"

namespace amudai::bindings {

namespace {

template <class Use>
decltype(auto) with_offsets(const OutAny& offsets, Use&& use) {
    return with_number(offsets.dtype(), [&]<class T>() -> decltype(auto) {
        if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) {
            return use(std::span<T>{static_cast<T*>(offsets.data()), offsets.shape(0)});
        } else {
            throw nb::type_error("offsets: expected int32 or int64");
            return use(std::span<std::int32_t>{});
        }
    });
}

void require_bitmap(const Out<std::uint8_t>& validity, std::size_t bits) {
    if (validity.shape(0) < (bits + 7) / 8) throw nb::value_error("validity: too short");
}

// Checks that the offsets fit the output. They decide where bytes are written.
template <class Offset>
void require_room(std::span<const Offset> offsets, std::size_t room) {
    if (offsets.empty() || offsets.front() < 0) throw nb::value_error("offsets: expected at least one");
    for (std::size_t i = 1; i < offsets.size(); ++i) {
        if (offsets[i] < offsets[i - 1]) throw nb::value_error("offsets: expected an ascending sequence");
    }
    if (static_cast<std::size_t>(offsets.back()) > room) throw nb::value_error("out: too short");
}

// Slots `first .. first + count` of a single block.
std::array<Span, 1> few_slots(const Blocks& blocks, std::size_t first, std::size_t count) {
    if (blocks.blocks().size() != 1) throw nb::value_error("blocks: expected a single one");
    const auto held = blocks.blocks()[0].count;
    if (count == 0 || first > held || count > held - first) throw nb::value_error("slots: expected some of the block");
    return {Span{0, first, count}};
}

// What decoding the offsets of slots reads and writes. Offsets are decoded a chunk at a time, so each block counts.
std::size_t offsets_work(const Blocks& blocks, std::span<const Span> spans) {
    return (blocks.blocks().size() * bits::chunk_values + numeric::total(spans)) * sizeof(std::uint32_t);
}

}  // namespace

void bind_binary(nb::module_& m) {
    m.def("binary_encodings", [] {
        std::map<unsigned, std::string> names;
        binary::each_encoding([&](std::uint16_t code, std::string_view name) { names[code] = name; });
        return names;
    }, "Code and name of every binary encoding.");

    m.def("binary_frames", &binary_frames, "blocks"_a, "fixed_size"_a.none(),
    nb::sig("def binary_frames(blocks: Blocks, fixed_size: int | None) -> list[tuple[int, int, int, int, str]]"),
    "What must be inflated and is known before any offsets are decoded: (buffer, start, end, decoded bytes, codec).");

    m.def("payload_frames", [](const Blocks& blocks, In<std::uint64_t> sizes, std::size_t first, std::size_t last) {
        if (sizes.shape(0) != blocks.blocks().size()) throw nb::value_error("sizes: expected one for each block");
        return payload_frames(blocks, span(sizes), first, last);
    }, "blocks"_a, "sizes"_a.noconvert(), "first"_a = 0, "last"_a = std::numeric_limits<std::uint32_t>::max(),
    nb::sig("def payload_frames(blocks: Blocks, sizes: NDArray[np.uint64], first: int = 0, last: int = 0xFFFFFFFF) "
            "-> list[tuple[int, int, int, int, str]]"),
    "The Zstandard frames of the values of blocks `first..last`. Their decoded sizes come from the decoded offsets.");

    m.def("decode_offsets", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                               OutAny out, Out<std::uint8_t> validity, std::size_t at, Out<std::uint64_t> origins,
                               Out<std::uint64_t> sizes) {
        if (out.shape(0) == 0 || sizes.shape(0) != blocks.blocks().size()) throw nb::value_error("out or sizes: wrong length");
        const auto spans = spans_of(blocks, block, first, count, 1, at, out.shape(0) - 1);
        if (origins.shape(0) != spans.size()) throw nb::value_error("origins: expected one for each span");
        require_bitmap(validity, out.shape(0) - 1);
        return with_offsets(out, [&](auto offsets) {
            if (offsets[at] < 0) throw nb::value_error("out: expected the place where the values begin");
            const Unlocked unlocked(offsets_work(blocks, spans));
            return binary::decode_offsets(blocks.blocks(), spans, blocks.inflated(), offsets, validity.data(), at, span(origins), span(sizes));
        });
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "out"_a.noconvert(),
    "validity"_a.noconvert(), "at"_a, "origins"_a.noconvert(), "sizes"_a.noconvert(),
    nb::sig("def decode_offsets(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], out: NDArray[Any], validity: NDArray[np.uint8], at: int, origins: NDArray[np.uint64], "
            "sizes: NDArray[np.uint64]) -> int"),
    "Decode offsets and validity of variable-size values; return the number of nulls.");

    m.def("decode_bytes", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                             In<std::uint64_t> origins, OutAny offsets, std::size_t at, bool text, Out<std::uint8_t> out) {
        if (offsets.shape(0) == 0) throw nb::value_error("offsets: expected at least one");
        const auto spans = spans_of(blocks, block, first, count, 1, at, offsets.shape(0) - 1);
        if (origins.shape(0) != spans.size()) throw nb::value_error("origins: expected one for each span");
        with_offsets(offsets, [&](auto values) {
            using Offset = typename decltype(values)::value_type;
            const Unlocked unlocked(blocks.size_bytes() + numeric::total(spans) * sizeof(Offset));
            require_room<Offset>(values.subspan(at, numeric::total(spans) + 1), out.shape(0));
            binary::decode_bytes<Offset>(blocks.blocks(), spans, blocks.inflated(), span(origins), values, at, text, span(out));
        });
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "origins"_a.noconvert(),
    "offsets"_a.noconvert(), "at"_a, "text"_a, "out"_a.noconvert(),
    nb::sig("def decode_bytes(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], origins: NDArray[np.uint64], offsets: NDArray[Any], at: int, text: bool, "
            "out: NDArray[np.uint8]) -> None"),
    "Decode the bytes of variable-size values to the places that `decode_offsets` has computed.");

    m.def("decode_few_offsets", [](const Blocks& blocks, std::size_t first, std::size_t count) -> std::optional<nb::tuple> {
        const auto spans = few_slots(blocks, first, count);
        NumpyMemory<std::int64_t> offsets(count + 1);
        std::uint64_t origin = 0, size = 0;
        std::vector<std::uint8_t> validity(count / 8 + 2);
        offsets.data()[0] = 0;
        std::size_t nulls = 0;
        {
            const Unlocked unlocked(offsets_work(blocks, spans));
            nulls = binary::decode_offsets(blocks.blocks(), std::span{spans}, blocks.inflated(), offsets.span(),
                                           validity.data(), 0, {&origin, 1}, {&size, 1});
        }
        if (nulls) return {};
        return nb::make_tuple(std::move(offsets).array(), origin, payload_frames(blocks, {&size, 1}, 0, 1));
    }, "blocks"_a, "first"_a, "count"_a,
    nb::sig("def decode_few_offsets(blocks: Blocks, first: int, count: int) "
            "-> tuple[NDArray[np.int64], int, list[tuple[int, int, int, int, str]]] | None"),
    "Decode the offsets of variable-size values in a single block, from slot `first` on: the offsets, where the bytes of "
    "the first slot begin in those of the block, and the frames that must be inflated before `decode_few_bytes`. None if "
    "a value is null.");

    m.def("decode_few_bytes", [](const Blocks& blocks, std::size_t first, In<std::int64_t> offsets, std::uint64_t origin) {
        if (offsets.shape(0) == 0) throw nb::value_error("offsets: expected at least one");
        const auto spans = few_slots(blocks, first, offsets.shape(0) - 1);
        const auto values = span(offsets);
        if (values.back() < 0) throw nb::value_error("offsets: expected an ascending sequence");
        const auto size = static_cast<std::size_t>(values.back());
        require_room<std::int64_t>(values, size);
        NumpyMemory<std::uint8_t> data(size + Arena::slack);
        {
            const Unlocked unlocked(blocks.size_bytes() + size);
            binary::decode_bytes<std::int64_t>(blocks.blocks(), std::span{spans}, blocks.inflated(), {&origin, 1}, values, 0,
                                               false, data.span());
        }
        return std::move(data).first(size);
    }, "blocks"_a, "first"_a, "offsets"_a.noconvert(), "origin"_a,
    nb::sig("def decode_few_bytes(blocks: Blocks, first: int, offsets: NDArray[np.int64], origin: int) -> NDArray[np.uint8]"),
    "Decode the bytes of variable-size values in a single block, with what `decode_few_offsets` returned.");

    m.def("decode_fixed", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                             std::size_t size, Out<std::uint8_t> out, Out<std::uint8_t> validity, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 1, at, 8 * validity.shape(0));
        if (out.shape(0) < (at + numeric::total(spans)) * size) throw nb::value_error("out: too short");
        const Unlocked unlocked(blocks.size_bytes() + numeric::total(spans) * size);
        return binary::decode_fixed(blocks.blocks(), spans, blocks.inflated(), size, span(out), validity.data(), at);
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "size"_a, "out"_a.noconvert(),
    "validity"_a.noconvert(), "at"_a,
    nb::sig("def decode_fixed(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], size: int, out: NDArray[np.uint8], validity: NDArray[np.uint8], at: int) -> int"),
    "Decode values of a fixed size; return the number of nulls.");

    m.def("describe_binary", [](const Blocks& blocks, std::optional<std::size_t> fixed_size) {
        std::map<std::string, std::size_t> plans;
        for (const auto& block : blocks.blocks()) {
            at_block(block.ordinal, [&] {
                const binary::Slots slots{block.count, fixed_size.value_or(0), fixed_size.has_value(), nullptr};
                std::string inner;
                binary::with_layout(block.values, slots, [&](const auto& layout) { describe(layout, slots, inner); });
                const std::string name{binary::name_of(block.values)};
                ++plans[inner.empty() ? name : name + "(" + inner + ")"];
            });
        }
        return plans;
    }, "blocks"_a, "fixed_size"_a.none(),
    nb::sig("def describe_binary(blocks: Blocks, fixed_size: int | None) -> dict[str, int]"),
    "The encodings that a run uses, and in how many blocks it uses each.");

    m.def("gather_offsets", [](In<std::uint32_t> codes, In<std::uint64_t> entries, std::optional<std::uint64_t> null_code,
                               OutAny out, Out<std::uint8_t> validity) {
        if (entries.shape(0) == 0 || out.shape(0) != codes.shape(0) + 1) throw nb::value_error("out: wrong length");
        require_bitmap(validity, codes.shape(0));
        return with_offsets(out, [&](auto offsets) {
            offsets[0] = 0;
            const Unlocked unlocked(codes.shape(0) * sizeof(std::uint64_t));
            return binary::gather::offsets(span(codes), span(entries), null_code.value_or(binary::gather::no_null), offsets, validity.data());
        });
    }, "codes"_a.noconvert(), "entries"_a.noconvert(), "null_code"_a.none(), "out"_a.noconvert(), "validity"_a.noconvert(),
    nb::sig("def gather_offsets(codes: NDArray[np.uint32], entries: NDArray[np.uint64], null_code: int | None, "
            "out: NDArray[Any], validity: NDArray[np.uint8]) -> int"),
    "Write offsets and validity of dictionary values; return the number of nulls.");

    m.def("gather_bytes", [](In<std::uint32_t> codes, In<std::uint8_t> values, In<std::uint64_t> entries, Out<std::uint8_t> out) {
        if (entries.shape(0) == 0 || span(entries).back() > values.shape(0)) throw nb::value_error("entries: expected offsets of the values");
        const Unlocked unlocked(codes.shape(0) * sizeof(std::uint32_t) + out.shape(0));
        binary::gather::bytes(span(codes), span(values), span(entries), span(out));
    }, "codes"_a.noconvert(), "values"_a.noconvert(), "entries"_a.noconvert(), "out"_a.noconvert(),
    nb::sig("def gather_bytes(codes: NDArray[np.uint32], values: NDArray[np.uint8], entries: NDArray[np.uint64], "
            "out: NDArray[np.uint8]) -> None"),
    "Write the bytes of dictionary values, back to back.");

    m.def("gather_views", [](In<std::uint32_t> codes, In<std::uint8_t> values, In<std::uint64_t> entries,
                             std::optional<std::uint64_t> null_code, Out<std::uint8_t> out, Out<std::uint8_t> validity) {
        if (entries.shape(0) == 0 || span(entries).back() > values.shape(0)) throw nb::value_error("entries: expected offsets of the values");
        if (values.shape(0) > std::numeric_limits<std::int32_t>::max()) throw nb::value_error("values: expected less than 2 GiB");
        if (out.shape(0) / binary::gather::View::size < codes.shape(0)) throw nb::value_error("out: too short");
        require_bitmap(validity, codes.shape(0));
        const Unlocked unlocked(out.shape(0));
        return binary::gather::views(span(codes), span(values), span(entries), null_code.value_or(binary::gather::no_null), span(out), validity.data());
    }, "codes"_a.noconvert(), "values"_a.noconvert(), "entries"_a.noconvert(), "null_code"_a.none(), "out"_a.noconvert(), "validity"_a.noconvert(),
    nb::sig("def gather_views(codes: NDArray[np.uint32], values: NDArray[np.uint8], entries: NDArray[np.uint64], "
            "null_code: int | None, out: NDArray[np.uint8], validity: NDArray[np.uint8]) -> int"),
    "Write Arrow's views of dictionary values, 16 bytes each, whose only data buffer is `values`; return the number of nulls.");

    m.def("gather_fixed", [](In<std::uint32_t> codes, In<std::uint8_t> values, std::size_t size,
                             std::optional<std::uint64_t> null_code, Out<std::uint8_t> out, Out<std::uint8_t> validity) {
        if (out.shape(0) < codes.shape(0) * size) throw nb::value_error("out: too short");
        require_bitmap(validity, codes.shape(0));
        const Unlocked unlocked(codes.shape(0) * sizeof(std::uint32_t) + out.shape(0));
        return binary::gather::fixed(span(codes), span(values), size, null_code.value_or(binary::gather::no_null), span(out), validity.data());
    }, "codes"_a.noconvert(), "values"_a.noconvert(), "size"_a, "null_code"_a.none(), "out"_a.noconvert(), "validity"_a.noconvert(),
    nb::sig("def gather_fixed(codes: NDArray[np.uint32], values: NDArray[np.uint8], size: int, null_code: int | None, "
            "out: NDArray[np.uint8], validity: NDArray[np.uint8]) -> int"),
    "Write dictionary values of a fixed size; return the number of nulls.");

    m.def("require_text", [](In<std::uint8_t> values, In<std::uint64_t> offsets) {
        const Unlocked unlocked(values.shape(0));
        utf8::require_text<std::uint64_t>(span(values), span(offsets));
    }, "values"_a.noconvert(), "offsets"_a.noconvert(),
    nb::sig("def require_text(values: NDArray[np.uint8], offsets: NDArray[np.uint64]) -> None"),
    "Raise CorruptedData if a value is not UTF-8.");
}

}  // namespace amudai::bindings
