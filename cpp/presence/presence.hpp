// The presence section of a block: which of its slots hold a value. Bytes: docs/format/buffers.md.
#pragma once
#include "base/context.hpp"
#include "bits/bitmap.hpp"
#include "presence/roaring.hpp"

namespace amudai::presence {

enum Kind : std::uint8_t { all_null = 1, plain = 2, roaring_bitmap = 3 };

// Where the presence of a block comes from, after the border check.
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

}  // namespace amudai::presence
