// Bindings for stored decimals. No loop over values, no layout.
#include "bindings/arrays.hpp"
#include "decimal/compare.hpp"
#include "decimal/decode.hpp"
#include "decimal/scaled.hpp"
#include "decimal/statistics.hpp"
#include "decimal/unscaled.hpp"

namespace amudai::bindings {

namespace {

using Mask = std::optional<In<std::uint8_t>>;  // a byte for each value: 0 for null

std::size_t decimals_in(const In<std::uint8_t>& data) {
    if (data.shape(0) % decimal::value_size) throw nb::value_error("data: expected 16 bytes for each decimal");
    return data.shape(0) / decimal::value_size;
}

const std::uint8_t* mask_of(const Mask& valid, std::size_t count) {
    if (valid && valid->shape(0) != count) throw nb::value_error("valid: expected a byte for each decimal");
    return valid ? valid->data() : nullptr;
}

template <class Use>
decltype(auto) with_width(std::size_t width, Use&& use) {
    switch (width) {
        case 4: return use(std::integral_constant<std::size_t, 4>{});
        case 8: return use(std::integral_constant<std::size_t, 8>{});
        case 16: return use(std::integral_constant<std::size_t, 16>{});
        case 32: return use(std::integral_constant<std::size_t, 32>{});
        default: throw nb::value_error("width: expected 4, 8, 16 or 32");
    }
}

// Rows of four numbers: a key each.
decimal::Ranges ranges_of(const In<std::int64_t>& low, const In<std::int64_t>& high) {
    if (low.shape(0) % 4 || low.shape(0) != high.shape(0)) throw nb::value_error("high: expected as many keys as low has");
    std::vector<decimal::Ranges::Range> found;
    const auto key = [](const std::int64_t* row) { return decimal::Key{row[0], row[1], row[2], row[3]}; };
    for (std::size_t i = 0; i < low.shape(0); i += 4) found.push_back({key(low.data() + i), key(high.data() + i)});
    return decimal::Ranges(std::move(found));
}

void require_precision(int precision, int most) {
    if (precision < 1 || precision > most) throw nb::value_error("precision: out of range");
}

void require_form(std::int64_t scale, int precision, std::size_t width) {
    if (scale < -100'000 || scale > 100'000) throw nb::value_error("scale: out of range");
    require_precision(precision, width == 4 ? 9 : width == 8 ? 18 : width == 16 ? 38 : 76);
}

void bind_conversion(nb::module_& m) {
    m.def("decimal_parts", [](In<std::uint8_t> data) {
        if (data.shape(0) != decimal::value_size) throw nb::value_error("data: expected 16 bytes");
        const auto found = decimal::unpack(decimal::Stored::at(data.data()));
        return nb::make_tuple(found.negative, found.high, found.low, found.exponent);
    }, "data"_a.noconvert(), nb::sig("def decimal_parts(data: NDArray[np.uint8]) -> tuple[bool, int, int, int]"),
    "Whether a stored decimal is negative, its digits before the last 18, its last 18 digits, and its exponent.");

    m.def("decimals_to_unscaled", [](In<std::uint8_t> data, Mask valid, std::int64_t scale, int precision, std::size_t width,
                                     Out<std::uint8_t> out) {
        const auto count = decimals_in(data);
        const auto* const mask = mask_of(valid, count);
        if (out.shape(0) != width * count) throw nb::value_error("out: expected `width` bytes for each decimal");
        require_form(scale, precision, width);
        return with_width(width, [&](auto known) {
            const nb::gil_scoped_release unlocked;
            return decimal::to_unscaled<known>(data.data(), mask, count, scale, precision, out.data());
        });
    }, "data"_a.noconvert(), "valid"_a.noconvert().none(), "scale"_a, "precision"_a, "width"_a, "out"_a.noconvert(),
    nb::sig("def decimals_to_unscaled(data: NDArray[np.uint8], valid: NDArray[np.uint8] | None, scale: int, precision: int, "
            "width: int, out: NDArray[np.uint8]) -> int | None"),
    "Stored decimals x 10**scale as integers of `width` bytes; returns the first that is none of at most `precision` digits.");

    m.def("decode_decimals", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                                std::int64_t scale, int precision, std::size_t width, Out<std::uint8_t> out,
                                Out<std::uint8_t> validity, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 1, at, 8 * validity.shape(0));
        require_form(scale, precision, width);
        if (out.shape(0) < (at + numeric::total(spans)) * width) throw nb::value_error("out: too short");
        return with_width(width, [&](auto known) {
            const Unlocked unlocked(blocks.size_bytes() + numeric::total(spans) * width);
            return decimal::decode_run<known>(blocks.blocks(), spans, blocks.inflated(), {scale, precision}, out.data(),
                                              validity.data(), at);
        });
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "scale"_a, "precision"_a, "width"_a,
    "out"_a.noconvert(), "validity"_a.noconvert(), "at"_a,
    nb::sig("def decode_decimals(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], scale: int, precision: int, width: int, out: NDArray[np.uint8], "
            "validity: NDArray[np.uint8], at: int) -> int | None"),
    "Decode stored decimals to Arrow's: value x 10**scale, an integer of `width` bytes. Returns the number of nulls; None "
    "if a value is none of at most `precision` digits.");

    m.def("decimals_from_unscaled", [](In<std::uint8_t> data, Mask valid, int scale, int precision, std::size_t width,
                                       Out<std::uint8_t> out) {
        const auto count = decimals_in(In<std::uint8_t>(out));
        const auto* const mask = mask_of(valid, count);
        if (data.shape(0) != width * count) throw nb::value_error("data: expected `width` bytes for each decimal");
        if (scale < decimal::bias - 12287 || scale > decimal::bias) throw nb::value_error("scale: out of range");
        require_precision(precision, decimal::most_digits);
        return with_width(width, [&](auto known) {
            const nb::gil_scoped_release unlocked;
            return decimal::from_unscaled<known>(data.data(), mask, count, scale, precision, out.data());
        });
    }, "data"_a.noconvert(), "valid"_a.noconvert().none(), "scale"_a, "precision"_a, "width"_a, "out"_a.noconvert(),
    nb::sig("def decimals_from_unscaled(data: NDArray[np.uint8], valid: NDArray[np.uint8] | None, scale: int, precision: int, "
            "width: int, out: NDArray[np.uint8]) -> int | None"),
    "Stored decimals of integers x 10**-scale; returns the first integer with more than `precision` digits.");
}

void bind_scaled(nb::module_& m) {
    m.def("decimals_from_scaled", [](In<std::int64_t> numbers, Mask valid, int precision, std::size_t width, Out<std::uint8_t> out) {
        const auto count = numbers.shape(0);
        const auto* const mask = mask_of(valid, count);
        if (out.shape(0) != width * count) throw nb::value_error("out: expected `width` bytes for each number");
        require_precision(precision, width == 4 ? 9 : 18);
        return with_width(width, [&](auto known) {
            const Unlocked unlocked(width * count);
            return decimal::from_scaled<known>(span(numbers), mask, precision, out.data());
        });
    }, "numbers"_a.noconvert(), "valid"_a.noconvert().none(), "precision"_a, "width"_a, "out"_a.noconvert(),
    nb::sig("def decimals_from_scaled(numbers: NDArray[np.int64], valid: NDArray[np.uint8] | None, precision: int, width: int, "
            "out: NDArray[np.uint8]) -> int | None"),
    "Integers as integers of `width` bytes, null values as 0; returns the first with more than `precision` digits.");
}

void bind_order(nb::module_& m) {
    m.def("decimal_keys", [](In<std::uint8_t> data) {
        const auto count = decimals_in(data);
        NumpyMemory<std::int64_t> rows(3 * count);
        {
            const nb::gil_scoped_release unlocked;
            for (std::size_t i = 0; i < count; ++i) {
                const auto key = decimal::key_of(decimal::Stored::at(data.data() + decimal::value_size * i));
                std::ranges::copy(std::array{key.place, key.upper, key.lower}, rows.data() + 3 * i);
            }
        }
        return std::move(rows).array();
    }, "data"_a.noconvert(), nb::sig("def decimal_keys(data: NDArray[np.uint8]) -> NDArray[np.int64]"),
    "Three numbers for each stored decimal. They compare as the decimals do.");

    m.def("decimal_statistics", [](In<std::uint8_t> data, Mask valid, std::optional<In<std::uint64_t>> times) {
        const auto count = decimals_in(data);
        const auto* const mask = mask_of(valid, count);
        if (times && times->shape(0) != count) throw nb::value_error("times: expected a number for each decimal");
        decimal::Statistics found;
        {
            const nb::gil_scoped_release unlocked;
            found = decimal::statistics(data.data(), mask, times ? times->data() : nullptr, count);
        }
        const auto ends = found.ends ? nb::object(nb::make_tuple(found.ends->least, found.ends->greatest)) : nb::none();
        return nb::make_tuple(nb::make_tuple(found.zeros, found.positive, found.negative, found.nans), ends);
    }, "data"_a.noconvert(), "valid"_a.noconvert().none(), "times"_a.noconvert().none(),
    nb::sig("def decimal_statistics(data: NDArray[np.uint8], valid: NDArray[np.uint8] | None, times: NDArray[np.uint64] | None) "
            "-> tuple[tuple[int, int, int, int], tuple[int, int] | None]"),
    "How many zeros, positive, negative values and NaNs there are, each counted `times` times, and where the first of the\n"
    "smallest and of the largest numbers stand.");

    m.def("decimal_ranges", [](In<std::uint8_t> data, Mask valid) {
        const auto count = decimals_in(data), ranges = (count + decimal::chunk - 1) / decimal::chunk;
        const auto* const mask = mask_of(valid, count);
        NumpyMemory<std::uint8_t> least(decimal::value_size * ranges), greatest(decimal::value_size * ranges);
        NumpyMemory<std::uint16_t> invalid(ranges);
        {
            const nb::gil_scoped_release unlocked;
            decimal::ranges(data.data(), mask, count, least.data(), greatest.data(), invalid.data());
        }
        return nb::make_tuple(std::move(least).array(), std::move(greatest).array(), std::move(invalid).array());
    }, "data"_a.noconvert(), "valid"_a.noconvert().none(),
    nb::sig("def decimal_ranges(data: NDArray[np.uint8], valid: NDArray[np.uint8] | None) "
            "-> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint16]]"),
    "Smallest and largest of every 256 decimals, zero bytes where none is valid, and how many are invalid: null or NaN.");
}

void bind_ranges(nb::module_& m) {
    m.def("decimals_within", [](In<std::uint8_t> data, In<std::int64_t> low, In<std::int64_t> high) {
        const auto count = decimals_in(data);
        auto ranges = ranges_of(low, high);
        NumpyMemory<std::uint8_t> bits(bits::answer_bytes(count));
        {
            const nb::gil_scoped_release unlocked;
            ranges.compare(data.data(), count, bits.data());
        }
        return std::move(bits).first((count + 7) / 8);
    }, "data"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(),
    nb::sig("def decimals_within(data: NDArray[np.uint8], low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.uint8]"),
    "A bit for each stored decimal: whether it is in one of the ranges, whose ends are rows of four numbers.");

    m.def("compare_decimals", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                                 In<std::int64_t> low, In<std::int64_t> high, bool inverted, Out<std::uint8_t> out, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 1, at, 8 * out.shape(0));
        auto ranges = ranges_of(low, high);
        const nb::gil_scoped_release unlocked;
        return decimal::compare_run(blocks.blocks(), spans, blocks.inflated(), ranges, inverted, out.data(), at);
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "low"_a.noconvert(),
    "high"_a.noconvert(), "inverted"_a, "out"_a.noconvert(), "at"_a,
    nb::sig("def compare_decimals(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], low: NDArray[np.int64], high: NDArray[np.int64], inverted: bool, "
            "out: NDArray[np.uint8], at: int) -> int"),
    "As `compare_numbers`, for stored decimals: ranges as `decimals_within` takes them.");
}

}  // namespace

void bind_decimal(nb::module_& m) {
    bind_conversion(m);
    bind_scaled(m);
    bind_order(m);
    bind_ranges(m);
}

}  // namespace amudai::bindings
