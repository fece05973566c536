// Bindings for CSV text.
#include "text/csv_columns.hpp"

#include "bindings/owned.hpp"

namespace amudai::bindings {

namespace {

using Text = In<std::uint8_t>;
using Quote = std::optional<std::uint8_t>;
using text::csv::CellKind;

text::csv::Dialect dialect_of(std::uint8_t delimiter, Quote quote, const nb::bytes& comment, bool has_empty) {
    return {delimiter, quote, {static_cast<const std::uint8_t*>(comment.data()), comment.size()}, has_empty};
}

bool is_utf8(Bytes data) { return utf8::is_ascii(data) || utf8::is_valid(data); }

// The memory of one column.
struct ColumnMemory {
    std::optional<NumpyMemory<std::uint8_t>> validity, values;
    std::optional<NumpyMemory<std::int32_t>> offsets;
    std::size_t values_size = 0;

    text::csv::Column column(CellKind kind, std::size_t rows, std::size_t text_size) {
        validity.emplace((rows + 7) / 8);
        std::ranges::fill(validity->span(), std::uint8_t{0xff});
        if (text::csv::is_text(kind)) {
            offsets.emplace(rows + 1);
            offsets->data()[0] = 0;
            values.emplace(text_size + text::csv::text_slack);
        } else if (kind != CellKind::null) {
            values_size = kind == CellKind::boolean ? (rows + 7) / 8 : rows * text::csv::value_size(kind);
            values.emplace(values_size);
        }
        return {kind, validity->data(), values ? values->data() : nullptr, offsets ? offsets->data() : nullptr};
    }

    nb::tuple taken(std::size_t rows, std::size_t nulls) && {
        if (offsets) values_size = static_cast<std::size_t>(offsets->data()[rows]);
        nb::object bits = nb::none(), ends = nb::none(), bytes = nb::none();
        if (nulls) bits = nb::cast(std::move(*validity).array());
        if (offsets) ends = nb::cast(std::move(*offsets).array());
        if (values) bytes = nb::cast(std::move(*values).first(values_size));
        return nb::make_tuple(nulls, bits, ends, bytes);
    }
};

// All columns of some records.
struct Filled {
    std::size_t rows = 0;
    std::vector<ColumnMemory> memory;
    std::vector<text::csv::Column> columns;

    static std::optional<Filled> of(Bytes data, const text::csv::Dialect& dialect, std::span<const CellKind> kinds,
                                    const text::csv::Nulls& nulls) {
        if (std::ranges::any_of(kinds, text::csv::is_text) && !is_utf8(data)) return std::nullopt;
        const auto cells = text::csv::Cells::of(data, dialect, kinds.size());
        if (!cells) return std::nullopt;
        Filled found{cells->rows(), std::vector<ColumnMemory>(kinds.size()), {}};
        const auto sizes = text::csv::text_sizes(*cells, kinds);
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            found.columns.push_back(found.memory[i].column(kinds[i], found.rows, sizes[i]));
        }
        if (!text::csv::read_columns(*cells, dialect, nulls, found.columns)) return std::nullopt;
        return found;
    }

    nb::tuple taken() && {
        nb::list found;
        for (std::size_t i = 0; i < columns.size(); ++i) found.append(std::move(memory[i]).taken(rows, columns[i].nulls));
        return nb::make_tuple(rows, found);
    }
};

}  // namespace

void bind_csv(nb::module_& m) {
    m.def("csv_records", [](Text data, std::uint8_t delimiter, Quote quote, nb::bytes comment, bool has_empty, bool is_final,
                            std::optional<std::size_t> most) {
        const auto dialect = dialect_of(delimiter, quote, comment, has_empty);
        text::csv::Records found;
        {
            const nb::gil_scoped_release unlocked;
            found = text::csv::records(span(data), dialect, is_final, most.value_or(std::numeric_limits<std::size_t>::max()));
        }
        nb::object opening = nb::none();
        if (found.opening) opening = nb::make_tuple(found.opening->at, found.opening->line);
        return nb::make_tuple(owned(std::move(found.starts)), owned(std::move(found.ends)), owned(std::move(found.lines)),
                              found.used, found.lines_used, opening);
    }, "data"_a.noconvert(), "delimiter"_a, "quote"_a.none(), "comment"_a, "has_empty"_a, "is_final"_a, "most"_a = nb::none(),
    nb::sig("def csv_records(data: NDArray[np.uint8], delimiter: int, quote: int | None, comment: bytes, has_empty: bool, "
            "is_final: bool, most: int | None = None) "
            "-> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int, int, tuple[int, int] | None]"),
    "Where the first `most` records start and end, on which lines they begin (from 0), the bytes and lines that they, empty "
    "lines and comments take up, and where and on which line a quote opens that nothing closes. Empty lines are records if "
    "`has_empty` says so.");

    m.def("csv_whole", [](Text data, std::uint8_t delimiter, Quote quote, nb::bytes comment, bool has_empty, bool is_final) {
        const auto dialect = dialect_of(delimiter, quote, comment, has_empty);
        const nb::gil_scoped_release unlocked;
        const auto found = text::csv::whole(span(data), dialect, is_final);
        return std::tuple(found.size, found.lines);
    }, "data"_a.noconvert(), "delimiter"_a, "quote"_a.none(), "comment"_a, "has_empty"_a, "is_final"_a,
    nb::sig("def csv_whole(data: NDArray[np.uint8], delimiter: int, quote: int | None, comment: bytes, has_empty: bool, "
            "is_final: bool) -> tuple[int, int]"),
    "How many bytes at the beginning are whole records, and how many lines end in them. Some of the last records may be "
    "left out, but not all. If no more data follows, it is all unless a quote stays open.");

    m.def("csv_columns", [](Text data, std::uint8_t delimiter, Quote quote, nb::bytes comment, bool has_empty,
                            In<std::uint8_t> numbers, std::vector<std::string> nulls) -> nb::object {
        const auto dialect = dialect_of(delimiter, quote, comment, has_empty);
        std::vector<CellKind> kinds;
        for (const auto kind : span(numbers)) {
            if (kind > static_cast<std::uint8_t>(CellKind::text_or_null)) throw nb::value_error("kinds: expected 0..10");
            kinds.push_back(static_cast<CellKind>(kind));
        }
        std::optional<Filled> filled;
        {
            const nb::gil_scoped_release unlocked;
            filled = Filled::of(span(data), dialect, kinds, text::csv::Nulls(std::move(nulls)));
        }
        return filled ? nb::object(std::move(*filled).taken()) : nb::none();
    }, "data"_a.noconvert(), "delimiter"_a, "quote"_a.none(), "comment"_a, "has_empty"_a, "kinds"_a.noconvert(), "nulls"_a,
    nb::sig("def csv_columns(data: NDArray[np.uint8], delimiter: int, quote: int | None, comment: bytes, has_empty: bool, "
            "kinds: NDArray[np.uint8], nulls: list[str]) -> tuple[int, list[tuple[int, NDArray[np.uint8] | None, "
            "NDArray[np.int32] | None, NDArray[np.uint8] | None]]] | None"),
    "The number of whole records, and of each column the number of nulls, Arrow's validity if there are nulls, offsets and "
    "values. None if the text needs a closer look: some record is not as long as the others, or some value is not in its "
    "plain form.");

    m.def("csv_looks", [](Text data, std::uint8_t delimiter, Quote quote, nb::bytes comment, bool has_empty,
                          std::size_t columns, std::vector<std::string> nulls) {
        const auto dialect = dialect_of(delimiter, quote, comment, has_empty);
        std::optional<std::vector<std::tuple<std::uint16_t, std::uint16_t>>> found;
        const nb::gil_scoped_release unlocked;
        if (!is_utf8(span(data))) return found;
        if (const auto cells = text::csv::Cells::of(span(data), dialect, columns)) {
            found.emplace();
            for (const auto& look : text::csv::column_looks(*cells, dialect, text::csv::Nulls(std::move(nulls)))) {
                found->emplace_back(look.first, look.all);
            }
        }
        return found;
    }, "data"_a.noconvert(), "delimiter"_a, "quote"_a.none(), "comment"_a, "has_empty"_a, "columns"_a, "nulls"_a,
    nb::sig("def csv_looks(data: NDArray[np.uint8], delimiter: int, quote: int | None, comment: bytes, has_empty: bool, "
            "columns: int, nulls: list[str]) -> list[tuple[int, int]] | None"),
    "What the first values and all values of each column look like. None if some record is not as long as the others, "
    "or is not UTF-8.");

    m.def("csv_odd_numbers", [](Text data, In<std::int64_t> starts, In<std::int64_t> ends, std::uint8_t delimiter,
                           Quote quote, In<std::uint8_t> numbers) {
        const auto text = span(data);
        const auto firsts = span(starts), lasts = span(ends);
        if (firsts.size() != lasts.size()) throw nb::value_error("ends: expected one for each start");
        for (std::size_t i = 0; i < firsts.size(); ++i) {
            if (firsts[i] < 0 || firsts[i] > lasts[i] || static_cast<std::size_t>(lasts[i]) > text.size()) {
                throw nb::value_error("records: expected them inside the data");
            }
        }
        const text::csv::Dialect dialect{.delimiter = delimiter, .quote = quote, .comment = {}};
        NumpyMemory<bool> odd(firsts.size());
        {
            const nb::gil_scoped_release unlocked;
            std::ranges::fill(odd.span(), false);
            const auto from = firsts.empty() ? 0 : firsts.front(), to = firsts.empty() ? 0 : lasts.back();
            if (from < to && text::csv::may_have_odd_numbers(text.subspan(from, to - from), dialect)) {
                for (std::size_t i = 0; i < firsts.size(); ++i) {
                    odd.span()[i] = text::csv::has_odd_numbers(text.subspan(firsts[i], lasts[i] - firsts[i]), dialect,
                                                                  span(numbers));
                }
            }
        }
        return std::move(odd).array();
    }, "data"_a.noconvert(), "starts"_a.noconvert(), "ends"_a.noconvert(), "delimiter"_a, "quote"_a.none(),
    "numbers"_a.noconvert(),
    nb::sig("def csv_odd_numbers(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], delimiter: int, "
            "quote: int | None, numbers: NDArray[np.uint8]) -> NDArray[np.bool_]"),
    "Which records, one behind the other, have a number such as 007, +7 or 0x7 in a column that `numbers` marks with 1.");
}

}  // namespace amudai::bindings
