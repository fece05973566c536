// Stored decimals in Zstandard frames of records: their numbers, without putting their 16 bytes together.
#pragma once
#include <optional>

#include "binary/zstd_records.hpp"
#include "decimal/stored.hpp"

namespace amudai::decimal {

using binary::zstd_records::Group;

namespace detail {

// The lower words of records, one after the other. Their own bytes are the lowest ones, at most eight.
class LowerWords {
public:
    LowerWords(const Group& group, std::size_t first)
        : own_(group.own + (first - group.first) * group.own_size + (group.behind != nullptr)), size_(group.own_size),
          rest_(group.rest.lower), mask_(group.mask().lower) {}

    static bool suit(const Group& group) { return group.own_size <= (group.behind ? 9 : 8); }

    // From the record `first + records` on.
    std::uint64_t at(std::size_t records) const { return rest_ | (load<std::uint64_t>(own_ + records * size_) & mask_); }
    // Whether they may have at most nine digits, as in most columns of money. These take 30 bits.
    bool may_be_short() const { return (mask_ | rest_) >> 32 == 0; }
    std::uint64_t next() {
        const auto found = rest_ | (load<std::uint64_t>(own_) & mask_);
        own_ += size_;
        return found;
    }

private:
    const std::uint8_t* own_;
    std::size_t size_;
    std::uint64_t rest_, mask_;
};

// The sign of records that have the same one: 0 or -1.
inline std::int64_t turn_of(const Group& group) { return static_cast<std::int64_t>(group.rest.upper) >> 63; }

// What `differs` says of the upper words of a group, with the last byte of a record if each has its own.
inline std::uint64_t upper_differs(const Group& group, std::uint8_t last_byte, std::uint64_t head) {
    return differs({0, group.rest.upper | (group.behind ? std::uint64_t{last_byte} << 56 : 0)}, head);
}

}  // namespace detail

// Calls write(i, number) for the records first + i of a group, i < count. False if the group has another head than this
// one or some number has more than nine digits: then some numbers may be wrong.
template <class Write>
bool nine_digits(const Group& group, std::size_t first, std::size_t count, std::uint64_t head, Write&& write) {
    const auto last_byte = static_cast<std::uint8_t>(head >> 56);
    if (!detail::LowerWords::suit(group) || detail::upper_differs(group, last_byte, head)) return false;
    detail::LowerWords words(group, first);
    if (!words.may_be_short()) return false;
    std::uint64_t all = 0;
    if (group.behind) {
        unsigned others = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto word = words.next();
            const unsigned byte = group.last_byte(first + i) ^ last_byte;
            all |= word, others |= byte;
            const auto turn = std::int64_t{0} - (byte >> 7);
            write(i, (std::int64_t{unpack_nine(static_cast<std::uint32_t>(word))} ^ turn) - turn);
        }
        return (all >> 30 | (others & 0x7f)) == 0;
    }
    const auto each = [&](auto&& signed_number) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto word = words.next();
            all |= word;
            write(i, signed_number(unpack_nine(static_cast<std::uint32_t>(word))));
        }
    };
    if (detail::turn_of(group)) each([](std::int64_t number) { return -number; });
    else each([](std::int64_t number) { return number; });
    return all >> 30 == 0;
}

// Numbers of records that are read one by one, in ascending order.
class Picker {
public:
    Picker(std::span<const Group> groups, std::uint64_t head) : groups_(groups), head_(head) {}

    // None if the record has another head or more than nine digits.
    std::optional<std::int64_t> operator()(std::size_t record) {
        if (record >= end_) enter(record);
        if (!is_near_) return {};
        const auto word = words_->at(record - first_);
        if (word >> 30) return {};
        auto turn = turn_;
        if (const auto& group = groups_.front(); group.behind) {
            const unsigned byte = group.last_byte(record) ^ static_cast<unsigned>(head_ >> 56);
            if (byte & 0x7f) return {};
            turn = std::int64_t{0} - (byte >> 7);
        }
        return (std::int64_t{unpack_nine(static_cast<std::uint32_t>(word))} ^ turn) - turn;
    }

private:
    void enter(std::size_t record) {
        while (groups_.front().end() <= record) groups_ = groups_.subspan(1);
        const auto& group = groups_.front();
        first_ = group.first, end_ = group.end(), turn_ = detail::turn_of(group);
        is_near_ = detail::LowerWords::suit(group) && detail::upper_differs(group, static_cast<std::uint8_t>(head_ >> 56), head_) == 0;
        words_.emplace(group, first_);
    }

    std::span<const Group> groups_;
    std::uint64_t head_;
    std::size_t first_ = 0, end_ = 0;
    std::int64_t turn_ = 0;
    bool is_near_ = false;
    std::optional<detail::LowerWords> words_;
};

// Like `small_numbers` of stored decimals, for the records [first, first + count) of a frame.
inline bool small_numbers(std::span<const Group> groups, std::size_t first, std::size_t count, std::uint64_t head,
                          SmallNumbers& out) {
    std::uint64_t other = 0;
    auto* to = out.data();
    binary::zstd_records::each_part(groups, first, count, [&](const Group& group, std::size_t from, std::size_t size) {
        if (group.own_size > 8 || group.behind) {
            if (nine_digits(group, from, size, head, [to](std::size_t i, std::int64_t number) { to[i] = number; })) {
                to += size;
                return;
            }
            for (std::size_t i = 0; i < size; ++i) {
                const auto record = group[from + i];
                const Stored value{record.lower, record.upper};
                other |= differs(value, head);
                *to++ = small_number(value);
            }
            return;
        }
        detail::LowerWords words(group, from);
        const auto turn = detail::turn_of(group);
        other |= differs({0, group.rest.upper}, head);
        if (nine_digits(group, from, size, head, [to](std::size_t i, std::int64_t number) { to[i] = number; })) {
            to += size;
            return;
        }
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const auto word = words.next();
            all |= word;
            *to++ = (static_cast<std::int64_t>(unpack_digits(word)) ^ turn) - turn;
        }
        other |= all >> 60;
    });
    return other == 0;
}

}  // namespace amudai::decimal
