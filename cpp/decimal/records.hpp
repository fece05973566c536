// Stored decimals in Zstandard frames of records: their numbers, without putting their 16 bytes together.
#pragma once
#include "binary/zstd_records.hpp"
#include "decimal/stored.hpp"

namespace amudai::decimal {

using binary::zstd_records::Group;

namespace detail {

// The numbers of `count` records, whose own bytes are the lowest of their lower words. Returns bits that are set where a
// number has more than 18 digits.
template <class Unpack>
std::uint64_t unpack_records(const std::uint8_t* own, std::size_t own_size, std::uint64_t rest, std::uint64_t mask, std::int64_t turn,
                             std::size_t count, std::int64_t* out, Unpack&& unpack) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < count; ++i, own += own_size) {
        const auto word = rest | (load<std::uint64_t>(own) & mask);
        all |= word;
        out[i] = (static_cast<std::int64_t>(unpack(word)) ^ turn) - turn;
    }
    return all >> 60;
}

}  // namespace detail

// Like `small_numbers` of stored decimals, for the records [first, first + count) of a frame.
inline bool small_numbers(std::span<const Group> groups, std::size_t first, std::size_t count, std::uint64_t head,
                          SmallNumbers& out) {
    std::uint64_t other = 0;
    auto* to = out.data();
    binary::zstd_records::each_part(groups, first, count, [&](const Group& group, std::size_t from, std::size_t size) {
        if (group.own_size > 8) {
            for (std::size_t i = 0; i < size; ++i) {
                const auto record = group[from + i];
                const Stored value{record.lower, record.upper};
                other |= differs(value, head);
                *to++ = small_number(value);
            }
            return;
        }
        other |= differs({0, group.rest.upper}, head);
        const auto turn = static_cast<std::int64_t>(group.rest.upper) >> 63;
        const auto mask = binary::zstd_records::mask_of(group.own_size).lower;
        const auto* const own = group.own + (from - group.first) * group.own_size;
        const auto unpack = [&](auto&& each) {
            other |= detail::unpack_records(own, group.own_size, group.rest.lower, mask, turn, size, to, each);
        };
        // Most columns of money have no more than nine digits.
        if ((mask | group.rest.lower) >> 30 == 0) unpack([](std::uint64_t word) { return unpack_nine(static_cast<std::uint32_t>(word)); });
        else unpack([](std::uint64_t word) { return unpack_digits(word); });
        to += size;
    });
    return other == 0;
}

}  // namespace amudai::decimal
