// Bindings for CSV text.
#include "text/csv.hpp"

#include "bindings/owned.hpp"

namespace amudai::bindings {

namespace {

using Text = In<std::uint8_t>;

}  // namespace

void bind_csv(nb::module_& m) {
    m.def("csv_records", [](Text data, std::uint8_t delimiter, std::optional<std::uint8_t> quote, nb::bytes comment,
                            bool has_empty, bool is_final) {
        const text::csv::Dialect dialect{delimiter, quote, {static_cast<const std::uint8_t*>(comment.data()), comment.size()},
                                         has_empty};
        text::csv::Records found;
        {
            const nb::gil_scoped_release unlocked;
            found = text::csv::records(span(data), dialect, is_final);
        }
        nb::object opening = nb::none();
        if (found.opening) opening = nb::make_tuple(found.opening->at, found.opening->line);
        return nb::make_tuple(owned(std::move(found.starts)), owned(std::move(found.ends)), owned(std::move(found.lines)),
                              found.used, found.lines_used, opening);
    }, "data"_a.noconvert(), "delimiter"_a, "quote"_a.none(), "comment"_a, "has_empty"_a, "is_final"_a,
    nb::sig("def csv_records(data: NDArray[np.uint8], delimiter: int, quote: int | None, comment: bytes, has_empty: bool, "
            "is_final: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int, int, tuple[int, int] | None]"),
    "Where records start and end, on which lines they begin (from 0), the bytes and lines that they, empty lines and comments "
    "take up, and where and on which line a quote opens that nothing closes. Empty lines are records if `has_empty` says so.");

    m.def("csv_odd_numbers", [](Text data, In<std::int64_t> starts, In<std::int64_t> ends, std::uint8_t delimiter,
                           std::optional<std::uint8_t> quote, In<std::uint8_t> numbers) {
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
