// Zstandard frames of records that differ from the record before in their first bytes only (RFC 8878, section 3.1.1).
//
// Records of 16 bytes follow each other. Every sequence of the frame is a record: as literals its own first bytes, and as
// a match the rest of the record before. The literals are not compressed, and all sequences of a block are equal, so that
// they take no bits. Any program that reads Zstandard reads such a frame. Here a record is found by its place, without
// inflating the others.
//
// If the last bytes of records differ as well, as those of numbers with different signs do, every sequence begins with
// the last byte of the record before. Such a frame is *shifted* by a byte, and ends with a literal.
#pragma once
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "base/context.hpp"
#include "base/sink.hpp"

namespace amudai::binary::zstd_records {

inline constexpr std::size_t record_size = 16;
// A match has at least three bytes. Behind two bytes there are six more in any frame, so that eight can be loaded at once.
inline constexpr std::size_t least_own = 2, least_shifted = 3, most_own = record_size - 3;
inline constexpr std::size_t least_records = 16;
inline constexpr std::size_t most_in_block = (std::size_t{128} << 10) / record_size - 1;

struct Record {
    std::uint64_t lower, upper;

    static Record at(const std::uint8_t* from) { return {load<std::uint64_t>(from), load<std::uint64_t>(from + 8)}; }
    void write(std::uint8_t* to) const { store(to, lower), store(to + 8, upper); }
};

// The bits of the first `own` bytes of a record.
constexpr Record mask_of(std::size_t own) {
    constexpr auto ones = ~std::uint64_t{0};
    if (own <= 8) return {own ? ones >> (64 - 8 * own) : 0, 0};
    return {ones, ones >> (128 - 8 * own)};
}

// Records [first, first + count) of a frame. Each has `own_size` bytes of its own, from `own` on, and the other bytes of
// `rest`, whose own bytes are 0.
//
// In a shifted frame the first of these bytes is the last one of the record before. That of the last record lies at
// `behind`, which is null in other frames.
struct Group {
    const std::uint8_t* own;
    std::size_t first, count, own_size;
    Record rest = {0, 0};
    const std::uint8_t* behind = nullptr;

    std::size_t end() const { return first + count; }
    // The last byte of a record of a shifted frame.
    std::uint8_t last_byte(std::size_t record) const { return record + 1 < end() ? own[(record + 1 - first) * own_size] : *behind; }
    Record operator[](std::size_t record) const {
        const auto* const from = own + (record - first) * own_size;
        auto found = rest;
        if (behind) {
            const auto [lower, upper] = first_bytes(from + 1, own_size - 1);
            return {found.lower | lower, found.upper | upper | std::uint64_t{last_byte(record)} << 56};
        }
        const auto [lower, upper] = first_bytes(from, own_size);
        return {found.lower | lower, found.upper | upper};
    }
    // The bits of the bytes that are not `rest`.
    Record mask() const {
        auto found = mask_of(behind ? own_size - 1 : own_size);
        if (behind) found.upper |= std::uint64_t{0xff} << 56;
        return found;
    }

private:
    static Record first_bytes(const std::uint8_t* from, std::size_t size) {
        if (size <= 8) return {load<std::uint64_t>(from) & mask_of(size).lower, 0};
        return {load<std::uint64_t>(from), load<std::uint64_t>(from + size - 8) >> (128 - 8 * size)};
    }
};

namespace detail {

inline constexpr std::uint32_t magic = 0xFD2FB528;
// A frame without checksum whose window is its content, of which the size takes two bytes or four.
inline constexpr std::uint8_t short_descriptor = 0x60, long_descriptor = 0xa0;
inline constexpr std::size_t short_least = 256, short_most = 255 + 65536;
inline constexpr unsigned compressed = 2;         // type of a block
inline constexpr std::uint8_t single_codes = 0x54;  // each of the three codes of a sequence is the same in the whole block
inline constexpr std::size_t least_block = 12;      // bytes: two headers, the literals of a record, its sequence
inline constexpr std::uint8_t last_bit = 1;       // the end of a stream of bits that has none

struct Tail {
    std::array<std::uint8_t, 6> bytes;
};

// The sequence that ends the first block: `own` bytes behind those of the first record, and the match, which states its
// distance. Later matches repeat that.
constexpr Tail first_tail(std::size_t own, bool shifted) {
    const auto literals = record_size - shifted + own;
    // Lengths of literals from 16 to 31: code, first length, further bits (RFC 8878, table 13).
    constexpr std::array<std::array<std::size_t, 3>, 6> lengths{{{16, 16, 1}, {17, 18, 1}, {18, 20, 1}, {19, 22, 1}, {20, 24, 2}, {21, 28, 2}}};
    const auto* found = &lengths[0];
    for (const auto& each : lengths) {
        if (each[1] <= literals) found = &each;
    }
    constexpr std::size_t distance_code = 4, distance_bits = record_size + 3 - 16;  // of 4 bits
    const auto [code, least, bits] = *found;
    const auto stream = ((std::size_t{1} << 4 | distance_bits) << bits) | (literals - least);
    return {{1, single_codes, static_cast<std::uint8_t>(code), distance_code, static_cast<std::uint8_t>(most_own - own),
             static_cast<std::uint8_t>(stream)}};
}

// The bytes that are left to read.
class Input {
public:
    explicit Input(Bytes bytes) : bytes_(bytes) {}

    bool is_empty() const { return bytes_.empty(); }
    std::size_t size() const { return bytes_.size(); }
    const std::uint8_t* data() const { return bytes_.data(); }
    bool has(std::size_t size) const { return bytes_.size() >= size; }
    Bytes take(std::size_t size) {
        const auto found = bytes_.first(size);
        bytes_ = bytes_.subspan(size);
        return found;
    }
    // The number in so many bytes, at most four.
    std::optional<std::size_t> number(std::size_t size) {
        if (!has(size)) return {};
        std::uint32_t found = 0;
        std::memcpy(&found, take(size).data(), size);
        return found;
    }

private:
    Bytes bytes_;
};

// The next block of a frame, all of whose literals are as they are.
struct Content {
    bool is_last;
    Bytes literals;
    Input sequences;
};

inline std::optional<Content> next_block(Input& frame) {
    const auto header = frame.number(3);
    if (!header || (*header >> 1 & 3) != compressed || !frame.has(*header >> 3) || *header >> 3 == 0) return {};
    Input block(frame.take(*header >> 3));
    const unsigned first = block.data()[0];
    if (first & 3) return {};  // compressed
    const auto form = first >> 2 & 3;
    const auto size = block.number(form == 1 ? 2 : form == 3 ? 3 : 1);
    if (!size) return {};
    const auto literals = *size >> (form & 1 ? 4 : 3);
    if (!block.has(literals)) return {};
    const auto bytes = block.take(literals);
    return Content{(*header & 1) != 0, bytes, block};
}

// Calls use(group) for each group of a frame of `count` records. False if the frame has another form. Then some of it may
// have been used.
template <class Use>
bool each_group(Bytes bytes, std::size_t count, Use&& use) {
    Input frame(bytes);
    if (count < least_records || frame.number(4) != magic) return false;
    const auto descriptor = frame.number(1);
    if (descriptor != short_descriptor && descriptor != long_descriptor) return false;
    const bool is_short = descriptor == short_descriptor;
    const auto content = frame.number(is_short ? 2 : 4);
    if (!content || *content + (is_short ? short_least : 0) != std::uint64_t{count} * record_size) return false;
    auto block = next_block(frame);
    if (!block || block->is_last || block->sequences.size() != sizeof(Tail)) return false;
    const auto* const literals = block->literals.data();
    const auto sequence_is = [&](std::size_t own, bool shifted) {
        return block->literals.size() + shifted == record_size + own && own >= (shifted ? least_shifted : least_own) && own <= most_own &&
               std::memcmp(block->sequences.data(), first_tail(own, shifted).bytes.data(), sizeof(Tail)) == 0;
    };
    auto own = block->literals.size() - record_size;
    const bool shifted = !sequence_is(own, false);
    if (shifted && !sequence_is(++own, true)) return false;
    const auto least = shifted ? least_shifted : least_own;
    Group group{literals, 0, 1, record_size};
    const auto go_on = [&](const std::uint8_t* from, std::size_t records, std::size_t size) {
        if (group.behind) group.behind = from;
        use(group);
        const auto before = group[group.end() - 1];
        group = {from, group.end(), records, size, {}, shifted ? from : nullptr};
        const auto mask = group.mask();
        group.rest = {before.lower & ~mask.lower, before.upper & ~mask.upper};
    };
    go_on(literals + record_size - shifted, 1, own);
    while (!block->is_last) {
        block = next_block(frame);
        if (!block) return false;
        auto& sequences = block->sequences;
        auto records = sequences.number(1);
        if (!records) return false;
        if (*records >= 128) {
            const auto more = sequences.number(1);
            if (*records == 255 || !more) return false;
            records = (*records - 128) << 8 | *more;
        }
        if (!sequences.has(2)) return false;
        own = sequences.data()[1];
        if (own < least || own > most_own || *records == 0 || *records > most_in_block) return false;
        const std::array<std::uint8_t, 5> tail{single_codes, static_cast<std::uint8_t>(own), 0,
                                               static_cast<std::uint8_t>(most_own - own), last_bit};
        if (sequences.size() != tail.size() || std::memcmp(sequences.data(), tail.data(), tail.size()) != 0) return false;
        const auto behind = shifted && block->is_last;
        if (block->literals.size() != *records * own + behind || *records > count - group.end()) return false;
        go_on(block->literals.data(), *records, own);
    }
    if (shifted) group.behind = &block->literals.back();
    use(group);
    return frame.is_empty() && group.end() == count;
}

}  // namespace detail

// Whether a frame of `count` records has this form.
inline bool is_one(Bytes frame, std::size_t count) {
    return detail::each_group(frame, count, [](const Group&) {});
}

// The groups of a frame; none if it has another form.
inline std::span<const Group> groups_of(Bytes frame, std::size_t count, Arena& arena) {
    if (frame.size() < 2 * detail::least_block) return {};
    const auto groups = arena.take<Group>(2 + frame.size() / detail::least_block);
    std::size_t size = 0;
    if (!detail::each_group(frame, count, [&](const Group& group) { groups[size++] = group; })) return {};
    return groups.first(size);
}

// Calls use(group, first, count) for the records of each group that lie within [first, first + count).
template <class Use>
void each_part(std::span<const Group> groups, std::size_t first, std::size_t count, Use&& use) {
    const auto* group = groups.data() + (std::ranges::upper_bound(groups, first, {}, &Group::end) - groups.begin());
    for (const auto end = first + count; first < end; ++group) {
        const auto size = std::min(group->end(), end) - first;
        use(*group, first, size);
        first += size;
    }
}

// Writes the records [first, first + count).
inline void expand(std::span<const Group> groups, std::size_t first, std::size_t count, std::uint8_t* out) {
    each_part(groups, first, count, [&](const Group& group, std::size_t from, std::size_t size) {
        if (group.own_size <= 8 && !group.behind) {
            const auto mask = mask_of(group.own_size).lower;
            const auto* own = group.own + (from - group.first) * group.own_size;
            for (std::size_t i = 0; i < size; ++i, own += group.own_size, out += record_size) {
                Record{group.rest.lower | (load<std::uint64_t>(own) & mask), group.rest.upper}.write(out);
            }
        } else {
            for (std::size_t i = 0; i < size; ++i, out += record_size) group[from + i].write(out);
        }
    });
}

// ---- writing ----

namespace detail {

inline constexpr std::size_t step = 64;  // records at a time that have the same number of own bytes
inline constexpr std::size_t block_bytes = 13;  // of a block without its literals, at most

// How many bytes of a record are its own behind this one.
inline std::size_t own_bytes(const Record& before, const Record& record, bool shifted) {
    const auto lower = before.lower ^ record.lower;
    auto upper = before.upper ^ record.upper;
    if (shifted) upper &= ~std::uint64_t{0} >> 8;
    const auto bits = static_cast<std::size_t>(upper ? 64 + std::bit_width(upper) : std::bit_width(lower));
    return shifted ? std::max(least_shifted, 1 + (bits + 7) / 8) : std::max(least_own, (bits + 7) / 8);
}

// The own bytes that the records of a frame need: the second one, and each step of those behind it.
struct Needs {
    std::size_t second;
    std::vector<std::uint8_t> steps;
};

inline std::optional<Needs> needs_of(const std::uint8_t* data, std::size_t count, bool shifted) {
    auto before = Record::at(data), record = Record::at(data + record_size);
    Needs found{own_bytes(before, record, shifted), std::vector<std::uint8_t>((count - 2 + step - 1) / step)};
    if (found.second > most_own) return {};
    for (std::size_t i = 2; i < count; ++i) {
        before = record, record = Record::at(data + record_size * i);
        const auto own = own_bytes(before, record, shifted);
        if (own > most_own) return {};
        auto& need = found.steps[(i - 2) / step];
        need = std::max(need, static_cast<std::uint8_t>(own));
    }
    return found;
}

inline void put(Sink& out, std::size_t number, std::size_t size) { std::memcpy(out.extend(size), &number, size); }

// A block whose literals write(to) writes, and that ends with these bytes.
template <class Write>
void put_block(Sink& out, bool is_last, std::size_t literals, std::size_t records, Bytes tail, Write&& write) {
    const auto header = literals < 32 ? 1 : literals < 4096 ? 2 : 3;
    const auto number = records == 0 ? 0 : records < 128 ? 1 : 2;
    put(out, (static_cast<std::size_t>(header) + literals + static_cast<std::size_t>(number) + tail.size()) << 3 | compressed << 1 | is_last, 3);
    put(out, header == 1 ? literals << 3 : literals << 4 | (header == 2 ? 0b0100u : 0b1100u), static_cast<std::size_t>(header));
    write(out.extend(literals));
    if (number == 2) put(out, (128 + (records >> 8)) | (records & 255) << 8, 2);
    else if (number == 1) put(out, records, 1);
    out.append(tail);
}

struct Cut {
    std::size_t end, own;
};

// Where groups of records end that begin with the third one, so that they take the fewest bytes. `needs` has the own
// bytes of each step.
inline std::vector<Cut> cuts_of(std::span<const std::uint8_t> needs, std::size_t count) {
    struct Best {
        std::size_t bytes = std::numeric_limits<std::size_t>::max(), from = 0, own = 0;
    };
    std::vector<Best> best(needs.size() + 1);
    best[0].bytes = 0;
    const auto record_at = [&](std::size_t at) { return std::min(count, 2 + at * step); };
    for (std::size_t end = 1; end <= needs.size(); ++end) {
        std::size_t own = 0;
        for (auto from = end; from-- > 0 && (end - from) * step <= most_in_block;) {
            own = std::max<std::size_t>(own, needs[from]);
            const auto bytes = best[from].bytes + block_bytes + own * (record_at(end) - record_at(from));
            if (bytes < best[end].bytes) best[end] = {bytes, from, own};
        }
    }
    std::vector<Cut> cuts;
    for (auto end = needs.size(); end > 0; end = best[end].from) cuts.push_back({record_at(end), best[end].own});
    std::ranges::reverse(cuts);
    return cuts;
}

}  // namespace detail

// Writes a frame of these records; false if they do not suit this form. Then some bytes may have been written. Where
// `valid` has a 0, the record does not matter: it becomes that before it.
inline bool encode(Bytes records, const std::uint8_t* valid, Sink& out) {
    const auto count = records.size() / record_size;
    if (count < least_records || records.size() > std::numeric_limits<std::uint32_t>::max()) return false;
    std::vector<Record> filled;
    if (valid) {
        std::size_t first = 0;
        while (first < count && !valid[first]) ++first;
        if (first == count) return false;
        auto before = Record::at(records.data() + record_size * first);
        filled.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            if (valid[i]) before = Record::at(records.data() + record_size * i);
            filled.push_back(before);
        }
        records = {reinterpret_cast<const std::uint8_t*>(filled.data()), count * record_size};
    }
    const auto* const data = records.data();
    auto needs = detail::needs_of(data, count, false);
    const bool shifted = !needs;
    if (shifted) needs = detail::needs_of(data, count, true);
    if (!needs) return false;
    const auto second = needs->second, head = record_size - shifted + second;
    detail::put(out, detail::magic, 4);
    const bool is_short = records.size() <= detail::short_most;
    detail::put(out, is_short ? detail::short_descriptor : detail::long_descriptor, 1);
    detail::put(out, is_short ? records.size() - detail::short_least : records.size(), is_short ? 2 : 4);
    detail::put_block(out, false, head, 0, detail::first_tail(second, shifted).bytes, [&](std::uint8_t* to) { std::memcpy(to, data, head); });
    std::size_t first = 2;
    for (const auto& [end, own] : detail::cuts_of(needs->steps, count)) {
        const std::array<std::uint8_t, 5> tail{detail::single_codes, static_cast<std::uint8_t>(own), 0,
                                               static_cast<std::uint8_t>(most_own - own), detail::last_bit};
        const bool is_last = end == count;
        detail::put_block(out, is_last, own * (end - first) + (shifted && is_last), end - first, tail, [&](std::uint8_t* to) {
            for (auto i = first; i < end; ++i, to += own) std::memcpy(to, data + record_size * i - shifted, own);
            if (shifted && is_last) *to = records.back();
        });
        first = end;
    }
    return true;
}

}  // namespace amudai::binary::zstd_records
