// Decoding many small columns in two calls: values, offsets and validity first, then the bytes of strings. Each column is
// one buffer of blocks. A column that is not as expected in any way is left out, and the caller reads it alone: that
// succeeds, or says what is wrong.
#pragma once
#include <optional>

#include "base/block_map.hpp"
#include "binary/run.hpp"
#include "numeric/marks.hpp"

namespace amudai::columns {

// Where the buffer of a column lies in the bytes, what its descriptor says about it, and where its values are to go.
struct Place {
    std::uint64_t start, end, map_start, map_end;
    std::uint64_t blocks;          // or `unknown`
    std::uint64_t has_checksums, has_identity;
    std::uint64_t identity[2];     // what lies behind the buffer
    std::uint64_t values_at;       // where values or offsets begin in the output
    std::uint64_t validity_at;     // where the validity bitmap begins in the output
};
inline constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::size_t place_words = sizeof(Place) / sizeof(std::uint64_t);
static_assert(std::is_trivially_copyable_v<Place> && place_words == 11);

// Thrown for what this reader does not do.
struct Elsewhere {};

// A column of strings between the two calls.
struct OpenText {
    std::size_t column;
    std::vector<Block> blocks;
    std::vector<Span> spans;
    std::vector<std::uint64_t> origins;
};

inline Bytes inside(Bytes bytes, std::uint64_t start, std::uint64_t end) {
    if (start > end || end > bytes.size()) throw Elsewhere{};
    return bytes.subspan(start, end - start);
}

// The blocks of a column of `count` values.
inline std::vector<Block> open(Bytes data, const Place& place, std::size_t count, bool verify) {
    if (place.map_start < place.start || place.map_end > place.end) throw Elsewhere{};
    const auto map_bytes = inside(data, place.map_start, place.map_end);
    if (map_bytes.empty() || map_bytes.size() % 8 != 0) throw Elsewhere{};
    if (place.has_identity) {
        if (place.end > data.size()) throw Elsewhere{};
        const auto behind = inside(data, place.end, place.end + sizeof(place.identity));
        if (std::memcmp(behind.data(), place.identity, sizeof(place.identity)) != 0) throw Elsewhere{};
    }
    BlockMap map(map_bytes, place.map_start - place.start);
    if (map.values() != count || (place.blocks != unknown && map.blocks() != place.blocks)) throw Elsewhere{};
    const auto values = map.value_ends(), bytes = map.byte_ends();
    std::vector<Block> blocks;
    blocks.reserve(map.blocks());
    for (std::size_t i = 0; i < map.blocks(); ++i) {
        const auto block = inside(data, place.start + bytes[i], place.start + bytes[i + 1]);
        blocks.push_back(open_block(block, values[i + 1] - values[i], i, place.has_checksums, verify));
    }
    return blocks;
}

inline std::vector<Span> all_slots(std::span<const Block> blocks) {
    std::vector<Span> spans;
    spans.reserve(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) spans.push_back({i, 0, blocks[i].count});
    return spans;
}

// What a column holds: numbers of a type, or strings of bytes.
struct Kind {
    char letter;  // u, i, f as numpy names types; t for text, b for other bytes
    std::size_t width;
    bool is_text() const { return letter == 't' || letter == 'b'; }
};

template <class Use>
decltype(auto) with_number(const Kind& kind, Use&& use) {
    switch (kind.letter) {
        case 'u':
            if (kind.width == 1) return use.template operator()<std::uint8_t>();
            if (kind.width == 2) return use.template operator()<std::uint16_t>();
            if (kind.width == 4) return use.template operator()<std::uint32_t>();
            return use.template operator()<std::uint64_t>();
        case 'i':
            if (kind.width == 1) return use.template operator()<std::int8_t>();
            if (kind.width == 2) return use.template operator()<std::int16_t>();
            if (kind.width == 4) return use.template operator()<std::int32_t>();
            return use.template operator()<std::int64_t>();
        default:
            if (kind.width == 4) return use.template operator()<float>();
            return use.template operator()<double>();
    }
}

constexpr std::size_t bitmap_bytes(std::size_t bits) { return (bits + 7) / 8 + 1; }  // kernels may touch one byte more

// Decodes the columns of one stripe. The bytes must outlive it.
class Together {
public:
    Together(Bytes data, std::size_t count, bool verify) : data_(data), count_(count), verify_(verify) {}

    // What the decoding of a column gave: the number of nulls, or `unknown` if it is left out, and the bytes of its
    // strings.
    struct Found {
        std::uint64_t nulls, bytes, blocks;
    };

    // The output must have room for the values and the bitmap at the places that the column names, and hold zeros.
    Found decode(std::size_t column, const Place& place, const Kind& kind, MutableBytes out) {
        try {
            auto blocks = open(data_, place, count_, verify_);
            auto spans = all_slots(blocks);
            auto* const validity = out.data() + place.validity_at;
            const auto opened = blocks.size();
            if (kind.is_text()) {
                const auto [nulls, bytes] = offsets(column, std::move(blocks), std::move(spans), place, out, validity);
                return {nulls, bytes, opened};
            }
            const auto nulls = with_number(kind, [&]<class T>() {
                require_light<T>(blocks);
                const std::span<T> values{reinterpret_cast<T*>(out.data() + place.values_at), count_};
                return numeric::decode_run<T>(blocks, spans, nothing_, values, validity, 0);
            });
            return {nulls, 0, opened};
        } catch (const Elsewhere&) {
        } catch (const Corrupted&) {
        } catch (const Unsupported&) {
        } catch (const binary::TooLong&) {
        }
        return {unknown, 0, 0};
    }

    // Finds the set bits of a column of bits, whose values are the bytes that hold them. Returns the number of blocks, or
    // `unknown` if the column is left out.
    std::uint64_t marks(const Place& place, numeric::MarkedRanges& found) const {
        try {
            const auto blocks = open(data_, place, count_, verify_);
            require_light<std::uint8_t>(blocks);
            numeric::find_marks(blocks, nothing_, found);
            return found.are_too_many() ? unknown : blocks.size();
        } catch (const Elsewhere&) {
        } catch (const Corrupted&) {
        } catch (const Unsupported&) {
        }
        return unknown;
    }

    std::span<const OpenText> texts() const { return texts_; }

    // The bytes of one column of strings, whose offsets are decoded. Returns false if it is left out.
    bool decode_bytes(const OpenText& text, std::span<const std::int32_t> offsets, bool is_text, MutableBytes out) const {
        try {
            binary::decode_bytes<std::int32_t>(text.blocks, text.spans, nothing_, text.origins, offsets, 0, is_text, out);
            return true;
        } catch (const Corrupted&) {
        } catch (const Unsupported&) {
        }
        return false;
    }

private:
    // Frames are inflated by callers.
    template <class T>
    static void require_light(std::span<const Block> blocks) {
        const auto found = [](Bytes, std::size_t, std::string_view) { throw Elsewhere{}; };
        for (const auto& block : blocks) numeric::find_frames<T>(block.values, block.count, found);
    }

    static void require_light(std::span<const Block> blocks) {
        const auto found = [](Bytes, std::size_t, std::string_view) { throw Elsewhere{}; };
        for (const auto& block : blocks) {
            const binary::Slots slots{block.count, 0, false, nullptr};
            binary::with_layout(block.values, slots, [&]<class L>(const L& layout) {
                if constexpr (std::is_same_v<L, binary::zstd::Layout>) throw Elsewhere{};
                frames(layout, slots, found);
            });
        }
    }

    std::pair<std::uint64_t, std::uint64_t> offsets(std::size_t column, std::vector<Block>&& blocks, std::vector<Span>&& spans,
                                                    const Place& place, MutableBytes out, std::uint8_t* validity) {
        require_light(blocks);
        OpenText text{column, std::move(blocks), std::move(spans), {}};
        text.origins.resize(text.spans.size());
        std::vector<std::uint64_t> sizes(text.blocks.size());
        const std::span<std::int32_t> list{reinterpret_cast<std::int32_t*>(out.data() + place.values_at), count_ + 1};
        list[0] = 0;
        const auto nulls = binary::decode_offsets<std::int32_t>(text.blocks, text.spans, nothing_, list, validity, 0,
                                                                text.origins, sizes);
        texts_.push_back(std::move(text));
        return {nulls, static_cast<std::uint64_t>(list.back())};
    }

    Bytes data_;
    std::size_t count_;
    bool verify_;
    Inflated nothing_;
    std::vector<OpenText> texts_;
};

}  // namespace amudai::columns
