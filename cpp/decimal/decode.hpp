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

// Converts values of one block, in order. `valid` has a byte for each value; it is empty if none is null.
template <std::size_t Width>
class Converter {
public:
    Converter(Form form, std::span<const std::uint8_t> valid, std::uint8_t* out)
        : form_(form), valid_(valid.empty() ? nullptr : valid.data()), out_(out), is_plain_(valid.empty() && has_head(form.scale)),
          head_(is_plain_ ? head_of(static_cast<int>(-form.scale)) : 0) {}

    // The next values are stored one after the other. False if one of them has no such form, here and below.
    bool convert(const std::uint8_t* values, std::size_t count) {
        if (to_unscaled<Width>(values, valid_, count, form_.scale, form_.precision, out_)) return false;
        go_on(count);
        return true;
    }

    // The next values are records of a Zstandard frame.
    bool convert(std::span<const Group> groups, std::size_t first, std::size_t count) {
        bool fits = true;
        binary::zstd_records::each_part(groups, first, count, [&](const Group& group, std::size_t from, std::size_t size) {
            bool are_short = is_plain_ && form_.precision >= 9;
            for (const auto end = from + size; from < end && fits;) {
                const auto some = std::min(chunk, end - from);
                const auto write = [to = out_](std::size_t i, std::int64_t number) { write_signed<Width>(number, to + Width * i); };
                are_short = are_short && nine_digits(group, from, some, head_, write);
                if (are_short) go_on(some);
                else fits = convert_chunk({&group, 1}, from, some);
                from += some;
            }
        });
        return fits;
    }

    // They are few records here and there.
    bool pick(std::span<const Group> groups, std::span<const Span> wanted) {
        const bool may_pick = is_plain_ && form_.precision >= 9;
        Picker picker(groups, head_);
        for (const auto& [block, first, count] : wanted) {
            for (auto i = first; i < first + count; ++i) {
                if (const auto number = may_pick ? picker(i) : std::nullopt) {
                    write_signed<Width>(*number, out_);
                    out_ += Width;
                } else if (!convert(groups, i, 1)) {
                    return false;
                }
            }
        }
        return true;
    }

private:
    bool convert_chunk(std::span<const Group> groups, std::size_t first, std::size_t count) {
        const auto limit = static_cast<std::int64_t>(limit_of(form_.precision));
        if (is_plain_ && small_numbers(groups, first, count, head_, small_) && write_small<Width>(small_, count, limit, out_)) {
            go_on(count);
            return true;
        }
        binary::zstd_records::expand(groups, first, count, stored_.data());
        return convert(stored_.data(), count);
    }
    void go_on(std::size_t count) {
        out_ += Width * count;
        if (valid_) valid_ += count;
    }

    Form form_;
    const std::uint8_t* valid_;
    std::uint8_t* out_;
    bool is_plain_;
    std::uint64_t head_;  // that of most values
    SmallNumbers small_;
    std::array<std::uint8_t, value_size * chunk> stored_;
};

// The stored decimals from the first slot that is wanted to the last.
template <class L, class Once>
Bytes stored_values(const L& layout, const Once& once, const binary::Slots& slots, const binary::SlotRange& piece, Context& context) {
    const auto size = piece.count * value_size;
    if constexpr (binary::is_dictionary<L> || std::is_same_v<L, binary::single_value::Layout>) {
        const auto bytes = context.arena.take<std::uint8_t>(size);
        binary::write_bytes(layout, once, slots, piece, bytes, size + Arena::slack, context);
        return bytes;
    } else {
        return binary::detail::bytes_of(layout, slots, piece, size, context);
    }
}

template <std::size_t Width, class L, class Once>
bool convert_spans(const L& layout, const Once& once, const binary::Slots& slots, std::span<const Span> wanted,
                   Converter<Width>& converter, Context& context) {
    if constexpr (std::is_same_v<L, binary::zstd::Layout>) {
        if (!once.empty()) {
            if (wanted.size() * short_span > numeric::total(wanted)) return converter.pick(once, wanted);
            return std::ranges::all_of(wanted, [&](const Span& span) { return converter.convert(once, span.first, span.count); });
        }
    }
    const auto first = wanted.front().first, count = wanted.back().first + wanted.back().count - first;
    const auto stored = stored_values(layout, once, slots, {first, count, first * value_size}, context);
    return std::ranges::all_of(wanted, [&](const Span& span) {
        return converter.convert(stored.data() + (span.first - first) * value_size, span.count);
    });
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
        binary::with_layout(block.values, slots, [&](const auto& layout) {
            const auto first = wanted.front().first;
            const auto once = binary::decode_once(layout, slots, first, wanted.back().first + wanted.back().count - first, context);
            const auto start = at;
            std::size_t missing = 0;
            for (const auto& span : wanted) {
                missing += binary::write_validity(once, slots, {span.first, span.count, span.first * value_size}, validity, at);
                at += span.count;
            }
            std::span<std::uint8_t> valid;
            if (missing) {
                valid = arena.take<std::uint8_t>(at - start);
                for (std::size_t i = 0; i < valid.size(); ++i) valid[i] = bits::get(validity, start + i);
            }
            detail::Converter<Width> converter(form, valid, out + Width * start);
            done = detail::convert_spans(layout, once, slots, wanted, converter, context);
            nulls += missing;
        });
    });
    if (!done) return {};
    return nulls;
}

}  // namespace amudai::decimal
