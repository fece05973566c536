// The block map: where the blocks of a buffer begin and end. It is stored after the blocks and has no checksum, so
// everything that it states twice is compared. All numbers come from the file, so each is checked before it is used.
//
// A map lists its blocks in segments, and says where each segment begins. A segment is read when it is needed.
#pragma once
#include <memory>
#include <vector>

#include "base/bytes.hpp"

namespace amudai {

class BlockMap {
public:
    // Checks the footer and the list of segments. `room` is the number of bytes before the map, for blocks.
    BlockMap(Bytes payload, std::uint64_t room) : payload_(payload) {
        constexpr std::size_t least = footer_size + 2 * word;
        require_at_least("block map bytes", payload.size(), least);
        const auto footer = payload.size() - footer_size;
        values_ = load<std::uint64_t>(payload, footer);
        blocks_ = load<std::uint64_t>(payload, footer + word);
        segments_ = load<std::uint64_t>(payload, footer + 2 * word);
        segment_size_ = load<std::uint64_t>(payload, footer + 3 * word);
        bytes_ = load<std::uint64_t>(payload, footer + 4 * word);
        require_range("block map segment_count", segments_, 0, (payload.size() - least) / (segment_head + 2 * word));
        list_ = footer - 2 * word * (segments_ + 1);
        // Each block takes at least two bytes of the map.
        const auto most = std::min({values_, std::uint64_t{list_ / 2}, max_size});
        if (segments_ > blocks_ || blocks_ > most) {
            refuse("block map block_count", std::to_string(segments_) + ".." + std::to_string(most), blocks_);
        }
        if (segments_ != 0) {
            require_range("block map segment_size", segment_size_, 1, 0xFFFF);
            require_range("block map block_count", blocks_, (segments_ - 1) * segment_size_ + 1, segments_ * segment_size_);
        }
        if (bytes_ > room) refuse("block map data_size", "at most " + std::to_string(room), bytes_);
        require_equal("block map segment_record_offsets[0]", record(0), 0);
        require_equal("block map segment_record_offsets[-1]", record(segments_), list_);
        require_equal("block map segment_logical_offsets[0]", logical(0), 0);
        require_equal("block map segment_logical_offsets[-1]", logical(segments_), values_);
        for (std::size_t segment = 0; segment < segments_; ++segment) {
            if (logical(segment) >= logical(segment + 1)) {
                refuse("block map segment_logical_offsets", "an ascending sequence", logical(segment + 1));
            }
            if (record(segment) > record(segment + 1) || record(segment + 1) - record(segment) < segment_head) {
                refuse("block map segment_record_offsets", "an ascending sequence", record(segment + 1));
            }
        }
        value_ends_ = std::make_unique_for_overwrite<std::uint64_t[]>(blocks_ + 1);
        byte_ends_ = std::make_unique_for_overwrite<std::uint64_t[]>(blocks_ + 1);
        value_ends_[0] = byte_ends_[0] = 0;
        is_read_.resize(segments_);
    }

    std::uint64_t values() const { return values_; }
    std::uint64_t blocks() const { return blocks_; }

    // Where each block ends, in values and in bytes, preceded by 0: one number more than there are blocks.
    std::span<const std::uint64_t> value_ends() {
        read_all();
        return {value_ends_.get(), blocks_ + 1};
    }
    std::span<const std::uint64_t> byte_ends() {
        read_all();
        return {byte_ends_.get(), blocks_ + 1};
    }

    // A block: the values and the bytes at which it begins and ends.
    struct Place {
        std::size_t block;
        std::uint64_t value, value_end, byte, byte_end;
    };

    // The block that holds a value. The search starts at block `near`, which must not hold a later value.
    Place find(std::uint64_t value, std::size_t near = 0) {
        auto segment = near / segment_size();
        if (value >= logical(segment + 1)) {
            auto low = segment + 1, high = segments_ - 1;  // logical(low) <= value < logical(high + 1)
            while (low < high) {
                const auto middle = low + (high - low + 1) / 2;
                if (logical(middle) <= value) low = middle;
                else high = middle - 1;
            }
            segment = low;
            near = 0;
        }
        read(segment);
        const auto first = std::max(near, segment * segment_size_), last = last_of(segment);
        const auto* const begin = value_ends_.get();
        const auto* at = begin + first + 1;
        // The next blocks are tried one by one: positions usually follow each other.
        for (int i = 0; i < 4 && *at <= value; ++i) ++at;
        if (*at <= value) at = std::upper_bound(at, begin + last, value);
        return place(static_cast<std::size_t>(at - begin) - 1);
    }

    // The block after `block`, which is not the last.
    Place next(std::size_t block) {
        read((block + 1) / segment_size_);
        return place(block + 1);
    }

private:
    static constexpr std::size_t word = 8, footer_size = 5 * word, segment_head = 28;
    static constexpr std::uint64_t max_size = 0xFFFF'FFFF;

    // Never 0, so that it can be a divisor. A map without blocks has no segment size, and is never searched.
    std::uint64_t segment_size() const { return segment_size_ ? segment_size_ : 1; }
    std::size_t last_of(std::size_t segment) const { return std::min<std::size_t>(blocks_, (segment + 1) * segment_size_); }

    Place place(std::size_t block) const {
        return {block, value_ends_[block], value_ends_[block + 1], byte_ends_[block], byte_ends_[block + 1]};
    }

    void read_all() {
        for (std::size_t segment = 0; segment < segments_; ++segment) read(segment);
    }

    // Fills in where the blocks of a segment end. The segment must begin where the list of segments says, and end where
    // the next segment begins.
    void read(std::size_t segment) {
        if (is_read_[segment]) return;
        const auto first = segment * segment_size_, count = last_of(segment) - first;
        const auto start = record(segment), end = record(segment + 1);
        auto [value, byte] = fill(segment, payload_.subspan(start, end - start), count, value_ends_.get() + first + 1,
                                  byte_ends_.get() + first + 1);
        if (value != logical(segment) || (segment == 0 && byte != 0) || byte > bytes_) {
            contradict("segment " + std::to_string(segment) + ": expected to begin", logical(segment),
                       segment == 0 ? 0 : std::min(byte, bytes_), value, byte);
        }
        value_ends_[first] = value;
        byte_ends_[first] = byte;
        // The sums cannot overflow unnoticed: a segment has fewer than 2^16 blocks, each smaller than 2^32.
        for (auto block = first; block < first + count; ++block) {
            value = value_ends_[block + 1] += value;
            byte = byte_ends_[block + 1] += byte;
        }
        const auto behind = segment + 1 == segments_ ? bytes_ : load<std::uint64_t>(payload_, end + word);
        if (value != logical(segment + 1) || byte != behind) {
            const auto next = "segment " + std::to_string(segment + 1) + ": expected to begin";
            contradict(segment + 1 == segments_ ? "footer: expected the end" : next, value, byte, logical(segment + 1), behind);
        }
        is_read_[segment] = true;
    }

    std::uint64_t logical(std::size_t segment) const { return load<std::uint64_t>(payload_, list_ + word * segment); }
    std::uint64_t record(std::size_t segment) const {
        return load<std::uint64_t>(payload_, list_ + word * (segments_ + 1 + segment));
    }

    // Writes the sizes of a segment's blocks to `values` and `bytes`. Returns the value and the byte at which the
    // segment says that it begins.
    std::pair<std::uint64_t, std::uint64_t> fill(std::size_t segment, Bytes record, std::size_t count, std::uint64_t* values,
                                                 std::uint64_t* bytes) const {
        const auto name = [&] { return "block map segment " + std::to_string(segment); };
        if (record.size() < segment_head) {
            throw Corrupted(name() + ": expected at least 28 bytes, found " + std::to_string(record.size()));
        }
        const auto value_bits = record[24], byte_bits = record[25];
        const auto stated = load<std::uint16_t>(record, 26);
        if (stated != count) {
            throw Corrupted(name() + ": expected " + std::to_string(count) + " blocks, found " + std::to_string(stated));
        }
        const auto is_width = [](std::uint8_t bits) { return bits == 8 || bits == 16 || bits == 32; };
        if (!is_width(value_bits) || !is_width(byte_bits)) {
            throw Corrupted(name() + ": expected widths of 8, 16 or 32 bits, found " + std::to_string(value_bits) + " and " +
                            std::to_string(byte_bits));
        }
        const auto bytes_at = segment_head + (count * value_bits / 8 + 3) / 4 * 4;
        const auto expected = align8(bytes_at + count * byte_bits / 8);
        if (record.size() != expected) {
            throw Corrupted(name() + ": expected " + std::to_string(expected) + " bytes, found " +
                            std::to_string(record.size()));
        }
        sizes("block map logical size", record.data() + segment_head, value_bits, load<std::uint32_t>(record, 16), 1, count,
              values);
        sizes("block map block size", record.data() + bytes_at, byte_bits, load<std::uint32_t>(record, 20), 8, count, bytes);
        return {load<std::uint64_t>(record, 0), load<std::uint64_t>(record, 8)};
    }

    // Reads sizes, which are stored as distances from the smallest one.
    static void sizes(std::string_view what, const std::uint8_t* at, std::uint8_t bits, std::uint64_t smallest,
                      std::uint64_t least, std::size_t count, std::uint64_t* out) {
        switch (bits) {
            case 8: return sizes<std::uint8_t>(what, at, smallest, least, count, out);
            case 16: return sizes<std::uint16_t>(what, at, smallest, least, count, out);
            default: return sizes<std::uint32_t>(what, at, smallest, least, count, out);
        }
    }

    template <class Delta>
    static void sizes(std::string_view what, const std::uint8_t* at, std::uint64_t smallest, std::uint64_t least,
                      std::size_t count, std::uint64_t* out) {
        std::uint64_t low = std::numeric_limits<std::uint64_t>::max(), high = 0;
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = smallest + load<Delta>(at + i * sizeof(Delta));
            low = std::min(low, out[i]);
            high = std::max(high, out[i]);
        }
        if (count != 0 && low < least) refuse(what, "at least " + std::to_string(least), low);
        if (high > max_size) refuse(what, "at most " + std::to_string(max_size), high);
    }

    [[noreturn]] static void contradict(const std::string& what, std::uint64_t value, std::uint64_t byte,
                                        std::uint64_t found_value, std::uint64_t found_byte) {
        throw Corrupted("block map " + what + " at value " + std::to_string(value) + " and byte " + std::to_string(byte) +
                        ", found value " + std::to_string(found_value) + " and byte " + std::to_string(found_byte));
    }

    Bytes payload_;
    std::uint64_t values_, blocks_, segments_, segment_size_, bytes_;
    std::size_t list_;
    std::unique_ptr<std::uint64_t[]> value_ends_, byte_ends_;  // filled in for the segments that have been read
    std::vector<bool> is_read_;
};

}  // namespace amudai
