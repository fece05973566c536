// Decoding of blocks of stored decimals to Arrow's form, a few hundred values at a time, so that what is decoded in
// between stays in the first-level cache.
#pragma once
#include "binary/compare.hpp"
#include "decimal/records.hpp"
#include "decimal/unscaled.hpp"

namespace amudai::decimal {

// Arrow's form: value x 10^scale, with at most `precision` digits.
struct Form {
    std::int64_t scale;
    int precision;
};

namespace detail {

// Records of spans that are shorter on average are picked one by one.
inline constexpr std::size_t short_span = 8;

// The values of slots of one block.
template <std::size_t Width>
class Converter {
public:
    // Of slots [first, first + count).
    Converter(Form form, const presence::Presence& present, std::size_t first, std::size_t count, Arena& arena) : form_(form), first_(first) {
        if (present.form == presence::Presence::Form::all_present) return;
        valid_ = arena.take<std::uint8_t>(count);
        for (std::size_t i = 0; i < count; ++i) valid_[i] = present.at(first + i);
    }

    // Of stored decimals one after the other. False if one of them has no such form.
    bool convert(const std::uint8_t* values, std::size_t first, std::size_t count, std::uint8_t* out) {
        const auto* const valid = valid_.empty() ? nullptr : valid_.data() + (first - first_);
        return !to_unscaled<Width>(values, valid, count, form_.scale, form_.precision, out);
    }

    // Of the records of a Zstandard frame.
    bool convert(std::span<const Group> groups, std::size_t first, std::size_t count, std::uint8_t* out) {
        const bool is_plain = valid_.empty() && has_head(form_.scale);
        const auto head = is_plain ? head_of(static_cast<int>(-form_.scale)) : 0;
        bool fits = true;
        binary::zstd_records::each_part(groups, first, count, [&](const Group& group, std::size_t from, std::size_t size) {
            bool are_short = is_plain && form_.precision >= 9;
            for (const auto end = from + size; from < end && fits;) {
                const auto some = std::min(chunk, end - from);
                const auto write = [to = out](std::size_t i, std::int64_t number) { write_signed<Width>(number, to + Width * i); };
                are_short = are_short && nine_digits(group, from, some, head, write);
                fits = are_short || convert_chunk({&group, 1}, from, some, is_plain, head, out);
                from += some, out += Width * some;
            }
        });
        return fits;
    }

    // Of few records here and there.
    bool pick(std::span<const Group> groups, std::span<const Span> wanted, std::uint8_t* out) {
        const bool is_plain = valid_.empty() && has_head(form_.scale) && form_.precision >= 9;
        Picker picker(groups, is_plain ? head_of(static_cast<int>(-form_.scale)) : 0);
        for (const auto& [block, first, count] : wanted) {
            for (std::size_t i = first; i < first + count; ++i, out += Width) {
                const auto number = is_plain ? picker(i) : std::nullopt;
                if (number) write_signed<Width>(*number, out);
                else if (!convert(groups, i, 1, out)) return false;
            }
        }
        return true;
    }

private:
    bool convert_chunk(std::span<const Group> groups, std::size_t first, std::size_t count, bool is_plain, std::uint64_t head,
                       std::uint8_t* out) {
        const auto limit = static_cast<std::int64_t>(limit_of(form_.precision));
        if (is_plain && small_numbers(groups, first, count, head, small_) && write_small<Width>(small_, count, limit, out)) return true;
        binary::zstd_records::expand(groups, first, count, stored_.data());
        return convert(stored_.data(), first, count, out);
    }

    Form form_;
    std::size_t first_;
    std::span<std::uint8_t> valid_;  // a byte for each slot; empty if all are present
    SmallNumbers small_;
    std::array<std::uint8_t, value_size * chunk> stored_;
};

template <class L, std::size_t Width>
bool decode_slots(const L& layout, const binary::Slots& slots, std::span<const Span> wanted, Converter<Width>& converter,
                  std::uint8_t* out, Context& context) {
    const auto first = wanted.front().first, size = wanted.back().first + wanted.back().count - first;
    std::span<const Group> groups;
    if constexpr (std::is_same_v<L, binary::zstd::Layout>) groups = binary::zstd::records_of(layout, slots, context);
    Bytes stored;
    if (groups.empty()) {
        const binary::SlotRange piece{first, size, first * value_size};
        if constexpr (binary::is_dictionary<L> || std::is_same_v<L, binary::single_value::Layout>) {
            const auto bytes = context.arena.take<std::uint8_t>(size * value_size);
            const auto once = binary::decode_once(layout, slots, first, size, context);
            binary::write_bytes(layout, once, slots, piece, bytes, bytes.size() + Arena::slack, context);
            stored = bytes;
        } else {
            stored = binary::detail::bytes_of(layout, slots, piece, size * value_size, context);
        }
    }
    if (!groups.empty() && wanted.size() * short_span > numeric::total(wanted)) return converter.pick(groups, wanted, out);
    for (const auto& span : wanted) {
        const bool done = groups.empty() ? converter.convert(stored.data() + (span.first - first) * value_size, span.first, span.count, out)
                                         : converter.convert(groups, span.first, span.count, out);
        if (!done) return false;
        out += Width * span.count;
    }
    return true;
}

}  // namespace detail

// Like binary::decode_fixed, for decimals in Arrow's form of `Width` bytes each. None if a value has no such form. Then
// the output is undefined.
template <std::size_t Width>
std::optional<std::size_t> decode_run(std::span<const Block> blocks, std::span<const Span> spans, const Inflated& inflated,
                                      Form form, std::uint8_t* out, std::uint8_t* validity, std::size_t at) {
    Arena arena;
    std::size_t nulls = 0;
    bool done = true;
    for_each_block(blocks, spans, [&](const Block& block, std::span<const Span> wanted) {
        if (!done) return;
        arena.reset(block.values);
        Context context{inflated, arena, block.begin};
        const auto present = presence::decode(block.presence, block.count, arena);
        const binary::Slots slots{block.count, value_size, true, &present};
        const auto first = wanted.front().first;
        detail::Converter<Width> converter(form, present, first, wanted.back().first + wanted.back().count - first, arena);
        binary::with_layout(block.values, slots, [&](const auto& layout) {
            done = detail::decode_slots(layout, slots, wanted, converter, out + Width * at, context);
        });
        for (const auto& span : wanted) {
            nulls += present.write(span.first, span.count, validity, at);
            at += span.count;
        }
    });
    if (!done) return {};
    return nulls;
}

}  // namespace amudai::decimal
