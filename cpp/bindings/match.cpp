// Bindings for texts: where a text operator is true, and splitting into words.
#include "binary/search.hpp"

#include "bindings/blocks.hpp"

namespace amudai::bindings {

namespace {

using InAny = nb::ndarray<nb::ro, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

text::Operator operator_of(const std::string& name) {
    for (const auto& [known, op] : text::operators) {
        if (known == name) return op;
    }
    throw nb::value_error("op: expected the name of a text operator");
}

template <class Offset>
void require_offsets(std::span<const Offset> offsets, std::size_t size) {
    const auto at = [&](std::size_t i) { return static_cast<std::uint64_t>(offsets[i]); };
    bool ascending = true;
    for (std::size_t i = 1; i < offsets.size(); ++i) ascending &= at(i - 1) <= at(i);
    // As an unsigned number, a negative offset is huge.
    if (!ascending || at(offsets.size() - 1) > size) throw nb::value_error("offsets: expected them ascending and inside the data");
}

template <class Use>
void with_offsets(const InAny& offsets, Use&& use) {
    with_number(offsets.dtype(), [&]<class T>() {
        if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t>) {
            use(std::span<const T>{static_cast<const T*>(offsets.data()), offsets.shape(0)});
        } else {
            throw nb::type_error("offsets: expected int32, int64 or uint64");
        }
    });
}

}  // namespace

void bind_match(nb::module_& m) {
    m.def("match_text", [](InAny offsets, In<std::uint8_t> data, const std::string& op, const std::string& needle,
                           bool case_sensitive, Out<std::uint8_t> out) {
        if (offsets.shape(0) != out.shape(0) + 1) throw nb::value_error("out: expected one less than there are offsets");
        const auto kind = operator_of(op);
        with_offsets(offsets, [&](auto list) {
            const Unlocked unlocked(list.size_bytes() + data.shape(0));
            require_offsets(list, data.shape(0));
            text::match(list, span(data), text::Needle(needle, kind, case_sensitive), span(out));
        });
    }, "offsets"_a.noconvert(), "data"_a.noconvert(), "op"_a, "text"_a, "case_sensitive"_a, "out"_a.noconvert(),
    nb::sig("def match_text(offsets: NDArray[Any], data: NDArray[np.uint8], op: str, text: str, case_sensitive: bool, "
            "out: NDArray[np.uint8]) -> None"),
    "Write 1 for each text for which the operator is true, and 0 for the others. `offsets` delimit the texts in "
    "`data`.");

    m.def("search_texts", [](const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
                             const std::string& op, const std::string& needle, bool case_sensitive, bool inverted,
                             Out<std::uint8_t> out, std::size_t at) {
        const auto spans = spans_of(blocks, block, first, count, 1, at, 8 * out.shape(0));
        const text::Needle wanted(needle, operator_of(op), case_sensitive);
        const Unlocked unlocked(blocks.size_bytes() + numeric::total(spans));
        return binary::search_run(blocks.blocks(), spans, blocks.inflated(), wanted, inverted, out.data(), at);
    }, "blocks"_a, "block"_a.noconvert(), "first"_a.noconvert(), "count"_a.noconvert(), "op"_a, "text"_a, "case_sensitive"_a,
    "inverted"_a, "out"_a.noconvert(), "at"_a,
    nb::sig("def search_texts(blocks: Blocks, block: NDArray[np.uint32], first: NDArray[np.uint32], "
            "count: NDArray[np.uint32], op: str, text: str, case_sensitive: bool, inverted: bool, out: NDArray[np.uint8], "
            "at: int) -> int"),
    "Like `compare_bytes`, for strings for which the text operator is true or, if `inverted`, false.");

    m.def("split_words", [](const std::string& given) {
        std::vector<std::tuple<std::string, bool, bool>> words;
        const Bytes bytes{reinterpret_cast<const std::uint8_t*>(given.data()), given.size()};
        text::each_word(bytes, [&](auto from, auto to) {
            const auto begin = bytes.data(), end = begin + bytes.size();
            words.emplace_back(std::string(from, to), from == begin, to == end);
        });
        return words;
    }, "text"_a, nb::sig("def split_words(text: str) -> list[tuple[str, bool, bool]]"),
    "The words of a text. Each comes with whether it touches the left end of the text, and whether it touches the "
    "right end.");
}

}  // namespace amudai::bindings
