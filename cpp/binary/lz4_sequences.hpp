// Reading a few bytes of an LZ4 block without decoding the bytes before them. The sequences are walked without copying
// anything. The wanted bytes are then traced back through the matches to the literals they come from.
#pragma once
#include "base/context.hpp"
#include "binary/lz4_block.hpp"

namespace amudai::lz4_block {

// The sequences of a block up to some decoded byte. Damage up to there that `decode` would refuse is refused as well.
class Sequences {
public:
    // Walks the sequences of the first `end` decoded bytes. `whole` means the same as in `decode`.
    Sequences(Bytes block, std::size_t end, bool whole, Arena& arena)
        : block_(block),
          end_(end),
          begins_(arena.take<std::uint32_t>(most(block.size()))),
          tokens_(arena.take<std::uint32_t>(most(block.size()))),
          lasts_(arena.take<std::uint32_t>(end / bucket + 1)) {
        std::ranges::fill(lasts_, 0);
        const std::uint8_t* in = block.data();
        const std::uint8_t* const in_end = in + block.size();
        std::size_t at = 0;
        do {
            walk_common(in, in_end, at);
        } while (walk_careful(in, in_end, at, whole));
    }

    // Copies the decoded bytes from `from` on, all of which lie before `end`. Subtracts the steps it takes from
    // `steps`. Returns false if it needs more steps or too many nested matches: then inflating is faster.
    bool copy(std::size_t from, MutableBytes out, std::size_t& steps) const {
        struct WantedBytes {
            std::size_t from, size;
            std::uint8_t* to;
            std::size_t hint;  // the sequence in which these bytes probably begin

            void advance(std::size_t bytes) { from += bytes, size -= bytes, to += bytes; }
        };
        WantedBytes waiting[32];
        std::size_t depth = 0;
        WantedBytes piece{from, out.size(), out.data(), 0};
        for (;;) {
            if (piece.size == 0) {
                if (depth == 0) return true;
                piece = waiting[--depth];
            }
            if (steps == 0) return false;
            --steps;
            const auto i = find(piece.from, piece.hint);
            const auto* literals = block_.data() + tokens_[i];
            std::size_t size = *literals++ >> 4;
            if (size == 15) size = detail::extended(literals, block_.data() + block_.size(), size);
            const std::size_t begin = begins_[i], next = end_of(i), match = std::min(begin + size, next);
            piece.hint = i;
            if (piece.from < match) {
                const auto here = std::min(piece.size, match - piece.from);
                std::memcpy(piece.to, literals + (piece.from - begin), here);
                piece.advance(here);
                continue;
            }
            // A match longer than its distance repeats its first bytes. No byte is looked up inside the match itself.
            const std::size_t distance = load<std::uint16_t>(literals + size);
            const auto into = piece.from - match < distance ? piece.from - match : (piece.from - match) % distance;
            const auto here = std::min({piece.size, next - piece.from, distance - into});
            const WantedBytes source{match - distance + into, here, piece.to, i};
            piece.advance(here);
            if (piece.size) {
                if (depth == std::size(waiting)) return false;
                waiting[depth++] = piece;
            }
            piece = source;
        }
    }

private:
    static constexpr std::size_t bucket = 64;

    // The most sequences that `encoded` bytes can hold: each has a token and a distance, except the last, which has no
    // distance.
    static constexpr std::size_t most(std::size_t encoded) { return encoded / 3 + 1; }

    // Walks sequences whose lengths take at most one extra byte, and that end before the block and before the wanted
    // bytes. Leaves everything else, including damage, to `walk_careful`.
    void walk_common(const std::uint8_t*& in, const std::uint8_t* in_end, std::size_t& at) {
        constexpr std::ptrdiff_t room = 1 + 14 + 2 + 1;  // a token, literals, a distance, a length
        const auto end = end_;
        auto* const begins = begins_.data();
        auto* const tokens = tokens_.data();
        auto* const lasts = lasts_.data();
        const auto* from = in;
        auto begin = at, count = count_;
        while (in_end - from >= room) {
            const unsigned token = *from;
            std::size_t literals = token >> 4;
            // A match length of 15 is followed by another byte of the length. The addition carries it over into the
            // number of literals. Every step waits for `following`, and a branch on the length would be unpredictable.
            const auto* following = from + 3;
            following += (token + 1) >> 4;
            const unsigned is_long = ((token + 1) >> 4) - (token >> 4);
            const auto* behind = from + 1 + literals;
            if (literals == 15) {
                const std::size_t more = from[1];
                if (more == 255 || static_cast<std::size_t>(in_end - behind) < more + 4) break;
                literals += more, behind += 1 + more, following += 1 + more;
            }
            const std::size_t distance = load<std::uint16_t>(behind);
            const unsigned more = behind[2] & (0 - is_long);
            const auto match = begin + literals, next = match + (token & 15) + 4 + more;
            if (more == 255 || next >= end || distance - 1 >= match) break;
            begins[count] = static_cast<std::uint32_t>(begin);
            tokens[count] = static_cast<std::uint32_t>(from - block_.data());
            lasts[begin / bucket] = static_cast<std::uint32_t>(++count);
            from = following;
            begin = next;
        }
        in = from, at = begin, count_ = count;
    }

    // Walks one sequence of any kind. Returns whether there is more to walk.
    bool walk_careful(const std::uint8_t*& in, const std::uint8_t* in_end, std::size_t& at, bool whole) {
        if (in == in_end) throw Corrupted("lz4 block: ends before its values do");
        const auto token_at = static_cast<std::uint32_t>(in - block_.data());
        const unsigned token = *in++;
        std::size_t literals = token >> 4;
        if (literals == 15) literals = detail::extended(in, in_end, literals);
        if (literals > static_cast<std::size_t>(in_end - in)) throw Corrupted("lz4 block: ends inside literals");
        if (literals > end_ - at && whole) throw Corrupted("lz4 block: more literals than its values need");
        const auto match = at + std::min(literals, end_ - at);
        begins_[count_] = static_cast<std::uint32_t>(at);
        tokens_[count_] = token_at;
        lasts_[at / bucket] = static_cast<std::uint32_t>(++count_);
        if (literals > end_ - at) return false;
        in += literals;
        if (match == end_) {
            if (whole && in != in_end) throw Corrupted("lz4 block: goes on behind its values");
            return false;
        }
        if (in_end - in < 2) throw Corrupted("lz4 block: ends before its values do");
        const std::size_t distance = load<std::uint16_t>(in);
        in += 2;
        if (distance == 0 || distance > match) refuse("lz4 match distance", "1.." + std::to_string(match), distance);
        std::size_t length = (token & 15) + 4;
        if (length == 19) length = detail::extended(in, in_end, length);
        if (length > end_ - match) {
            if (whole) throw Corrupted("lz4 block: longer match than its values need");
            length = end_ - match;
        }
        at = match + length;
        return at != end_ || whole;
    }

    std::size_t end_of(std::size_t i) const { return i + 1 < count_ ? begins_[i + 1] : end_; }

    // The sequence that holds a decoded byte: `hint`, the sequence after it, or else one that is looked up.
    std::size_t find(std::size_t at, std::size_t hint) const {
        if (begins_[hint] <= at) {
            if (at < end_of(hint)) return hint;
            if (hint + 1 < count_ && at < end_of(hint + 1)) return hint + 1;
        }
        auto place = at / bucket;
        while (lasts_[place] == 0) --place;  // the first sequence begins in the first bucket
        std::size_t i = lasts_[place] - 1;
        while (begins_[i] > at) --i;
        return i;
    }

    Bytes block_;
    std::size_t end_;
    std::span<std::uint32_t> begins_;  // the first decoded byte of each sequence
    std::span<std::uint32_t> tokens_;  // where the token of each sequence is in the block
    std::span<std::uint32_t> lasts_;  // for each bucket of decoded bytes: 1 + the last sequence that begins there, or 0
    std::size_t count_ = 0;
};

}  // namespace amudai::lz4_block
