// How many bytes a stretch of FSST codes decodes to, without a look at each code. The codes of a table whose symbols are
// ordered by length are as long as the first one, and a byte longer or so from each of a few codes on. How many codes
// there are from such a code on is counted for 64 codes at a time.
#pragma once
#include <algorithm>
#include <array>

#include "binary/fsst_symbols.hpp"
#include "bits/byte_chunk.hpp"

namespace amudai::binary::fsst {

class LengthSteps {
public:
    static constexpr std::size_t codes = bits::ByteChunk::size;

    explicit LengthSteps(Bytes lengths) : symbols_(static_cast<std::uint8_t>(lengths.size())) {
        if (lengths.empty() || !bits::ByteChunk::is_quick) return;
        first_ = lengths[0];
        for (std::size_t code = 1; code < lengths.size(); ++code) {
            if (lengths[code] == lengths[code - 1]) continue;
            if (count_ == most) return;
            steps_[count_++] = {static_cast<std::uint8_t>(code), lengths[code] - lengths[code - 1]};
        }
        usable_ = true;
    }

    // Whether the lengths change so seldom that counting takes less time than looking each of them up.
    bool is_usable() const { return usable_; }

    struct Stretch {
        std::size_t codes, bytes;
    };

    // Whole codes of the next 64 bytes of a stream, and the bytes that they decode to. There are no codes if they need a
    // closer look: one is wrong, or a byte behind an escape looks like another escape.
    Stretch of(const std::uint8_t* stream) const {
        const bits::ByteChunk chunk(stream);
        const auto escapes = chunk.equal(escape);
        const auto escaped = escapes << 1;
        if (escapes & escaped) return {};
        // The last byte may be an escape, whose byte is the first of the next ones.
        const auto count = codes - (escapes >> (codes - 1));
        const auto symbols = ~(escapes | escaped);
        if (symbols_ < escape && (chunk.at_least(symbols_) & symbols)) return {};
        auto bytes = std::popcount(symbols) * first_ + std::popcount(escaped);
        for (std::size_t i = 0; i < count_; ++i) bytes += std::popcount(chunk.at_least(steps_[i].from) & symbols) * steps_[i].more;
        return {count, static_cast<std::size_t>(bytes)};
    }

private:
    static constexpr std::size_t most = 12;

    struct Step {
        std::uint8_t from;
        int more;
    };

    std::array<Step, most> steps_{};
    std::size_t count_ = 0;
    int first_ = 0;
    std::uint8_t symbols_;
    bool usable_ = false;
};

}  // namespace amudai::binary::fsst
