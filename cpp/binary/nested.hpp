// What all binary encodings share. Bytes: docs/format/binary.md.
//
// Each encoding is a namespace with the same names:
//   code, name      the number of the encoding in the format, and its readable name
//   Layout, layout  where the parts of a region lie; checks all bounds
//   offsets         where slots [first, first + out.size() - 1] begin and end in the block's decoded bytes
//   bytes_most      the most decoded bytes that there can be
//   bytes           the decoded bytes of a range of slots
//   frames          the frames inside that the caller inflates, and that are known before anything is decoded
//   encoded_size    the bytes of a region made of these parts
//   encode          writes that region into `out`, which has `encoded_size` bytes
#pragma once
#include "base/block.hpp"
#include "binary/fill.hpp"
#include "numeric/section.hpp"
#include "presence/presence.hpp"

namespace amudai::binary {

// The slots of a block: their number, their size (0 if variable), and which of them are present.
struct Slots {
    std::size_t count;
    std::size_t fixed_size;
    bool is_fixed;
    const presence::Presence* present;
};

// The slots [first, first + count) that are wanted. Their decoded bytes begin at `origin`.
struct SlotRange {
    std::size_t first;
    std::size_t count;
    std::size_t origin;
};

// Where to write decoded bytes of a block. The bytes from `origin` on fill `out`. Up to `writable` bytes from its start
// may be overwritten.
struct DecodeTarget {
    std::size_t origin;
    MutableBytes out;
    std::size_t writable;
};

// The offsets stored with compressed bytes: n + 1 numbers, either raw or a section.
struct Offsets {
    Bytes bytes;
    bool nested = false;

    void decode(std::size_t slots, std::size_t first, std::span<std::uint64_t> out, Context& context) const {
        numeric::decode_part<std::uint64_t>("offsets", nested, bytes, slots + 1, first, out, context);
    }
    template <class Found>
    void frames(std::size_t slots, Found& found) const {
        if (nested) numeric::find_frames<std::uint64_t>(bytes, slots + 1, found);
    }
    void describe(std::size_t slots, std::string& out) const {
        if (nested) numeric::describe<std::uint64_t>(bytes, slots + 1, out);
        else out += "raw";
    }
};

// Checks the two bytes that say how offsets are stored, and finds the offsets after the payload.
inline Offsets offsets_behind(Bytes region, std::size_t payload_end, unsigned width, unsigned cascading, const Slots& slots) {
    require_equal("offset width", width, slots.is_fixed ? 0 : 8);
    const auto tail = rest("region bytes", region, payload_end);
    if (slots.is_fixed) return {};
    if (!cascading) require_equal("offsets bytes", tail.size(), 8 * (slots.count + 1));
    return {tail, cascading != 0};
}

// The offsets to be written into a region: raw, or a section that was encoded elsewhere. None for values of a fixed
// size.
struct OffsetsPart {
    bool is_fixed;
    bool nested;
    Bytes bytes;

    std::uint8_t width() const { return is_fixed ? 0 : 8; }
    std::uint8_t cascading() const { return !is_fixed && nested; }
    std::size_t size() const { return is_fixed ? 0 : bytes.size(); }
    Bytes stored() const { return is_fixed ? Bytes{} : bytes; }
};

}  // namespace amudai::binary
