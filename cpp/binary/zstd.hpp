// ZSTD (code 16): the values as a Zstandard frame, which the caller has inflated. Frames that share a dictionary have a
// code of their own. Bytes: docs/format/binary.md.
#pragma once
#include "binary/shared.hpp"
#include "binary/zstd_records.hpp"

namespace amudai::binary::zstd {

inline constexpr std::uint16_t code = 16;
inline constexpr std::string_view name = "zstd";
inline constexpr std::size_t header_size = 8;
inline constexpr std::size_t shared_header_size = 16;

struct Layout {
    Bytes payload;
    Offsets offsets;
    std::optional<std::uint32_t> dictionary;  // the checksum of the shared dictionary, if the payload needs one

    std::string_view codec() const { return dictionary ? shared::zstd_name : name; }
};

inline bool holds_frame(std::uint16_t code_of_region) { return code_of_region == code || code_of_region == shared::zstd_code; }

inline Layout layout(Bytes region, const Slots& slots) {
    require_at_least("compressed region bytes", region.size(), header_size);
    const std::size_t payload_size = load<std::uint32_t>(region, 2);
    std::optional<std::uint32_t> dictionary;
    auto at = header_size;
    if (shared::uses_dictionary(load<std::uint16_t>(region, 0))) {
        require_at_least("compressed region bytes", region.size(), shared_header_size);
        dictionary = load<std::uint32_t>(region, header_size);
        at = shared_header_size;
    }
    const auto payload = part("compressed payload bytes", region, at, payload_size);
    return {payload, offsets_behind(region, at + align8(payload_size), region[6], region[7], slots), dictionary};
}

inline void offsets(const Layout& found, const Slots& slots, std::size_t first, std::span<std::uint64_t> out, Context& context) {
    found.offsets.decode(slots.count, first, out, context);
}

inline std::uint64_t bytes_most(const Layout& found) { return zstd_most(found.payload.size()); }

// Whether the frame is read in place, and need not be inflated.
inline bool holds_records(const Layout& found, const Slots& slots) {
    return slots.is_fixed && slots.fixed_size == zstd_records::record_size && !found.dictionary &&
           zstd_records::is_one(found.payload, slots.count);
}

// Its records; none if it must be inflated.
inline std::span<const zstd_records::Group> records_of(const Layout& found, const Slots& slots, Context& context) {
    if (!slots.is_fixed || slots.fixed_size != zstd_records::record_size || found.dictionary) return {};
    return zstd_records::groups_of(found.payload, slots.count, context.arena);
}

inline void bytes(const Layout& found, const Slots& slots, const SlotRange& piece, MutableBytes out, std::size_t, Context& context) {
    const auto data = context.inflated.find_any(found.payload.data());
    if (piece.count == slots.count) require_equal("decoded bytes", data.size(), out.size());
    const auto wanted = part("decoded bytes", data, piece.origin, out.size());
    std::memcpy(out.data(), wanted.data(), wanted.size());
}

inline std::size_t encoded_size(std::size_t payload, const OffsetsPart& offsets, bool is_shared = false) {
    return (is_shared ? shared_header_size : header_size) + align8(payload) + offsets.size();
}

// The first eight bytes of a region, and, if the payload was compressed with a dictionary, its checksum.
inline Fill encode_header(std::uint16_t code_of_region, std::size_t payload, const OffsetsPart& offsets,
                          std::optional<std::uint32_t> dictionary, MutableBytes out) {
    Fill header(out);
    header.number(code_of_region).number(size32("compressed payload", payload)).number(offsets.width()).number(offsets.cascading());
    if (dictionary) header.number(*dictionary).number(std::uint32_t{0});
    return header;
}

// A region with this code that has the layout of a ZSTD region.
inline void encode_as(std::uint16_t code_of_region, Bytes payload, const OffsetsPart& offsets, MutableBytes out,
                      std::optional<std::uint32_t> dictionary = {}) {
    encode_header(code_of_region, payload.size(), offsets, dictionary, out).bytes(payload).pad().bytes(offsets.stored());
}

inline void encode(Bytes payload, const OffsetsPart& offsets, std::optional<std::uint32_t> dictionary, MutableBytes out) {
    encode_as(dictionary ? shared::zstd_code : code, payload, offsets, out, dictionary);
}

template <class Found>
void frames(const Layout& layout, const Slots& slots, Found& found) {
    layout.offsets.frames(slots.count, found);
}

inline void describe(const Layout& found, const Slots& slots, std::string& out) {
    if (!slots.is_fixed) found.offsets.describe(slots.count, out);
}

}  // namespace amudai::binary::zstd
