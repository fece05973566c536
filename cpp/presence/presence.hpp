// The presence section of a block: which of its slots hold a value. Bytes: docs/format/buffers.md.
#pragma once
#include "base/context.hpp"
#include "bits/bitmap.hpp"
#include "presence/roaring.hpp"

namespace amudai::presence {

enum Kind : std::uint8_t { all_null = 1, plain = 2, roaring_bitmap = 3 };

// The presence of a block, after its section was checked.
struct Presence {
    enum class Form { all_present, all_null, bytes, bitmap } form = Form::all_present;
    const std::uint8_t* data = nullptr;  // one byte or one bit per slot

    bool at(std::size_t slot) const {
        switch (form) {
            case Form::all_present: return true;
            case Form::all_null: return false;
            case Form::bytes: return data[slot] != 0;
            case Form::bitmap: return bits::get(data, slot);
        }
        return true;
    }

    // Whether all slots are present, or all are null.
    bool is_uniform() const { return form == Form::all_present || form == Form::all_null; }

    // Writes bits [at, at + count) of `validity` for slots [first, first + count); returns how many are null.
    std::size_t write(std::size_t first, std::size_t count, std::uint8_t* validity, std::size_t at) const {
        switch (form) {
            case Form::all_present: bits::fill(validity, at, count, true); return 0;
            case Form::all_null: bits::fill(validity, at, count, false); return count;
            case Form::bytes: bits::from_values(data + first, count, validity, at); break;
            case Form::bitmap: bits::copy(data, first, validity, at, count); break;
        }
        return count - bits::count_set(validity, at, count);
    }

    // The same for slots that are listed one by one. Some of them are present, some may be null.
    std::size_t write_each(std::span<const std::uint32_t> slots, std::uint8_t* validity, std::size_t at, Arena& arena) const {
        const auto each = arena.take<std::uint8_t>(slots.size());
        const bool one_bit = form == Form::bitmap;
        std::size_t found = 0;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const std::size_t slot = slots[i];
            each[i] = one_bit ? bits::get(data, slot) : data[slot] != 0;
            found += each[i];
        }
        bits::from_values(each.data(), slots.size(), validity, at);
        return slots.size() - found;
    }

    // Turns answers about the values of slots [first, first + count) into their opposites if `opposite` is set. Then
    // clears the answers of null slots.
    void keep(std::size_t first, std::size_t count, bool opposite, std::uint8_t* answers, Arena& arena) const {
        const auto bytes = (count + 7) / 8;
        if (opposite) {
            for (std::size_t i = 0; i < bytes; ++i) answers[i] = static_cast<std::uint8_t>(~answers[i]);
        }
        if (form == Form::all_present) return;
        if (form == Form::all_null) return bits::fill(answers, 0, count, false);
        const auto valid = arena.take<std::uint8_t>(bytes);
        write(first, count, valid.data(), 0);
        for (std::size_t i = 0; i < bytes; ++i) answers[i] &= valid[i];
    }
};

inline Presence decode(Bytes section, std::size_t count, Arena& arena) {
    if (section.empty()) return {};
    switch (section[0]) {
        case all_null: return {Presence::Form::all_null, nullptr};
        case plain:
            require_equal("presence bytes", section.size() - 1, count);
            return {Presence::Form::bytes, section.data() + 1};
        case roaring_bitmap: {
            require_at_least("presence section bytes", section.size(), 2);
            const bool negated = section[1] != 0;
            const auto bitmap = arena.take<std::uint8_t>(count / 8 + 1);
            std::memset(bitmap.data(), negated ? 0xff : 0, bitmap.size());
            roaring::decode(section.subspan(2), count, [&](std::size_t first, std::size_t length) {
                bits::fill(bitmap.data(), first, length, !negated);
            });
            return {Presence::Form::bitmap, bitmap.data()};
        }
        default: throw Unsupported("presence kind: expected 1..3, found " + std::to_string(section[0]));
    }
}

// For this many slots or fewer, a bitmap container of 8 KiB is not worth its size.
inline constexpr std::size_t bitmap_above = 32768;

// Writes the smallest section for bits [at, at + count) of `validity`, or nothing if all are set. Of two sections of
// equal size, writes the simpler one.
inline void encode(const std::uint8_t* validity, std::size_t at, std::size_t count, Sink& out, Arena& arena) {
    const auto present_count = bits::count_set(validity, at, count);
    if (present_count == count) return;
    if (present_count == 0) return out.put<std::uint8_t>(all_null);
    const auto present = arena.take<std::uint64_t>((count + 63) / 64);
    const auto null = arena.take<std::uint64_t>(present.size());
    for (std::size_t i = 0; i < present.size(); ++i) {
        present[i] = bits::word(validity, at + 64 * i, std::min<std::size_t>(64, count - 64 * i));
        null[i] = ~present[i];
    }
    if (count % 64) null.back() &= (std::uint64_t{1} << count % 64) - 1;

    auto least = 1 + count;
    std::vector<roaring::Container> chosen;
    bool negated = false, runs = false;
    for (const bool nulls : {true, false}) {
        const auto containers = roaring::containers(nulls ? null : present);
        for (const bool as_runs : {false, true}) {
            bool fits = !as_runs || std::ranges::any_of(containers, &roaring::Container::better_as_runs);
            for (const auto& each : containers) {
                const bool is_bitmap = each.bitmap() && !(as_runs && each.better_as_runs());
                fits = fits && !(is_bitmap && count <= bitmap_above);
            }
            const auto size = 2 + roaring::encoded_size(containers, as_runs);
            if (fits && size < least) least = size, chosen = containers, negated = nulls, runs = as_runs;
        }
    }
    if (chosen.empty()) {
        out.put<std::uint8_t>(plain);
        const auto start = out.size();
        auto* const bytes = out.extend(align8(count));
        for (std::size_t i = 0; i < count; i += 8) {
            store<std::uint64_t>(bytes + i, bits::spread(static_cast<std::uint8_t>(present[i / 64] >> i % 64)));
        }
        return out.cut(start + count);
    }
    out.put<std::uint8_t>(roaring_bitmap);
    out.put<std::uint8_t>(negated);
    roaring::encode(chosen, runs, out);
}

}  // namespace amudai::presence
