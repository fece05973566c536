// Shifting blocks of ascending numbers without decoding them: a block of differences begins with its first number.
#pragma once
#include "base/block.hpp"
#include "numeric/delta.hpp"

namespace amudai::numeric {

// Adds `by` to all 64-bit numbers of a block that has a checksum, in place. Returns false and changes nothing if the
// block holds nulls or no differences, or if its first number would exceed 64 bits.
inline bool shift_block(std::span<std::uint8_t> bytes, std::uint64_t ordinal, std::uint64_t by, bool verify) {
    return at_block(ordinal, [&] {
        const auto block = open_block(bytes, 0, ordinal, true, verify);
        if (!block.presence.empty() || block.values.size() < delta::header_size<std::uint64_t>) return false;
        if (load<std::uint16_t>(block.values, 0) != delta::code) return false;
        const auto first = load<std::uint64_t>(block.values, 2);
        if (by > std::numeric_limits<std::uint64_t>::max() - first) return false;
        store<std::uint64_t>(bytes.data() + (block.values.data() - bytes.data()) + 2, first + by);
        const auto content = bytes.first(bytes.size() - checksum_size);
        store<std::uint32_t>(bytes.data() + content.size(), checksum(content));
        return true;
    });
}

}  // namespace amudai::numeric
