// Bindings for indexed text: runs, merging them, and look-ups of terms and rows.
#include "numeric/shift.hpp"
#include "text/row_lists.hpp"
#include "text/term_lists.hpp"
#include "text/term_merge.hpp"
#include "text/term_run.hpp"
#include "text/term_search.hpp"

#include <nanobind/stl/pair.h>

#include "bindings/blocks.hpp"

namespace amudai::bindings {

namespace {

using InAny = nb::ndarray<nb::ro, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A numpy array that owns the values.
template <class Values>
nb::object owned(Values&& values) {
    static_assert(!std::is_reference_v<Values>);
    auto* const kept = new Values(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Values*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, typename Values::value_type, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

text::Tokenizer tokenizer_of(const std::string& name) {
    if (name == "unicode-word") return text::Tokenizer::word;
    if (name == "unicode-log") return text::Tokenizer::log;
    if (name == "trivial") return text::Tokenizer::trivial;
    throw nb::value_error("tokenizer: expected unicode-word, unicode-log or trivial");
}

text::Match match_of(const std::string& name) {
    if (name == "equal") return text::Match::equal;
    if (name == "prefix") return text::Match::prefix;
    if (name == "suffix") return text::Match::suffix;
    if (name == "within") return text::Match::within;
    throw nb::value_error("match: expected equal, prefix, suffix or within");
}

Bytes bytes_of(const nb::bytes& bytes) { return {static_cast<const std::uint8_t*>(bytes.data()), bytes.size()}; }

nb::bytes to_python(Bytes bytes) { return nb::bytes(bytes.data(), bytes.size()); }

text::Terms terms_of(const In<std::int64_t>& offsets, const In<std::uint8_t>& data) {
    return text::Terms::checked(span(offsets), span(data));
}

template <class Use>
decltype(auto) with_text(const InAny& offsets, const In<std::uint8_t>& data, Use&& use) {
    return with_number(offsets.dtype(), [&]<class T>() -> decltype(auto) {
        if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) {
            const std::span<const T> list{static_cast<const T*>(offsets.data()), offsets.shape(0)};
            return use(binary::VariableValues<T>::checked(list, span(data)));
        } else {
            throw nb::type_error("offsets: expected int32 or int64");
            return use(binary::VariableValues<std::int32_t>{});
        }
    });
}

// Throws if the blocks do not have these slots.
void require_slots(const Blocks& blocks, std::size_t first, std::size_t count) {
    std::size_t held = 0;
    for (const auto& block : blocks.blocks()) held += block.count;
    const bool begins = !blocks.blocks().empty() && first < blocks.blocks()[0].count;
    if (count && (!begins || count > held - first)) throw nb::value_error("lists: expected slots that the blocks hold");
}

std::size_t add_values(text::TermRun& run, InAny offsets, In<std::uint8_t> data, std::optional<In<std::uint8_t>> validity,
                       std::size_t validity_at, std::optional<In<std::uint32_t>> codes,
                       std::optional<In<std::uint32_t>> rows, std::uint64_t first_row, std::size_t first, std::size_t limit) {
    if (offsets.shape(0) == 0) throw nb::value_error("offsets: expected at least one");
    const auto count = codes ? codes->shape(0) : offsets.shape(0) - 1;
    if (first > count) throw nb::value_error("first: expected at most the number of values");
    if (rows && rows->shape(0) != count) throw nb::value_error("rows: expected one for each value");
    const auto last = rows ? (count ? span(*rows)[count - 1] : 0) : count;
    if (first_row + last >= std::numeric_limits<std::uint32_t>::max()) throw nb::value_error("rows: expected less than 2^32 in a run");
    if (validity && (validity_at > 8 * validity->shape(0) || count > 8 * validity->shape(0) - validity_at)) {
        throw nb::value_error("validity: fewer bits than values");
    }
    const Validity present{validity ? validity->data() : nullptr, validity_at};
    const auto row_of = [&, list = rows ? rows->data() : nullptr](std::size_t slot) { return first_row + (list ? list[slot] : slot); };
    return with_text(offsets, data, [&](const auto& values) {
        const nb::gil_scoped_release unlocked;
        if (codes) return run.add_coded(values, span(*codes), present, first, limit, row_of);
        return run.add(values, present, first, limit, row_of);
    });
}

// A merge, and the Python buffers of its runs.
class HeldMerge {
public:
    HeldMerge(nb::list runs, In<std::uint16_t> stripes, In<std::uint32_t> fields, In<std::uint64_t> first_rows,
              text::Price price) {
        const auto count = nb::len(runs);
        if (stripes.shape(0) != count || fields.shape(0) != count || first_rows.shape(0) != count) {
            throw nb::value_error("runs: expected a stripe, a field and a first row for each");
        }
        std::vector<text::RunSource> sources;
        for (std::size_t i = 0; i < count; ++i) {
            sources.push_back({held_.emplace_back(runs[i]).bytes(), span(stripes)[i], span(fields)[i], span(first_rows)[i]});
        }
        merge_.emplace(std::move(sources), price);
    }
    HeldMerge(const HeldMerge&) = delete;
    HeldMerge& operator=(const HeldMerge&) = delete;
    text::TermMerge& merge() { return *merge_; }

private:
    std::vector<Held> held_;
    std::optional<text::TermMerge> merge_;
};

// A merge of lists, and the arrays that its sources were fed.
class HeldListMerge {
public:
    explicit HeldListMerge(std::size_t sources) : merge_(sources), held_(sources) {}

    void feed(std::size_t source, In<std::int64_t> offsets, In<std::uint8_t> data, std::optional<In<std::uint64_t>> bounds,
              In<std::uint16_t> stripes, In<std::uint32_t> fields, In<std::uint8_t> forms, In<std::uint64_t> shifts,
              In<std::uint64_t> counts, In<std::uint64_t> long_lists, In<std::uint64_t> copied, In<std::uint64_t> tickets,
              In<std::uint64_t> integers) {
        require_source(source);
        const auto terms = terms_of(offsets, data);
        const auto lists = counts.shape(0);
        const auto ends = bounds ? span(*bounds) : std::span<const std::uint64_t>{};
        if (bounds ? ends.size() != terms.count() + 1 : lists != terms.count()) {
            throw nb::value_error("bounds: expected one more than terms, or a list for each term");
        }
        const auto fits = [&](const auto& column) { return column.shape(0) == 1 || column.shape(0) == lists; };
        if (!fits(stripes) || !fits(fields) || !fits(forms) || !fits(shifts)) {
            throw nb::value_error("lists: expected a stripe, a field, a form and a shift for each, or for all");
        }
        if (bounds && (ends.front() != 0 || ends.back() != lists || !std::is_sorted(ends.begin(), ends.end()))) {
            throw nb::value_error("bounds: expected an ascending sequence from 0 to the number of lists");
        }
        if (copied.shape(0) != long_lists.shape(0) || tickets.shape(0) != long_lists.shape(0)) {
            throw nb::value_error("long_lists: expected a count and a ticket for each");
        }
        for (std::size_t i = 0; i < long_lists.shape(0); ++i) {
            const auto list = span(long_lists)[i];
            if (list >= lists || (i && list <= span(long_lists)[i - 1]) || span(copied)[i] > span(counts)[list]) {
                throw nb::value_error("long_lists: expected ascending numbers of lists with at least so many integers");
            }
        }
        merge_.feed(static_cast<std::uint32_t>(source),
                    {terms, ends, {span(stripes)}, {span(fields)}, {span(forms)}, {span(shifts)}, span(counts),
                     span(long_lists), span(copied), span(tickets), span(integers)});
        held_[source] = {offsets, data, bounds, stripes, fields, forms, shifts, counts, long_lists, copied, tickets, integers};
    }
    void feed_integers(std::size_t source, In<std::uint64_t> integers) {
        require_source(source);
        merge_.feed_integers(static_cast<std::uint32_t>(source), span(integers));
        held_[source].integers = integers;
    }
    void end(std::size_t source) {
        require_source(source);
        merge_.end(static_cast<std::uint32_t>(source));
        held_[source] = {};
    }
    text::TermListMerge& merge() { return merge_; }

private:
    struct Fed {
        In<std::int64_t> offsets;
        In<std::uint8_t> data;
        std::optional<In<std::uint64_t>> bounds;
        In<std::uint16_t> stripes;
        In<std::uint32_t> fields;
        In<std::uint8_t> forms;
        In<std::uint64_t> shifts, counts, long_lists, copied, tickets, integers;
    };

    void require_source(std::size_t source) const {
        if (source >= held_.size()) throw nb::value_error("source: expected less than the number of sources");
    }

    text::TermListMerge merge_;
    std::vector<Fed> held_;
};

}  // namespace

void bind_term(nb::module_& m) {
    m.def("fold", [](nb::bytes value) {
        std::vector<std::uint8_t> folded;
        text::append_folded(bytes_of(value), folded);
        return to_python(folded);
    }, "value"_a, nb::sig("def fold(value: bytes) -> bytes"), "The case-folded form of a text.");

    nb::class_<text::TermRun>(m, "TermRun",
        "Collects terms and their rows, then writes them as a run. Only one thread at a time may use it.")
        .def("__init__", [](text::TermRun* self, const std::string& tokenizer) { new (self) text::TermRun(tokenizer_of(tokenizer)); },
             "tokenizer"_a, nb::sig("def __init__(self, tokenizer: str) -> None"))
        .def_prop_ro("terms", &text::TermRun::terms, "Number of distinct terms so far.")
        .def_prop_ro("scratch", &text::TermRun::scratch, "Working memory in use, in bytes.")
        .def("add", &add_values, "offsets"_a.noconvert(), "data"_a.noconvert(), "validity"_a.noconvert().none(), "validity_at"_a,
             "codes"_a.noconvert().none(), "rows"_a.noconvert().none(), "first_row"_a, "first"_a, "limit"_a,
             nb::sig("def add(self, offsets: NDArray[Any], data: NDArray[np.uint8], validity: NDArray[np.uint8] | None, "
                     "validity_at: int, codes: NDArray[np.uint32] | None, rows: NDArray[np.uint32] | None, first_row: int, "
                     "first: int, limit: int) -> int"),
             "Add values from slot `first` on until `scratch` exceeds `limit`. Return the slot after the last one "
             "added. With `codes`, slot i holds entry codes[i]. `rows` gives the row of each slot, counted from "
             "`first_row`.")
        .def("finish", [](text::TermRun& self) {
            Sink out;
            {
                const nb::gil_scoped_release unlocked;
                self.finish(out);
            }
            return to_python(out.bytes());
        }, nb::sig("def finish(self) -> bytes"), "Return the run and forget all terms.");

    nb::class_<text::MergeSlice>(m, "TermSlice",
        "The result of one step of a merge. Each array can be taken only once.")
        .def("terms", [](text::MergeSlice& self) { return owned(std::move(self.terms)); },
             nb::sig("def terms(self) -> NDArray[np.uint8]"), "The bytes of the terms that begin in this slice.")
        .def("lengths", [](text::MergeSlice& self) { return owned(std::move(self.lengths)); },
             nb::sig("def lengths(self) -> NDArray[np.uint32]"), "The length of each term.")
        .def("begins", [](text::MergeSlice& self) { return owned(std::move(self.begins)); },
             nb::sig("def begins(self) -> NDArray[np.uint8]"), "Whether each list is the first one of a term.")
        .def("stripes", [](text::MergeSlice& self) { return owned(std::move(self.stripes)); },
             nb::sig("def stripes(self) -> NDArray[np.uint16]"), "The stripe of each list.")
        .def("fields", [](text::MergeSlice& self) { return owned(std::move(self.fields)); },
             nb::sig("def fields(self) -> NDArray[np.uint32]"), "The field of each list.")
        .def("forms", [](text::MergeSlice& self) { return owned(std::move(self.forms)); },
             nb::sig("def forms(self) -> NDArray[np.uint8]"),
             "What the integers of each list are: 0 for rows, 1 for ranges, 2 for ranges in which perhaps only some "
             "rows have the term.")
        .def("is_long", [](text::MergeSlice& self) { return owned(std::move(self.is_long)); },
             nb::sig("def is_long(self) -> NDArray[np.uint8]"),
             "Whether each list is long, that is, has at least 512 integers.")
        .def("counts", [](text::MergeSlice& self) { return owned(std::move(self.counts)); },
             nb::sig("def counts(self) -> NDArray[np.uint64]"), "The number of integers of each list in this slice.")
        .def("integers", [](text::MergeSlice& self) { return owned(std::move(self.integers)); },
             nb::sig("def integers(self) -> NDArray[np.uint64]"), "The integers of the lists, back to back.")
        .def("copied", [](text::MergeSlice& self) { return owned(std::move(self.copied)); },
             nb::sig("def copied(self) -> NDArray[np.uint64]"),
             "How many integers of each list are copied with their blocks and not among `integers`. Only of `TermListMerge`.")
        .def("tickets", [](text::MergeSlice& self) { return owned(std::move(self.tickets)); },
             nb::sig("def tickets(self) -> NDArray[np.uint64]"), "What stands for the copied blocks of each list.")
        .def_ro("continues", &text::MergeSlice::continues,
            "Whether the first list continues the last one of the previous slice.")
        .def_ro("whole_terms", &text::MergeSlice::whole_terms, "Whether the next slice begins with a new term.");

    nb::class_<HeldMerge>(m, "TermMerge", "Merges runs into one sorted stream. Only one thread at a time may use it.")
        .def(nb::init<nb::list, In<std::uint16_t>, In<std::uint32_t>, In<std::uint64_t>, text::Price>(), "runs"_a,
             "stripes"_a.noconvert(), "fields"_a.noconvert(), "first_rows"_a.noconvert(), "price"_a = text::exact_price,
             nb::sig("def __init__(self, runs: list[bytes | memoryview], stripes: NDArray[np.uint16], fields: NDArray[np.uint32], "
                     "first_rows: NDArray[np.uint64], price: int = 0) -> None"))
        .def("estimate", [](HeldMerge& self, In<std::uint64_t> prices) {
            std::vector<std::uint64_t> bits;
            {
                const nb::gil_scoped_release unlocked;
                bits = self.merge().estimate(span(prices));
            }
            return owned(std::move(bits));
        }, "prices"_a.noconvert(), nb::sig("def estimate(self, prices: NDArray[np.uint64]) -> NDArray[np.uint64]"),
        "Estimate how many bits all lists take at each price. Nothing is left to merge afterwards. A price says how "
        "many rows, in units of 1/65,536, may become doubtful to save a bit: none at 0, any number at the highest "
        "price.")
        .def_prop_ro("done", [](HeldMerge& self) { return self.merge().done(); }, "Whether nothing is left to merge.")
        .def("next", [](HeldMerge& self, std::size_t terms, std::size_t integers) {
            const nb::gil_scoped_release unlocked;
            return self.merge().next(terms, integers);
        }, "terms"_a, "integers"_a, nb::sig("def next(self, terms: int, integers: int) -> TermSlice"),
        "Return the next slice. It begins at most `terms` terms and ends soon after it has `integers` integers.");

    m.def("shift_blocks", [](In<std::uint8_t> data, In<std::uint64_t> sizes, In<std::uint64_t> shifts,
                             In<std::uint64_t> ordinals, bool verify) {
        const auto lengths = span(sizes);
        std::size_t total = 0;
        for (const auto size : lengths) {
            if (size > data.shape(0) - total) throw nb::value_error("sizes: expected the size of the data");
            total += size;
        }
        if (total != data.shape(0)) throw nb::value_error("sizes: expected the size of the data");
        if (shifts.shape(0) != sizes.shape(0) || ordinals.shape(0) != sizes.shape(0)) {
            throw nb::value_error("shifts: expected one for each block");
        }
        const auto bytes = span(data);
        std::vector<std::uint8_t> shifted(bytes.begin(), bytes.end()), moved(lengths.size());
        {
            const nb::gil_scoped_release unlocked;
            std::size_t at = 0;
            for (std::size_t i = 0; i < lengths.size(); at += lengths[i++]) {
                const auto block = std::span(shifted).subspan(at, lengths[i]);
                moved[i] = numeric::shift_block(block, span(ordinals)[i], span(shifts)[i], verify);
            }
        }
        return nb::make_tuple(owned(std::move(shifted)), owned(std::move(moved)));
    }, "data"_a.noconvert(), "sizes"_a.noconvert(), "shifts"_a.noconvert(), "ordinals"_a.noconvert(), "verify"_a,
    nb::sig("def shift_blocks(data: NDArray[np.uint8], sizes: NDArray[np.uint64], shifts: NDArray[np.uint64], "
            "ordinals: NDArray[np.uint64], verify: bool) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]"),
    "Consecutive blocks of 64-bit numbers, with a number added to all numbers of each block; and whether that was "
    "possible, which it is for blocks without nulls that hold differences. Other blocks are returned as they are.");

    nb::class_<HeldListMerge>(m, "TermListMerge",
        "Merges the terms of several indexes with their lists as they are. Only one thread at a time may use it.")
        .def(nb::init<std::size_t>(), "sources"_a, nb::sig("def __init__(self, sources: int) -> None"))
        .def_prop_ro("done", [](HeldListMerge& self) { return self.merge().done(); }, "Whether nothing is left to merge.")
        .def_prop_ro("hungry", [](HeldListMerge& self) {
            const auto found = self.merge().hungry();
            return std::vector<std::uint32_t>(found.begin(), found.end());
        }, nb::sig("def hungry(self) -> list[int]"), "The sources that must be fed, or ended, before the next step.")
        .def("feed", &HeldListMerge::feed, "source"_a, "offsets"_a.noconvert(), "data"_a.noconvert(),
             "bounds"_a.noconvert().none(), "stripes"_a.noconvert(), "fields"_a.noconvert(), "forms"_a.noconvert(),
             "shifts"_a.noconvert(), "counts"_a.noconvert(), "long_lists"_a.noconvert(), "copied"_a.noconvert(),
             "tickets"_a.noconvert(), "integers"_a.noconvert(),
             nb::sig("def feed(self, source: int, offsets: NDArray[np.int64], data: NDArray[np.uint8], "
                     "bounds: NDArray[np.uint64] | None, stripes: NDArray[np.uint16], fields: NDArray[np.uint32], "
                     "forms: NDArray[np.uint8], shifts: NDArray[np.uint64], counts: NDArray[np.uint64], "
                     "long_lists: NDArray[np.uint64], copied: NDArray[np.uint64], tickets: NDArray[np.uint64], "
                     "integers: NDArray[np.uint64]) -> None"),
             "Give a hungry source its next terms. Term i has the lists bounds[i]..bounds[i + 1], or list i without "
             "`bounds`. List i has counts[i] integers. They are in `integers`, and shifts[i] is added to each. But of "
             "each of `long_lists`, which ascend, the first `copied` integers are in blocks that `tickets` stand for. "
             "Stripes, fields, forms and shifts may be one for all lists. If `integers` has too few of them, "
             "`feed_integers` brings the others.")
        .def("feed_integers", &HeldListMerge::feed_integers, "source"_a, "integers"_a.noconvert(),
             nb::sig("def feed_integers(self, source: int, integers: NDArray[np.uint64]) -> None"),
             "Give the source of the open term more integers of its lists.")
        .def("end", &HeldListMerge::end, "source"_a, nb::sig("def end(self, source: int) -> None"),
             "Say that a hungry source has no more terms.")
        .def("next", [](HeldListMerge& self, std::size_t terms, std::size_t integers) {
            const nb::gil_scoped_release unlocked;
            return self.merge().next(terms, integers);
        }, "terms"_a, "integers"_a, nb::sig("def next(self, terms: int, integers: int) -> TermSlice"),
        "Return the next slice. It begins at most `terms` terms, and ends soon after it has `integers` integers or when a "
        "source is hungry.");

    m.def("term_range", [](In<std::int64_t> offsets, In<std::uint8_t> data, nb::bytes text, bool prefix) {
        return text::range_of(terms_of(offsets, data), bytes_of(text), prefix);
    }, "offsets"_a.noconvert(), "data"_a.noconvert(), "text"_a, "prefix"_a,
    nb::sig("def term_range(offsets: NDArray[np.int64], data: NDArray[np.uint8], text: bytes, prefix: bool) -> tuple[int, int]"),
    "The range of sorted terms that equal `text` or, with `prefix`, begin with it, compared case-folded. If there "
    "are none, the empty range where they would be.");

    m.def("match_terms", [](In<std::int64_t> offsets, In<std::uint8_t> data, std::size_t low, std::size_t high, nb::bytes text,
                            const std::string& match, bool folded, bool words) {
        const auto terms = terms_of(offsets, data);
        if (low > high || high > terms.count()) throw nb::value_error("terms: expected low <= high <= count");
        text::Matches found;
        text::Matcher matcher(bytes_of(text), match_of(match), folded, words);
        {
            const nb::gil_scoped_release unlocked;
            matcher.add(terms, low, high, found);
        }
        return nb::make_tuple(owned(std::move(found.yes)), owned(std::move(found.maybe)));
    }, "offsets"_a.noconvert(), "data"_a.noconvert(), "low"_a, "high"_a, "text"_a, "match"_a, "folded"_a, "words"_a,
    nb::sig("def match_terms(offsets: NDArray[np.int64], data: NDArray[np.uint8], low: int, high: int, text: bytes, match: str, "
            "folded: bool, words: bool) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]"),
    "The terms low..high that certainly match, and those that may match because they may have been cut. `words` "
    "skips addresses.");

    m.def("row_ranges", [](In<std::uint64_t> integers, In<std::uint64_t> counts, In<std::uint8_t> pairs, std::uint64_t rows,
                           Out<std::uint64_t> starts, Out<std::uint64_t> ends) {
        if (counts.shape(0) != pairs.shape(0)) throw nb::value_error("pairs: expected one for each list");
        if (starts.shape(0) <= integers.shape(0) || ends.shape(0) <= integers.shape(0)) {
            throw nb::value_error("starts or ends: too short");
        }
        std::uint64_t total = 0;
        for (const auto count : span(counts)) {
            if (count > integers.shape(0) - total) throw nb::value_error("counts: expected the number of integers");
            total += count;
        }
        const nb::gil_scoped_release unlocked;
        text::RowRanges found(span(starts), span(ends));
        text::row_ranges(span(integers).first(total), span(counts), span(pairs), rows, found);
        return found.size();
    }, "integers"_a.noconvert(), "counts"_a.noconvert(), "pairs"_a.noconvert(), "rows"_a, "starts"_a.noconvert(),
    "ends"_a.noconvert(),
    nb::sig("def row_ranges(integers: NDArray[np.uint64], counts: NDArray[np.uint64], pairs: NDArray[np.uint8], rows: int, "
            "starts: NDArray[np.uint64], ends: NDArray[np.uint64]) -> int"),
    "Write the ranges that the rows of all lists form, and return how many there are. A list holds rows or, if its "
    "`pairs` is set, starts and ends of ranges.");

    m.def("common_rows", [](const std::vector<std::tuple<const Blocks*, std::size_t, std::size_t>>& lists, std::uint64_t rows,
                            In<std::uint64_t> among_starts, In<std::uint64_t> among_ends, Out<std::uint64_t> starts,
                            Out<std::uint64_t> ends) {
        const auto among =
            ranges_of(among_starts, among_ends, "among: expected ascending ranges that neither are empty nor touch");
        if (lists.empty()) throw nb::value_error("lists: expected some");
        auto room = std::numeric_limits<std::size_t>::max();
        std::vector<text::RowList> opened;
        opened.reserve(lists.size());
        for (const auto& [blocks, first, count] : lists) {
            if (!blocks) throw nb::type_error("lists: expected blocks, found None");
            require_slots(*blocks, first, count);
            opened.emplace_back(blocks->blocks(), blocks->inflated(), first, count, rows);
            room = std::min(room, count);
        }
        if (starts.shape(0) <= room || ends.shape(0) <= room) throw nb::value_error("starts or ends: too short");
        const nb::gil_scoped_release unlocked;
        text::RowRanges found(span(starts), span(ends));
        text::common_rows(opened, among, found);
        return found.size();
    }, "lists"_a, "rows"_a, "among_starts"_a.noconvert(), "among_ends"_a.noconvert(), "starts"_a.noconvert(),
    "ends"_a.noconvert(),
    nb::sig("def common_rows(lists: list[tuple[Blocks, int, int]], rows: int, among_starts: NDArray[np.uint64], "
            "among_ends: NDArray[np.uint64], starts: NDArray[np.uint64], ends: NDArray[np.uint64]) -> int"),
    "Write the ranges of the rows that all lists have, and return how many there are. If ranges to search among are "
    "given, the rows must lie in them. A list is given by its blocks, a slot of the first block, and its number of "
    "rows.");
}

}  // namespace amudai::bindings
