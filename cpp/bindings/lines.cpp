// Bindings for exports: columns of values, and their rows as lines of text.
#include <string>

#include "exports/lines.hpp"

#include "bindings/arrays.hpp"

namespace amudai::bindings {

namespace {

using namespace exports;

// A column, and the arrays in which its values lie.
struct TextColumn {
    Child column;
    std::vector<nb::ndarray<>> held;
};

template <class... Arrays>
void hold(TextColumn& made, const Arrays&... arrays) {
    (made.held.emplace_back(arrays.handle()), ...);
}

void hold_validity(TextColumn& made, const Bitmap& validity) {
    if (validity) hold(made, *validity);
}

void hold_column(TextColumn& made, const TextColumn& child) {
    made.held.insert(made.held.end(), child.held.begin(), child.held.end());
}

std::vector<Child> columns_of(const nb::list& list) {
    std::vector<Child> columns;
    for (const auto each : list) columns.push_back(nb::cast<const TextColumn&>(each).column);
    return columns;
}

void hold_columns(TextColumn& made, const nb::list& list) {
    for (const auto each : list) hold_column(made, nb::cast<const TextColumn&>(each));
}

template <class Values, class Array>
TextColumn plain(Values values, const Array& array, std::size_t count, const Bitmap& validity, std::size_t at) {
    TextColumn made{std::make_shared<Plain<Values>>(count, validity_of(validity, at, count), values), {}};
    hold(made, array);
    hold_validity(made, validity);
    return made;
}

Unit unit_of(unsigned digits) {
    if (digits != 0 && digits != 3 && digits != 6 && digits != 9) throw nb::value_error("digits: expected 0, 3, 6 or 9");
    return {digits};
}

// A column of texts or bytes: `Of` is Texts or Binary.
template <template <class> class Of>
TextColumn of_bytes(const std::optional<InAny>& offsets, const In<std::uint8_t>& data, std::optional<std::size_t> fixed_size,
                    std::size_t count, const Bitmap& validity, std::size_t at) {
    TextColumn made;
    with_values(offsets, data, fixed_size, count, [&](const auto& values) {
        using Values = std::remove_cvref_t<decltype(values)>;
        made.column = std::make_shared<Of<Values>>(validity_of(validity, at, count), values);
    });
    if (offsets) hold(made, *offsets);
    hold(made, data);
    hold_validity(made, validity);
    return made;
}

nb::bytes bytes_of(const Sink& out) { return nb::bytes(out.bytes().data(), out.size()); }

void bind_plain_columns(nb::class_<TextColumn>& column) {
    column.def_static("nulls", [](std::size_t count) { return TextColumn{std::make_shared<Nulls>(count), {}}; }, "count"_a,
        nb::sig("def nulls(count: int) -> TextColumn"));
    column.def_static("booleans", [](In<std::uint8_t> bits, std::size_t first, std::size_t count, Bitmap validity, std::size_t at) {
        static_cast<void>(validity_of(Bitmap(bits), first, count));
        return plain(Booleans{bits.data(), first}, bits, count, validity, at);
    }, "bits"_a.noconvert(), "first"_a, "count"_a, "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def booleans(bits: NDArray[np.uint8], first: int, count: int, validity: NDArray[np.uint8] | None, "
            "validity_at: int) -> TextColumn"));
    column.def_static("integers", [](InAny values, Bitmap validity, std::size_t at) {
        return with_number(values.dtype(), [&]<class T>() -> TextColumn {
            if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t>) {
                return plain(Integers<T>{static_cast<const T*>(values.data())}, values, values.shape(0), validity, at);
            } else {
                throw nb::type_error("values: expected int64 or uint64");
            }
        });
    }, "values"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def integers(values: NDArray[Any], validity: NDArray[np.uint8] | None, validity_at: int) -> TextColumn"));
    column.def_static("doubles", [](In<double> values, Bitmap validity, std::size_t at) {
        const auto count = values.shape(0);
        TextColumn made{std::make_shared<Doubles>(count, validity_of(validity, at, count), values.data()), {}};
        hold(made, values);
        hold_validity(made, validity);
        return made;
    }, "values"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def doubles(values: NDArray[np.float64], validity: NDArray[np.uint8] | None, validity_at: int) -> TextColumn"));
    column.def_static("decimals", [](In<std::uint8_t> values, int scale, Bitmap validity, std::size_t at) {
        if (values.shape(0) % 16) throw nb::value_error("values: expected 16 bytes each");
        return plain(Decimals{values.data(), scale}, values, values.shape(0) / 16, validity, at);
    }, "values"_a.noconvert(), "scale"_a, "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def decimals(values: NDArray[np.uint8], scale: int, validity: NDArray[np.uint8] | None, "
            "validity_at: int) -> TextColumn"));
    column.def_static("uuids", [](In<std::uint8_t> values, Bitmap validity, std::size_t at) {
        if (values.shape(0) % 16) throw nb::value_error("values: expected 16 bytes each");
        return plain(Uuids{values.data()}, values, values.shape(0) / 16, validity, at);
    }, "values"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def uuids(values: NDArray[np.uint8], validity: NDArray[np.uint8] | None, validity_at: int) -> TextColumn"));
    column.def_static("texts", of_bytes<Texts>, "offsets"_a.noconvert().none(), "data"_a.noconvert(), "fixed_size"_a.none(),
    "count"_a, "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def texts(offsets: NDArray[Any] | None, data: NDArray[np.uint8], fixed_size: int | None, count: int, "
            "validity: NDArray[np.uint8] | None, validity_at: int) -> TextColumn"));
    column.def_static("binary", of_bytes<Binary>, "offsets"_a.noconvert().none(), "data"_a.noconvert(), "fixed_size"_a.none(),
    "count"_a, "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def binary(offsets: NDArray[Any] | None, data: NDArray[np.uint8], fixed_size: int | None, count: int, "
            "validity: NDArray[np.uint8] | None, validity_at: int) -> TextColumn"));
}

void bind_times(nb::class_<TextColumn>& column) {
    column.def_static("dates", [](In<std::int32_t> days, Bitmap validity, std::size_t at) {
        return plain(Dates{days.data()}, days, days.shape(0), validity, at);
    }, "days"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def dates(days: NDArray[np.int32], validity: NDArray[np.uint8] | None, validity_at: int) -> TextColumn"));
    column.def_static("times", [](In<std::int64_t> counts, unsigned digits, Bitmap validity, std::size_t at) {
        return plain(Times{counts.data(), unit_of(digits)}, counts, counts.shape(0), validity, at);
    }, "counts"_a.noconvert(), "digits"_a, "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def times(counts: NDArray[np.int64], digits: int, validity: NDArray[np.uint8] | None, validity_at: int) -> TextColumn"));
    column.def_static("durations", [](In<std::int64_t> counts, unsigned digits, Bitmap validity, std::size_t at) {
        return plain(Durations{counts.data(), unit_of(digits)}, counts, counts.shape(0), validity, at);
    }, "counts"_a.noconvert(), "digits"_a, "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def durations(counts: NDArray[np.int64], digits: int, validity: NDArray[np.uint8] | None, "
            "validity_at: int) -> TextColumn"));
    column.def_static("instants", [](In<std::int64_t> counts, unsigned digits, bool has_zone,
                                     std::optional<In<std::int32_t>> minutes, Bitmap validity, std::size_t at) {
        const auto count = counts.shape(0);
        if (minutes && minutes->shape(0) != count) throw nb::value_error("minutes: expected as many as there are counts");
        auto made = plain(Instants{counts.data(), unit_of(digits), has_zone, minutes ? minutes->data() : nullptr}, counts, count,
                          validity, at);
        if (minutes) hold(made, *minutes);
        return made;
    }, "counts"_a.noconvert(), "digits"_a, "has_zone"_a, "minutes"_a.noconvert().none(), "validity"_a.noconvert().none(),
    "validity_at"_a,
    nb::sig("def instants(counts: NDArray[np.int64], digits: int, has_zone: bool, minutes: NDArray[np.int32] | None, "
            "validity: NDArray[np.uint8] | None, validity_at: int) -> TextColumn"));
}

void bind_nested_columns(nb::class_<TextColumn>& column) {
    column.def_static("lists", [](In<std::int64_t> starts, In<std::int64_t> ends, const TextColumn& items, Bitmap validity,
                                  std::size_t at) {
        const auto stretches = Stretches::checked(span(starts), span(ends), items.column->count());
        TextColumn made{std::make_shared<Lists>(validity_of(validity, at, starts.shape(0)), stretches, items.column), {}};
        hold(made, starts, ends);
        hold_validity(made, validity);
        hold_column(made, items);
        return made;
    }, "starts"_a.noconvert(), "ends"_a.noconvert(), "items"_a, "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def lists(starts: NDArray[np.int64], ends: NDArray[np.int64], items: TextColumn, "
            "validity: NDArray[np.uint8] | None, validity_at: int) -> TextColumn"));
    column.def_static("maps", [](In<std::int64_t> starts, In<std::int64_t> ends, bool has_texts, const TextColumn& keys,
                                 const TextColumn& items, Bitmap validity, std::size_t at) {
        const auto count = std::min(keys.column->count(), items.column->count());
        const auto stretches = Stretches::checked(span(starts), span(ends), count);
        TextColumn made{std::make_shared<Maps>(validity_of(validity, at, starts.shape(0)), stretches, has_texts, keys.column,
                                               items.column), {}};
        hold(made, starts, ends);
        hold_validity(made, validity);
        hold_column(made, keys);
        hold_column(made, items);
        return made;
    }, "starts"_a.noconvert(), "ends"_a.noconvert(), "has_texts"_a, "keys"_a, "items"_a, "validity"_a.noconvert().none(),
    "validity_at"_a,
    nb::sig("def maps(starts: NDArray[np.int64], ends: NDArray[np.int64], has_texts: bool, keys: TextColumn, items: TextColumn, "
            "validity: NDArray[np.uint8] | None, validity_at: int) -> TextColumn"));
    column.def_static("structs", [](const std::vector<std::string>& names, const nb::list& columns, std::size_t count,
                                    Bitmap validity, std::size_t at) {
        TextColumn made{std::make_shared<Structs>(count, validity_of(validity, at, count), names, columns_of(columns)), {}};
        hold_validity(made, validity);
        hold_columns(made, columns);
        return made;
    }, "names"_a, "columns"_a, "count"_a, "validity"_a.noconvert().none(), "validity_at"_a,
    nb::sig("def structs(names: list[str], columns: list[TextColumn], count: int, validity: NDArray[np.uint8] | None, "
            "validity_at: int) -> TextColumn"));
    column.def_static("unions", [](In<std::uint8_t> which, In<std::int64_t> slots, const nb::list& columns) {
        TextColumn made{std::make_shared<Unions>(span(which), span(slots), columns_of(columns)), {}};
        hold(made, which, slots);
        hold_columns(made, columns);
        return made;
    }, "which"_a.noconvert(), "slots"_a.noconvert(), "columns"_a,
    nb::sig("def unions(which: NDArray[np.uint8], slots: NDArray[np.int64], columns: list[TextColumn]) -> TextColumn"));
}

}  // namespace

void bind_lines(nb::module_& m) {
    nb::class_<TextColumn> column(m, "TextColumn", "A column of values, ready to be written as JSON or CSV.");
    bind_plain_columns(column);
    bind_times(column);
    bind_nested_columns(column);

    m.def("json_lines", [](const std::vector<std::string>& names, const nb::list& columns, std::size_t first, std::size_t count) {
        const Members members(names, columns_of(columns), end_of_rows(first, count));
        Sink out;
        {
            const nb::gil_scoped_release unlocked;
            put_json_lines(out, members, first, count);
        }
        return bytes_of(out);
    }, "names"_a, "columns"_a, "first"_a, "count"_a,
    nb::sig("def json_lines(names: list[str], columns: list[TextColumn], first: int, count: int) -> bytes"),
    "Rows as JSON objects, one on each line.");

    m.def("csv_lines", [](const nb::list& columns, std::size_t first, std::size_t count) {
        const auto list = columns_of(columns);
        Sink out;
        {
            const nb::gil_scoped_release unlocked;
            put_csv_lines(out, list, first, count);
        }
        return bytes_of(out);
    }, "columns"_a, "first"_a, "count"_a,
    nb::sig("def csv_lines(columns: list[TextColumn], first: int, count: int) -> bytes"),
    "Rows as lines of CSV. A null is an empty cell, an empty text is two quotes.");
}

}  // namespace amudai::bindings
