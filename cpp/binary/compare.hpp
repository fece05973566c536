// Comparison of values with keys or prefixes. Bytes are compared where they are decoded, without copying them out.
#pragma once
#include "binary/run.hpp"
#include "numeric/compare.hpp"

namespace amudai::binary {

// Keys of which a value must equal one or, for prefixes, begin with one. There should be few: each value is compared
// with all of them.
class AnyKey {
public:
    AnyKey(std::span<const std::uint64_t> offsets, Bytes data, bool is_prefix) : is_prefix_(is_prefix) {
        for (std::size_t i = 1; i < offsets.size(); ++i) {
            const auto key = data.subspan(offsets[i - 1], offsets[i] - offsets[i - 1]);
            const bool has_word = key.size() >= word;
            longest_ = std::max(longest_, key.size());
            const auto word_at = [&](std::size_t at) { return has_word ? load<std::uint64_t>(key, at) : 0; };
            keys_.push_back({key, word_at(0), word_at(has_word ? key.size() - word : 0)});
        }
    }

    // The most bytes of a value that are compared.
    std::size_t longest() const { return longest_; }
    // Whether a value of this size may be wanted.
    bool fits(std::size_t size) const {
        if (keys_.size() == 1) return fits(keys_[0], size);
        return std::ranges::any_of(keys_, [&](const Key& key) { return fits(key, size); });
    }
    bool holds(const std::uint8_t* value, std::size_t size) const {
        if (keys_.size() == 1) return holds(keys_[0], value, size);
        return std::ranges::any_of(keys_, [&](const Key& key) { return holds(key, value, size); });
    }
    bool holds(Bytes value) const { return holds(value.data(), value.size()); }

private:
    static constexpr std::size_t word = sizeof(std::uint64_t);
    struct Key {
        Bytes bytes;
        std::uint64_t head, tail;  // its first and last eight bytes, if it has as many: nearly all values differ there
    };

    bool fits(const Key& key, std::size_t size) const {
        return is_prefix_ ? size >= key.bytes.size() : size == key.bytes.size();
    }
    bool holds(const Key& key, const std::uint8_t* value, std::size_t size) const {
        if (!fits(key, size)) return false;
        const auto length = key.bytes.size();
        if (length < word) return length == 0 || std::memcmp(value, key.bytes.data(), length) == 0;
        const auto head = load<std::uint64_t>(value) ^ key.head, tail = load<std::uint64_t>(value + length - word) ^ key.tail;
        return (head | tail) == 0 && (length <= 2 * word || std::memcmp(value, key.bytes.data(), length) == 0);
    }

    std::vector<Key> keys_;
    std::size_t longest_ = 0;
    bool is_prefix_;
};

namespace detail {

// The decoded bytes of a piece: where they already lie, or in working memory.
inline Bytes bytes_of(const plain::Layout& found, const Slots&, const SlotRange& piece, std::size_t size, Context&) {
    return part("plain data", found.data, piece.origin, size);
}

inline Bytes bytes_of(const zstd::Layout& found, const Slots& slots, const SlotRange& piece, std::size_t size, Context& context) {
    if (const auto groups = zstd::records_of(found, slots, context); !groups.empty()) {
        const auto records = context.arena.take<std::uint8_t>(size);
        zstd_records::expand(groups, piece.first, piece.count, records.data());
        return records;
    }
    return part("decoded bytes", context.inflated.find_any(found.payload.data()), piece.origin, size);
}

inline Bytes bytes_of(const lz4::Layout& found, const Slots&, const SlotRange& piece, std::size_t size, Context& context) {
    return lz4::prefix(found, piece.origin + size, context).subspan(piece.origin);
}

inline Bytes bytes_of(const snappy::Layout& found, const Slots&, const SlotRange& piece, std::size_t size, Context& context) {
    return snappy::prefix(found, piece.origin + size, context).subspan(piece.origin);
}

inline Bytes bytes_of(const fsst::Layout& found, const Slots& slots, const SlotRange& piece, std::size_t size,
                      Context& context) {
    const auto decoded = context.arena.take<std::uint8_t>(size);
    fsst::bytes(found, slots, piece, decoded, decoded.size() + Arena::slack, context);
    return decoded;
}

template <class L>
std::span<const std::uint64_t> offsets_of(const L& layout, const Slots& slots, std::size_t first, std::size_t size,
                                          Context& context) {
    const auto found = context.arena.take<std::uint64_t>(size + 1);
    if (slots.is_fixed) {
        for (std::size_t i = 0; i <= size; ++i) found[i] = (first + i) * slots.fixed_size;
    } else {
        slot_offsets(layout, slots, first, found, context);
    }
    return found;
}

// Clears the set bits for which keep(i) is false.
template <class Keep>
void keep_set(std::uint8_t* bitmap, std::size_t count, Keep&& keep) {
    for (std::size_t at = 0; at < count; at += 64) {
        auto word = bits::word(bitmap, at, std::min<std::size_t>(64, count - at));
        std::uint64_t kept = 0;
        for (; word; word &= word - 1) {
            const auto bit = static_cast<unsigned>(std::countr_zero(word));
            kept |= std::uint64_t{keep(at + bit)} << bit;
        }
        store(bitmap + at / 8, kept);
    }
}

// The first set bit, and the position after the last one; equal if no bit is set.
inline std::pair<std::size_t, std::size_t> ends_of(const std::uint8_t* bitmap, std::size_t count) {
    const auto word = [&](std::size_t at) { return bits::word(bitmap, at, std::min<std::size_t>(64, count - at)); };
    std::size_t begin = 0, end = (count + 63) / 64 * 64;
    while (begin < end && !word(begin)) begin += 64;
    if (begin == end) return {0, 0};
    while (!word(end - 64)) end -= 64;
    begin += static_cast<std::size_t>(std::countr_zero(word(begin)));
    end -= static_cast<std::size_t>(std::countl_zero(word(end - 64)));
    return {begin, end};
}

// Clears the bits of values that match no key. Reads only the values in question and steps over the bytes between them.
inline void keep_sparse(const fsst::Layout& layout, std::span<const std::uint64_t> offsets, const AnyKey& keys,
                        std::uint8_t* out, Context& context) {
    fsst::Seeker seeker(layout);
    const auto head = context.arena.take<std::uint8_t>(keys.longest());
    keep_set(out, offsets.size() - 1, [&](std::size_t i) {
        const auto size = offsets[i + 1] - offsets[i];
        const auto wanted = std::min<std::size_t>(size, head.size());
        seeker.read(offsets[i], head.first(wanted), wanted);
        return keys.holds(head.data(), size);
    });
}

}  // namespace detail

// Sets bit i of `out` if slot `first + i` of a block holds a value that matches a key or, with `inverted`, a value that
// matches none.
template <class L>
void compare_slots(const L& layout, const Slots& slots, std::size_t first, std::size_t size, const AnyKey& keys,
                   bool inverted, std::uint8_t* out, Context& context) {
    if constexpr (std::is_same_v<L, single_value::Layout>) {
        bits::fill(out, 0, size, keys.holds(layout.value));
    } else if constexpr (is_dictionary<L>) {
        const auto found = block_dictionary::decode(layout, slots, first, size, context);
        const auto answers = context.arena.take<std::uint8_t>(layout.entry_count + 1);
        answers[0] = 0;  // null, no matter what the presence section says
        for (std::size_t i = 1; i < answers.size(); ++i) {
            const auto entry = layout.entries.subspan(found.starts[i], found.starts[i + 1] - found.starts[i]);
            answers[i] = keys.holds(entry) != inverted;
        }
        return numeric::look_up(answers, found.codes, out);
    } else {
        // Most values are ruled out by their size. Only the bytes from the first to the last of the others are decoded.
        const auto offsets = detail::offsets_of(layout, slots, first, size, context);
        bits::test_each(size, out, [&](std::size_t i) { return keys.fits(offsets[i + 1] - offsets[i]); });
        const auto [begin, end] = detail::ends_of(out, size);
        if (begin < end) {
            const auto origin = offsets[begin], total = offsets[end] - origin;
            if constexpr (std::is_same_v<L, fsst::Layout>) {
                // Finding one value takes as long as decoding several hundred bytes.
                if (bits::count_set(out, begin, end - begin) * (64 + keys.longest()) * 8 < total) {
                    detail::keep_sparse(layout, offsets, keys, out, context);
                    return slots.present->keep(first, size, inverted, out, context.arena);
                }
            }
            const auto bytes = detail::bytes_of(layout, slots, {first + begin, end - begin, origin}, total, context);
            detail::keep_set(out, size, [&](std::size_t i) {
                return keys.holds(bytes.data() + (offsets[i] - origin), offsets[i + 1] - offsets[i]);
            });
        }
    }
    slots.present->keep(first, size, inverted, out, context.arena);
}

// Writes an answer for each slot of the spans to `out`, from bit `at` on, and returns how many answers are yes.
// answer(layout, slots, first, size, bits, context) answers for slots of one block. `fixed_size` is set if all values
// have the same size.
template <class Answer>
std::size_t answer_run(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                       std::optional<std::size_t> fixed_size, std::uint8_t* out, std::size_t at, Answer&& answer) {
    Arena arena;
    std::size_t found = 0;
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        const auto present = presence::decode(block.presence, block.count, arena);
        const Slots slots{block.count, fixed_size.value_or(0), fixed_size.has_value(), &present};
        const auto first = wanted.front().first;
        const auto size = wanted.back().first + wanted.back().count - first;
        const auto answers = arena.take<std::uint8_t>(bits::answer_bytes(size));
        with_layout(block.values, slots, [&](const auto& layout) {
            answer(layout, slots, first, size, answers.data(), context);
        });
        for (const auto& span : wanted) {
            bits::copy(answers.data(), span.first - first, out, at, span.count);
            found += bits::count_set(out, at, span.count);
            at += span.count;
        }
    });
    return found;
}

// Like numeric::compare_run, for values that equal one of the keys or begin with one.
inline std::size_t compare_run(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                               std::optional<std::size_t> fixed_size, const AnyKey& keys, bool inverted, std::uint8_t* out,
                               std::size_t at) {
    const auto answer = [&](const auto& layout, const Slots& slots, std::size_t first, std::size_t size, std::uint8_t* answers,
                            Context& context) { compare_slots(layout, slots, first, size, keys, inverted, answers, context); };
    return answer_run(blocks, spans, inflated, fixed_size, out, at, answer);
}

// The decoded size of the Zstandard frame of each block; 0 for blocks without a frame.
inline void payload_sizes(std::span<const Block> blocks, const Inflated& inflated, std::span<std::uint64_t> out) {
    Arena arena;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto& block = blocks[i];
        at_block(block.ordinal, [&] {
            out[i] = 0;
            if (!zstd::holds_frame(numeric::code_of(block.values))) return;
            arena.reset(block.values);
            Context context{inflated, arena, block.begin};
            const Slots slots{block.count, 0, false, nullptr};
            zstd::layout(block.values, slots).offsets.decode(slots.count, slots.count, out.subspan(i, 1), context);
        });
    }
}

}  // namespace amudai::binary
