// Bindings for numbers. Loops and byte layouts are in numeric/.
#include "numeric/run.hpp"

#include "bindings/few.hpp"
#include "numeric/analyze.hpp"
#include "numeric/divided_run.hpp"
#include "numeric/encode_run.hpp"

namespace amudai::bindings {

namespace {

using InAny = nb::ndarray<nb::ro, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using InBits = std::optional<In<std::uint8_t>>;

// No caller needs larger blocks, and the limit keeps working memory bounded.
constexpr std::size_t block_values_most = std::size_t{1} << 22;

template <class T>
std::span<const T> numbers(const InAny& values) {
    return {static_cast<const T*>(values.data()), values.shape(0)};
}

numeric::Validity validity_of(const InBits& validity, std::size_t at, std::size_t count) {
    if (!validity) return {};
    const auto bits = 8 * validity->shape(0);
    if (at > bits || count > bits - at) throw nb::value_error("validity: fewer bits than values");
    return {validity->data(), at};
}

void require_block_values(std::size_t count) {
    if (count == 0 || count > block_values_most) throw nb::value_error("block_values: expected 1..4194304");
}

Bytes bytes_of(const nb::bytes& bytes) { return {static_cast<const std::uint8_t*>(bytes.data()), bytes.size()}; }

nb::bytes to_python(Bytes bytes) { return nb::bytes(bytes.data(), bytes.size()); }

nb::object to_python(numeric::Wide value) {
    // `value` is a difference of 64-bit values, so its magnitude always fits.
    const nb::int_ magnitude(static_cast<std::uint64_t>(value < 0 ? -value : value));
    return value < 0 ? -magnitude : nb::object(magnitude);
}

template <class T>
nb::object number(T value) {
    if constexpr (std::integral<T>) return nb::int_(value);
    else return nb::float_(static_cast<double>(value));
}

nb::object sizes_array(std::vector<std::uint32_t>&& sizes) {
    auto* const kept = new std::vector<std::uint32_t>(std::move(sizes));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<std::uint32_t>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

}  // namespace

void bind_numeric(nb::module_& m) {
    m.def("numeric_encodings", [] {
        std::map<unsigned, std::string> names;
        numeric::Encodings::each([&]<class E>() { names[E::code] = E::name; });
        return names;
    }, "Code and name of every numeric encoding.");

    m.def("numeric_frames", [](const Blocks& blocks, const std::string& dtype) {
        return with_number(dtype, [&]<class T>() { return numeric_frames<T>(blocks); });
    }, "blocks"_a, "dtype"_a, nb::sig("def numeric_frames(blocks: Blocks, dtype: str) -> list[tuple[int, int, int, int, str]]"),
    "What of a run must be inflated: (buffer, start, end, decoded bytes, codec).");

    m.def("decode_stretch", [](const Blocks& blocks, std::size_t first, OutAny out, std::optional<Out<std::uint8_t>> validity) {
        if (validity && validity->shape(0) < (out.shape(0) + 7) / 8) throw nb::value_error("validity: too short");
        std::vector<Span> spans;
        spans.reserve(blocks.blocks().size());
        auto left = out.shape(0);
        for (std::size_t i = 0; i < blocks.blocks().size() && left; ++i, first = 0) {
            const auto held = blocks.blocks()[i].count;
            if (first >= held) throw nb::value_error("first: expected a slot of the first block");
            spans.push_back({i, first, std::min(left, held - first)});
            left -= spans.back().count;
        }
        if (left) throw nb::value_error("out: expected no more than the blocks hold");
        return with_number(out.dtype(), [&]<class T>() {
            const std::span<T> values{static_cast<T*>(out.data()), out.shape(0)};
            auto* const bitmap = validity ? validity->data() : nullptr;
            const Unlocked unlocked(blocks.size_bytes() + values.size_bytes());
            return numeric::decode_run<T>(blocks.blocks(), spans, blocks.inflated(), values, bitmap, 0);
        });
    }, "blocks"_a, "first"_a, "out"_a.noconvert(), "validity"_a.noconvert().none(),
    nb::sig("def decode_stretch(blocks: Blocks, first: int, out: NDArray[Any], validity: NDArray[np.uint8] | None) -> int"),
    "Decode as many slots as `out` has room for, from slot `first` of the first block on. Return the number of nulls.");

    m.def("decode_numbers", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                               OutAny out, std::optional<Out<std::uint8_t>> validity, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 1, at, out.shape(0));
        if (validity && validity->shape(0) < (out.shape(0) + 7) / 8) throw nb::value_error("validity: too short");
        return with_number(out.dtype(), [&]<class T>() {
            const std::span<T> values{static_cast<T*>(out.data()), out.shape(0)};
            auto* const bitmap = validity ? validity->data() : nullptr;
            const Unlocked unlocked(blocks.size_bytes() + numeric::total(spans) * sizeof(T));
            return numeric::decode_run<T>(blocks.blocks(), spans, blocks.inflated(), values, bitmap, at);
        });
    // noconvert: nanobind would copy a strided array, fill the copy and drop it.
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "out"_a.noconvert(),
    "validity"_a.noconvert().none(), "at"_a,
    nb::sig("def decode_numbers(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], out: NDArray[Any], validity: NDArray[np.uint8] | None, at: int) -> int"),
    "Decode slots of a run of blocks into `out` from `at` on. Return the number of nulls.");

    m.def("decode_divided", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                               std::int64_t origin, std::int64_t by, bool is_signed, OutAny out, Out<std::uint8_t> validity,
                               std::size_t at) {
        if (by <= 0) throw nb::value_error("by: expected a positive number");
        const auto spans = spans_of(blocks, block, first, count, 1, at, out.shape(0));
        if (validity.shape(0) < (out.shape(0) + 7) / 8) throw nb::value_error("validity: too short");
        const numeric::Unit unit{origin, by};
        const auto decode = [&]<class T, class Number>(T, Number) {
            const std::span<Number> values{static_cast<Number*>(out.data()), out.shape(0)};
            const Unlocked unlocked(blocks.size_bytes() + numeric::total(spans) * sizeof(T));
            return numeric::decode_divided<T, Number>(blocks.blocks(), spans, blocks.inflated(), unit, values, validity.data(), at);
        };
        const auto decode_to = [&](auto number) {
            return is_signed ? decode(std::int64_t{}, number) : decode(std::uint64_t{}, number);
        };
        const bool is_narrow = out.dtype() == nb::dtype<std::int32_t>();
        if (!is_narrow && out.dtype() != nb::dtype<std::int64_t>()) throw nb::value_error("out: expected i4 or i8");
        const auto found = is_narrow ? decode_to(std::int32_t{}) : decode_to(std::int64_t{});
        return nb::make_tuple(found.nulls, found.exact);
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "origin"_a, "by"_a, "is_signed"_a,
    "out"_a.noconvert(), "validity"_a.noconvert(), "at"_a,
    nb::sig("def decode_divided(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], origin: int, by: int, is_signed: bool, out: NDArray[Any], "
            "validity: NDArray[np.uint8], at: int) -> tuple[int, bool]"),
    "Decode 64-bit integers of a run of blocks as (integer - origin) / by into `out`, i4 or i8, from `at` on. Return the "
    "number of nulls, and whether all quotients are exact; if not, `out` holds nothing of use.");

    m.def("decode_bits", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                            Out<std::uint8_t> out, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 8, at, 8 * out.shape(0));
        const Unlocked unlocked(blocks.size_bytes() + numeric::total(spans));
        return numeric::decode_bits(blocks.blocks(), spans, blocks.inflated(), out.data(), at);
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "out"_a.noconvert(), "at"_a,
    nb::sig("def decode_bits(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], out: NDArray[np.uint8], at: int) -> int"),
    "Decode bits of a run of blocks of bytes into `out` from bit `at` on. Return how many bits are set.");

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
    "The cascades that a run uses, and in how many blocks it uses each.");

    m.def("encode_numbers", [](InAny values, InBits validity, std::size_t validity_at, nb::bytes program,
                               std::size_t block_values, std::optional<nb::list> compressed, bool checksums) {
        require_block_values(block_values);
        const auto valid = validity_of(validity, validity_at, values.shape(0));
        return with_number(values.dtype(), [&]<class T>() {
            const auto steps = numeric::parse_program<T>(bytes_of(program));
            const numeric::Plan plan(steps.data());
            if (plan->codecs && !compressed) {
                throw nb::value_error("compressed: expected the leaves of the program, found None");
            }
            std::vector<Held> held;
            std::vector<Bytes> supplied;
            if (compressed) {
                for (const auto each : *compressed) supplied.push_back(held.emplace_back(each).bytes());
            }
            using Pass = numeric::Leaves::Pass;
            numeric::Leaves leaves(plan->codecs ? Pass::supply : Pass::none, std::move(supplied));
            Sink out;
            std::vector<std::uint32_t> sizes;
            {
                const nb::gil_scoped_release unlocked;
                out.reserve(values.shape(0) * sizeof(T) + 64);
                numeric::encode_run<T>(numbers<T>(values), valid, plan, block_values, leaves, checksums, out,
                                       [&](std::size_t size) { sizes.push_back(static_cast<std::uint32_t>(size)); });
            }
            return nb::make_tuple(to_python(out.bytes()), sizes_array(std::move(sizes)));
        });
    }, "values"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a, "program"_a, "block_values"_a,
    "compressed"_a.none(), "checksums"_a,
    nb::sig("def encode_numbers(values: NDArray[Any], validity: NDArray[np.uint8] | None, validity_at: int, program: bytes, "
            "block_values: int, compressed: list[bytes] | None, checksums: bool) -> tuple[bytes, NDArray[np.uint32]]"),
    "Encode values in blocks by a program. Return the blocks and the size of each.");

    m.def("encoded_sizes", [](InAny values, const std::vector<nb::bytes>& programs, const std::vector<std::size_t>& block_values) {
        if (programs.size() != block_values.size()) throw nb::value_error("programs: expected the values of a block for each");
        std::vector<std::size_t> found;
        found.reserve(programs.size());
        with_number(values.dtype(), [&]<class T>() {
            for (std::size_t i = 0; i < programs.size(); ++i) {
                require_block_values(block_values[i]);
                const auto steps = numeric::parse_program<T>(bytes_of(programs[i]));
                const numeric::Plan plan(steps.data());
                if (plan->codecs) throw nb::value_error("programs: expected some without codecs");
                numeric::Leaves leaves(numeric::Leaves::Pass::none, {});
                const auto sample = numbers<T>(values).first(std::min<std::size_t>(values.shape(0), block_values[i]));
                Sink out;
                out.reserve(sample.size_bytes() + 64);
                std::size_t total = 0;
                numeric::encode_run<T>(sample, {}, plan, block_values[i], leaves, true, out,
                                       [&](std::size_t size) { total += size; });
                found.push_back(total);
            }
        });
        return found;
    }, "values"_a.noconvert(), "programs"_a, "block_values"_a,
    nb::sig("def encoded_sizes(values: NDArray[Any], programs: list[bytes], block_values: list[int]) -> list[int]"),
    "The bytes of the first block of values by each of these programs, which have no codecs. A program has blocks of so "
    "many values.");

    m.def("codec_leaves", [](InAny values, InBits validity, std::size_t validity_at, nb::bytes program,
                             std::size_t block_values) {
        require_block_values(block_values);
        const auto valid = validity_of(validity, validity_at, values.shape(0));
        numeric::Leaves leaves(numeric::Leaves::Pass::collect);
        with_number(values.dtype(), [&]<class T>() {
            const auto steps = numeric::parse_program<T>(bytes_of(program));
            const nb::gil_scoped_release unlocked;
            numeric::collect_leaves<T>(numbers<T>(values), valid, numeric::Plan(steps.data()), block_values, leaves);
        });
        nb::list result;
        for (const auto& [code, type, raw] : leaves.collected()) result.append(nb::make_tuple(code, nb::str(type.data(), type.size()), to_python(raw)));
        return result;
    }, "values"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a, "program"_a, "block_values"_a,
    nb::sig("def codec_leaves(values: NDArray[Any], validity: NDArray[np.uint8] | None, validity_at: int, program: bytes, "
            "block_values: int) -> list[tuple[int, str, bytes]]"),
    "The values that the codecs of a program must compress, as (code, type, bytes). `encode_numbers` takes the results "
    "in this order.");

    m.def("analyze_numbers", [](InAny values, InBits validity, std::size_t validity_at) {
        const auto valid = validity_of(validity, validity_at, values.shape(0));
        return with_number(values.dtype(), [&]<class T>() {
            numeric::Summary<T> summary;
            {
                const nb::gil_scoped_release unlocked;
                summary = numeric::analyze<T>(numbers<T>(values), valid);
            }
            nb::dict result;
            result["count"] = values.shape(0);
            result["nulls"] = summary.nulls;
            result["min"] = summary.range ? number(summary.range->least) : nb::none();
            result["max"] = summary.range ? number(summary.range->most) : nb::none();
            result["delta_min"] = summary.deltas ? to_python(summary.deltas->least) : nb::none();
            result["delta_max"] = summary.deltas ? to_python(summary.deltas->most) : nb::none();
            result["runs"] = summary.runs;
            result["distinct"] = summary.distinct;
            result["gcd"] = std::integral<T> ? nb::object(nb::int_(summary.divisor)) : nb::none();
            return result;
        });
    }, "values"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def analyze_numbers(values: NDArray[Any], validity: NDArray[np.uint8] | None, validity_at: int) "
            "-> dict[str, object]"),
    "Statistics for choosing an encoding. Nulls count as the value before them; `distinct` stops at 4097.");

    m.def("presence_section", [](In<std::uint8_t> validity, std::size_t validity_at, std::size_t count) {
        const auto valid = validity_of(validity, validity_at, count);
        Sink out;
        {
            const nb::gil_scoped_release unlocked;
            Arena arena;
            presence::encode(valid.bitmap, valid.at, count, out, arena);
        }
        return to_python(out.bytes());
    }, "validity"_a.noconvert(), "validity_at"_a, "count"_a,
    nb::sig("def presence_section(validity: NDArray[np.uint8], validity_at: int, count: int) -> bytes"),
    "The presence section of a block, which says which slots hold a value. Empty if all do.");

    m.def("build_block", [](nb::bytes presence, nb::bytes values, bool checksums) {
        Sink out;
        write_block(out, checksums, [&] { out.append(bytes_of(presence)); }, [&] { out.append(bytes_of(values)); });
        return to_python(out.bytes());
    }, "presence"_a, "values"_a, "checksums"_a,
    nb::sig("def build_block(presence: bytes, values: bytes, checksums: bool) -> bytes"),
    "A block with this presence section and these values.");
}

}  // namespace amudai::bindings
