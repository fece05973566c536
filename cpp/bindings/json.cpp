// Bindings for JSON: cutting a file into records, observing kinds of values, and records as columns.
#include "json/columns.hpp"
#include "json/cut.hpp"
#include "json/kinds.hpp"

#include "bindings/arrays.hpp"

namespace amudai::bindings {

namespace {

using State = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
// record, trouble, column, and where in the data the trouble is
using Place = std::tuple<std::size_t, int, int, std::ptrdiff_t, std::ptrdiff_t>;
using Spec = std::tuple<int, std::string, std::size_t>;

template <class T>
Array<T> owned(std::vector<T>&& values) {
    auto* const kept = new std::vector<T>(std::move(values));
    return {kept->data(), {kept->size()}, nb::capsule(kept, [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); })};
}

template <class T>
nb::object owned_or_none(std::vector<T>&& values) {
    return values.empty() ? nb::none() : nb::cast(owned(std::move(values)));
}

void require_records(std::span<const std::int64_t> starts, std::span<const std::int64_t> ends, std::size_t size) {
    if (starts.size() != ends.size()) throw nb::value_error("records: expected as many ends as starts");
    if (size > INT32_MAX) throw nb::value_error("data: expected less than 2 GiB");
    for (std::size_t i = 0; i < starts.size(); ++i) {
        if (starts[i] < 0 || starts[i] > ends[i] || static_cast<std::size_t>(ends[i]) > size) {
            throw nb::value_error("records: expected them inside the data");
        }
    }
}

Place place_of(const json::Fault& fault, std::size_t record, Bytes data) {
    return {record, static_cast<int>(fault.trouble), fault.column, fault.at - data.data(), fault.end - data.data()};
}

nb::tuple observed(const json::Observed& at) {
    nb::list members;
    for (const auto& member : at.members) members.append(nb::make_tuple(member->name, observed(*member)));
    return nb::make_tuple(at.found, members, at.elements ? nb::object(observed(*at.elements)) : nb::none());
}

// Length, number of nulls, validity, offsets and values of a column and of all columns below it.
void append_columns(nb::list& out, json::Column& column) {
    const auto nulls = column.length - column.valid;
    nb::object values = nb::none();
    if (column.has_words()) {
        values = nb::cast(owned(std::move(column.words)));
    } else if (column.holds == json::Holds::boolean || (column.has_offsets() && column.children.empty())) {
        values = nb::cast(owned(std::move(column.bytes)));
    }
    out.append(nb::make_tuple(column.length, nulls, nulls ? nb::cast(owned(std::move(column.validity))) : nb::none(),
                              owned_or_none(std::move(column.offsets)), values));
    for (auto& child : column.children) append_columns(out, child);
}

std::vector<json::ColumnSpec> specs_of(const std::vector<Spec>& columns) {
    std::vector<json::ColumnSpec> specs;
    for (const auto& [holds, name, children] : columns) {
        if (holds < 0 || holds > static_cast<int>(json::Holds::map)) throw nb::value_error("columns: expected a known kind");
        specs.push_back({static_cast<json::Holds>(holds), name, children});
    }
    return specs;
}

}  // namespace

void bind_json(nb::module_& m) {
    m.def("json_cut", [](In<std::uint8_t> block, int shape, State state) {
        if (shape < 0 || shape > static_cast<int>(json::Shape::documents)) throw nb::value_error("shape: expected a known one");
        json::CutState at{std::get<0>(state), std::get<1>(state), std::get<2>(state)};
        json::Cuts cuts;
        {
            const nb::gil_scoped_release unlocked;
            json::Cutter(span(block), static_cast<json::Shape>(shape), at, cuts).run();
        }
        return nb::make_tuple(owned(std::move(cuts.starts)), owned(std::move(cuts.ends)), owned(std::move(cuts.lines)),
                              cuts.line_feeds, State{at.depth, at.token, at.place}, at.inside_record());
    }, "block"_a.noconvert(), "shape"_a, "state"_a,
    nb::sig("def json_cut(block: NDArray[np.uint8], shape: int, state: tuple[int, int, int]) -> tuple[NDArray[np.int64], "
            "NDArray[np.int64], NDArray[np.int64], int, tuple[int, int, int], bool]"),
    "Starts and ends of records, the line feeds before each start and in all, the state at the end, and whether a record "
    "is unfinished. The state at the start of a file is (0, 0, 0).");

    m.def("first_not_json", [](In<std::uint8_t> data, In<std::int64_t> offsets, std::optional<In<std::uint8_t>> validity) -> std::ptrdiff_t {
        if (offsets.shape(0) == 0) throw nb::value_error("offsets: expected at least one");
        const std::size_t count = offsets.shape(0) - 1;
        if (validity && validity->shape(0) * 8 < count) throw nb::value_error("validity: expected a bit for each value");
        const nb::gil_scoped_release unlocked;
        const Bytes bytes = span(data);
        for (std::size_t i = 0; i < count; ++i) {
            if (validity && !(validity->data()[i / 8] >> (i % 8) & 1)) continue;
            const auto from = offsets.data()[i], to = offsets.data()[i + 1];
            if (from < 0 || from > to || static_cast<std::size_t>(to) > bytes.size()) {
                throw std::out_of_range("offsets: expected them inside the data");
            }
            if (!json::is_json(bytes.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)))) {
                return static_cast<std::ptrdiff_t>(i);
            }
        }
        return -1;
    }, "data"_a.noconvert(), "offsets"_a.noconvert(), "validity"_a.none(),
    nb::sig("def first_not_json(data: NDArray[np.uint8], offsets: NDArray[np.int64], validity: NDArray[np.uint8] | None) -> int"),
    "The first value that is not one JSON value in UTF-8; -1 if all are. Values that are not valid are not looked at.");

    m.def("json_kinds", [](In<std::uint8_t> data, In<std::int64_t> starts, In<std::int64_t> ends, bool nan, bool any, std::size_t most) {
        require_records(span(starts), span(ends), data.shape(0));
        json::Observer observer(nan, any);
        std::vector<Place> refused;
        {
            const nb::gil_scoped_release unlocked;
            const Bytes bytes = span(data);
            for (std::size_t i = 0; i < starts.shape(0) && refused.size() < most; ++i) {
                const auto from = starts.data()[i], to = ends.data()[i];
                try {
                    observer.record(bytes.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)));
                } catch (const json::Fault& fault) {
                    refused.push_back(place_of(fault, i, bytes));
                }
            }
        }
        return nb::make_tuple(observed(observer.root()), refused);
    }, "data"_a.noconvert(), "starts"_a.noconvert(), "ends"_a.noconvert(), "nan"_a, "any"_a, "most"_a,
    nb::sig("def json_kinds(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], nan: bool, any: bool, most: int) "
            "-> tuple[tuple[int, list[Any], Any], list[tuple[int, int, int, int, int]]]"),
    "The kinds of values at each path, as (kinds, members, elements), and the refused records. Stops after `most` of those. "
    "Records are objects, or `any` values.");

    m.def("json_columns", [](In<std::uint8_t> data, In<std::int64_t> starts, In<std::int64_t> ends,
                             const std::vector<Spec>& columns, bool nan) {
        require_records(span(starts), span(ends), data.shape(0));
        std::vector<json::Refused> faults;
        const auto specs = specs_of(columns);
        json::Builder builder(specs, nan);
        {
            const nb::gil_scoped_release unlocked;
            builder.add(span(data), span(starts), span(ends), faults);
        }
        std::vector<Place> refused;
        for (const auto& each : faults) refused.push_back(place_of(each.fault, each.record, span(data)));
        nb::list made;
        append_columns(made, builder.root());
        return nb::make_tuple(made, refused);
    }, "data"_a.noconvert(), "starts"_a.noconvert(), "ends"_a.noconvert(), "columns"_a, "nan"_a,
    nb::sig("def json_columns(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], "
            "columns: list[tuple[int, str, int]], nan: bool) -> tuple[list[tuple[int, int, NDArray[np.uint8] | None, "
            "NDArray[np.int32] | None, NDArray[Any] | None]], list[tuple[int, int, int, int, int]]]"),
    "Length, nulls, validity, offsets and values of each column, and the refused records as (record, trouble, column, "
    "from, to). `columns` has what each column holds, its name and its number of children, from the root down. Records are "
    "objects if the root holds them, otherwise the values of the root.");
}

}  // namespace amudai::bindings
