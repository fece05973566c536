// Bindings for reading many small columns at once.
#include "columns/together.hpp"

#include "bindings/arrays.hpp"

namespace amudai::bindings {

namespace {

using Words = nb::ndarray<const std::uint64_t, nb::numpy, nb::shape<-1, columns::place_words>, nb::c_contig, nb::device::cpu>;

std::vector<columns::Kind> kinds_of(const std::string& names) {
    std::vector<columns::Kind> kinds;
    for (std::size_t i = 0; i + 1 < names.size(); i += 2) {
        const columns::Kind kind{names[i], static_cast<std::size_t>(names[i + 1] - '0')};
        const bool is_number = kind.width == 4 || kind.width == 8 || (kind.letter != 'f' && (kind.width == 1 || kind.width == 2));
        const bool is_known = kind.letter == 'u' || kind.letter == 'i' || kind.letter == 'f';
        if (!(is_known && is_number) && !(kind.is_text() && kind.width == 4)) throw nb::value_error("kinds: expected those of columns");
        kinds.push_back(kind);
    }
    return kinds;
}

// Columns together with the bytes that they are decoded from.
class SmallColumns {
public:
    SmallColumns(nb::handle data, const std::string& kinds, std::size_t count, bool verify)
        : held_(data), kinds_(kinds_of(kinds)), count_(count), together_(held_.bytes(), count, verify) {}

    nb::tuple decode(const Words& places, Out<std::uint8_t> out) {
        const auto n = kinds_.size();
        if (places.shape(0) != n || !together_.texts().empty()) throw nb::value_error("places: expected one for each column");
        places_.resize(n);
        if (n) std::memcpy(places_.data(), places.data(), n * sizeof(columns::Place));
        for (std::size_t i = 0; i < n; ++i) {
            const auto& place = places_[i];
            const auto& kind = kinds_[i];
            const auto values = kind.is_text() ? 4 * (count_ + 1) : kind.width * count_;
            require_room(place.values_at, values, out.shape(0));
            require_room(place.validity_at, columns::bitmap_bytes(count_), out.shape(0));
            if (place.values_at % 8) throw nb::value_error("places: expected multiples of 8");
        }
        NumpyMemory<std::uint64_t> nulls(n), bytes(n);
        std::uint64_t blocks = 0;
        {
            const nb::gil_scoped_release unlocked;
            // Users see all of the memory, and it must not hold what was there before.
            std::ranges::fill(span(out), std::uint8_t{0});
            for (std::size_t i = 0; i < n; ++i) {
                const auto found = together_.decode(i, places_[i], kinds_[i], span(out));
                nulls.data()[i] = found.nulls;
                bytes.data()[i] = found.bytes;
                blocks += found.blocks;
            }
        }
        return nb::make_tuple(std::move(nulls).array(), std::move(bytes).array(), blocks);
    }

    Array<std::uint8_t> decode_bytes(Out<std::uint8_t> values, In<std::uint64_t> places, Out<std::uint8_t> out) {
        const auto n = kinds_.size();
        if (places.shape(0) != n) throw nb::value_error("places: expected one for each column");
        NumpyMemory<std::uint8_t> done(n);
        std::ranges::fill(done.span(), std::uint8_t{0});
        for (const auto& text : together_.texts()) {
            const auto at = places_[text.column].values_at;
            require_room(at, 4 * (count_ + 1), values.shape(0));
            require_room(span(places)[text.column], offsets_of(values, at).back(), out.shape(0));
        }
        {
            const nb::gil_scoped_release unlocked;
            for (const auto& text : together_.texts()) {
                const auto list = offsets_of(values, places_[text.column].values_at);
                bool is_sound = list.front() == 0;
                for (std::size_t i = 0; i < count_; ++i) is_sound &= list[i] <= list[i + 1];
                const auto room = span(out).subspan(span(places)[text.column]);
                const bool is_text = kinds_[text.column].letter == 't';
                done.data()[text.column] = is_sound && together_.decode_bytes(text, list, is_text, room);
            }
        }
        return std::move(done).array();
    }

private:
    static void require_room(std::uint64_t at, std::uint64_t size, std::uint64_t room) {
        if (at > room || size > room - at) throw nb::value_error("places: expected room for the values");
    }

    std::span<const std::int32_t> offsets_of(const Out<std::uint8_t>& values, std::uint64_t at) const {
        return {reinterpret_cast<const std::int32_t*>(values.data() + at), count_ + 1};
    }

    Held held_;
    std::vector<columns::Kind> kinds_;
    std::size_t count_;
    columns::Together together_;
    std::vector<columns::Place> places_;
};

}  // namespace

void bind_columns(nb::module_& m) {
    nb::class_<SmallColumns>(m, "SmallColumns",
                             "Many small columns of `count` values each. `kinds` has two characters for each: the type of "
                             "numbers as numpy names it, `t4` for text, `b4` for other bytes.")
        .def(nb::init<nb::handle, const std::string&, std::size_t, bool>(), "data"_a, "kinds"_a, "count"_a, "verify"_a,
             nb::sig("def __init__(self, data: bytes | memoryview, kinds: str, count: int, verify: bool) -> None"))
        .def("decode", &SmallColumns::decode, "places"_a.noconvert(), "out"_a.noconvert(),
             nb::sig("def decode(self, places: NDArray[np.uint64], out: NDArray[np.uint8]) -> "
                     "tuple[NDArray[np.uint64], NDArray[np.uint64], int]"),
             "Decode values or offsets, and validity, into `out`. A row of `places` says for a column where its buffer "
             "begins and ends, and its block map; the number of blocks or `NOT_READ`; 1 for checksums; 1 for an "
             "identity; the identity in two numbers; where its values go, and its validity. Returns for each column how "
             "many values are null, or `NOT_READ` if the column must be read alone, and the bytes of its strings; and "
             "how many blocks were decoded.")
        .def("decode_bytes", &SmallColumns::decode_bytes, "values"_a.noconvert(), "places"_a.noconvert(), "out"_a.noconvert(),
             nb::sig("def decode_bytes(self, values: NDArray[np.uint8], places: NDArray[np.uint64], out: NDArray[np.uint8]) "
                     "-> NDArray[np.uint8]"),
             "Decode the bytes of strings, whose offsets are in `values`. `places` says where those of each column go. "
             "Returns 1 for each column of strings that could be decoded.");
    m.def("small_marks", [](nb::handle data, const std::vector<std::uint64_t>& numbers, std::uint64_t origin, std::size_t count,
                            std::size_t most, bool verify) -> std::optional<nb::tuple> {
        columns::Place place{};
        if (numbers.size() + 2 != columns::place_words) throw nb::value_error("numbers: expected those of a buffer");
        std::memcpy(&place, numbers.data(), numbers.size() * sizeof(std::uint64_t));
        for (auto* const at : {&place.start, &place.end, &place.map_start, &place.map_end}) {
            if (*at < origin) throw nb::value_error("origin: expected at most the beginning of the buffer");
            *at -= origin;
        }
        const Held held(data);
        numeric::MarkedRanges found(count, most);
        std::uint64_t blocks = 0;
        {
            const nb::gil_scoped_release unlocked;
            blocks = columns::Together(held.bytes(), count / 8 + (count % 8 != 0), verify).marks(place, found);
        }
        if (blocks == columns::unknown) return {};
        return nb::make_tuple(copied<std::uint64_t>(found.starts), copied<std::uint64_t>(found.ends), blocks);
    }, "data"_a, "numbers"_a, "origin"_a, "count"_a, "most"_a, "verify"_a,
    nb::sig("def small_marks(data: bytes | memoryview, numbers: tuple[int, ...], origin: int, count: int, most: int, verify: bool) -> "
            "tuple[NDArray[np.uint64], NDArray[np.uint64], int] | None"),
    "The ranges of set bits of a column of `count` bits, and how many blocks it has. `numbers` says where its buffer begins "
    "and ends in the file, and its block map; the number of blocks or `NOT_READ`; 1 for checksums; 1 for an identity; the "
    "identity in two numbers. `data` begins at `origin` of the file. None if the column must be read in another way, or "
    "there are more ranges than `most`.");
}

}  // namespace amudai::bindings
