// Numbers of few bits, one after the other without gaps, lowest bit first.
#pragma once
#include "base/sink.hpp"

namespace amudai::bits {

constexpr std::size_t sequence_bytes(std::size_t count, unsigned width) { return (count * width + 7) / 8; }

// The `width` bits from bit `at` on, at most 64. The caller has checked that `data` has them.
inline std::uint64_t bits_at(Bytes data, std::size_t at, unsigned width) {
    if (width == 0) return 0;
    const auto first = at / 8;
    const auto shift = static_cast<unsigned>(at % 8);
    std::uint64_t low = 0, high = 0;
    if (data.size() - first >= 9) [[likely]] {
        low = load<std::uint64_t>(data, first);
        high = data[first + 8];
    } else {
        for (std::size_t i = 0; first + i < data.size(); ++i) {
            if (i < 8) low |= std::uint64_t{data[first + i]} << 8 * i;
            else high = data[first + i];
        }
    }
    const auto found = low >> shift | (shift ? high << (64 - shift) : 0);
    return width == 64 ? found : found & ((std::uint64_t{1} << width) - 1);
}

// Appends numbers to a sink. `finish` writes the last bits, with zeros behind them.
class SequenceSink {
public:
    explicit SequenceSink(Sink& out) : out_(out) {}

    // `number` has at most `width` bits, and `width` is at most 64.
    void put(std::uint64_t number, unsigned width) {
        pending_ |= used_ < 64 ? number << used_ : 0;
        if (used_ + width < 64) {
            used_ += width;
            return;
        }
        const auto done = 64 - used_;
        out_.put<std::uint64_t>(pending_);
        pending_ = done < 64 ? number >> done : 0;
        used_ = used_ + width - 64;
    }
    void finish() {
        for (; used_; used_ -= std::min(used_, 8u), pending_ >>= 8) out_.put<std::uint8_t>(static_cast<std::uint8_t>(pending_));
    }

private:
    Sink& out_;
    std::uint64_t pending_ = 0;
    unsigned used_ = 0;
};

}  // namespace amudai::bits
