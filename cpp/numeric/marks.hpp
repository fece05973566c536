// Where bits are set in blocks of bits, found without writing the bits: most marks are far apart, in long runs of zeros.
#pragma once
#include "base/grown.hpp"
#include "bits/ranges.hpp"
#include "numeric/run.hpp"

namespace amudai::numeric {

// Collects the stretches of set bits of consecutive pieces of a bitmap. A stretch may continue in the next piece.
class MarkedRanges {
public:
    // Only the first `count` bits count. There may be at most `most` ranges.
    MarkedRanges(std::uint64_t count, std::size_t most) : count_(count), most_(most) {}

    Grown<std::uint64_t> starts, ends;

    bool are_too_many() const { return ends.size() > most_; }

    // The next byte, repeated.
    void add(std::uint8_t byte, std::uint64_t times) {
        if (byte == 0) {
            if (is_inside_) turn(at_);
        } else if (byte == 0xff) {
            if (!is_inside_) turn(at_);
        } else {
            for (; times > 0 && at_ < count_ && !are_too_many(); --times) add_bits(byte), at_ += 8;
        }
        at_ += 8 * times;
    }

    void add(std::span<const std::uint8_t> bytes) {
        for (std::size_t i = 0; i < bytes.size() && !are_too_many(); ++i) {
            const auto first = bits::skip_empty(bytes.data(), 0, is_inside_ ? 0 : 8 * bytes.size(), 8 * i) / 8;
            at_ += 8 * (first - i);
            i = first;
            if (i < bytes.size()) add(bytes[i], 1);
        }
    }

    // Ends the last stretch.
    void finish() {
        if (is_inside_) turn(at_);
        // What follows the last bit in its byte means nothing.
        while (starts.size() && starts.back() >= count_) starts.pop_back(), ends.pop_back();
        if (ends.size()) ends.back() = std::min(ends.back(), count_);
    }

private:
    void add_bits(std::uint8_t byte) {
        // Bits that differ from the bit before them: a stretch begins or ends there.
        const unsigned value = byte;
        for (auto turns = (value ^ (value << 1 | unsigned{is_inside_})) & 0xff; turns; turns &= turns - 1) {
            turn(at_ + static_cast<std::uint64_t>(std::countr_zero(turns)));
        }
    }

    void turn(std::uint64_t here) {
        if (is_inside_) ends.push_back(here);
        else starts.push_back(here);
        is_inside_ = !is_inside_;
    }

    std::uint64_t count_;
    std::size_t most_;
    std::uint64_t at_ = 0;
    bool is_inside_ = false;
};

// Finds the set bits in all blocks, which hold bytes. Stops when there are more ranges than `found` may have.
inline void find_marks(std::span<const Block> blocks, const Inflated& inflated, MarkedRanges& found) {
    Arena arena;
    for (const auto& block : blocks) {
        if (found.are_too_many()) return;
        at_block(block.ordinal, [&] {
            arena.reset(block.values);
            Context context{inflated, arena, block.begin};
            require_all_present(block, arena);
            if (block.count && code_of(block.values) == run_length::code) {
                const auto layout = run_length::layout(block.values, block.count);
                const auto lengths = run_length::lengths_of(block.values, layout, block.count, context);
                const auto values = decode_all<std::uint8_t>("run_length values", layout.values_nested, layout.values, layout.runs, context);
                for (std::size_t i = 0; i < layout.runs; ++i) found.add(values[i], lengths[i]);
                return;
            }
            const auto bytes = arena.take<std::uint8_t>(block.count);
            decode_section<std::uint8_t>(block.values, block.count, 0, bytes, context);
            found.add(bytes);
        });
    }
    found.finish();
}

}  // namespace amudai::numeric
