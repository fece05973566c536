// Encoder of one LZ4 block that cuts the text into the sequences that take the fewest bytes. Long matches are known for
// every byte, and the sequences are chosen from the end of the text to its beginning. Short texts get a tenth smaller
// than by a thorough search, in three times the time. They decode faster, because they have fewer sequences.
#pragma once
#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

#include "binary/lz4_search.hpp"

namespace amudai::lz4_block {

// A stretch that occurred earlier: its length from a place on, and how far before. 0 bytes: there is none.
struct Reach {
    std::uint32_t length, distance;
};

// Finds a long match for most bytes of a text. It remembers where the same four, six, eight and sixteen bytes were last
// seen: the more bytes are the same, the longer the match. Longer stretches are remembered twice. As in `Search`, places
// are guesses modulo 65536.
class ReachSearch {
public:
    // Begins to search another text.
    void begin(Bytes text) {
        text_ = text;
        shift_ = 64 - std::clamp(static_cast<unsigned>(std::bit_width(text.size())), least_bits, most_bits);
        const auto places = std::size_t{1} << (64 - shift_);
        fours_.assign(places, 0), sixes_.assign(places, 0), eights_.assign(places, 0), sixteens_.assign(places, 0);
        at_ = next_ = 0;
    }

    // The matches of the next `out.size()` places.
    void find(std::span<Reach> out) {
        const auto* const begin = text_.data();
        const auto* const end = begin + text_.size() - last_literals;
        const std::size_t matches_end = text_.size() - last_match + 1;
        // Of the next place, which lies within the match of the place before.
        Reach known{};
        for (auto& found : out) {
            const auto at = at_++;
            if (known.length > shortest) --known.length;
            else known.length = 0;
            // A few places of a long match are enough, as in `Search`.
            const bool is_known = known.length >= enough && at % stride != 0;
            if (at == 0 || at + room > text_.size() || is_known) {
                found = known = at < matches_end ? known : Reach{};
                continue;
            }
            const auto* const here = begin + at;
            const auto text = load<std::uint64_t>(here), more = load<std::uint64_t>(here + 8);
            const auto place = static_cast<std::uint16_t>(at);
            // Six calls are more than compilers take in by themselves, and each would pass all of this through memory.
            const auto take = [&](std::uint32_t guess) __attribute__((always_inline)) {
                std::size_t distance = static_cast<std::uint16_t>(place - guess);
                // A place that cannot be is replaced by one that can: a branch would be unpredictable.
                distance = distance - 1 < at ? distance : 1;
                const auto* const before = here - distance;
                const auto first = load<std::uint64_t>(before) ^ text, second = load<std::uint64_t>(before + 8) ^ more;
                std::uint32_t length = static_cast<std::uint32_t>(first ? std::countr_zero(first) : 64 + std::countr_zero(second)) / 8;
                if (length == 16 && here[known.length] == before[known.length]) {
                    length += static_cast<std::uint32_t>(same_ahead(here + 16, before + 16, end));
                }
                const bool is_longer = length > known.length;
                known.distance = is_longer ? static_cast<std::uint32_t>(distance) : known.distance;
                known.length = is_longer ? length : known.length;
            };
            const auto hash = text * spread;
            auto& sixteen = sixteens_[(hash ^ more) * spread >> shift_];
            auto& eight = eights_[hash >> shift_];
            auto& six = sixes_[(text << 16) * spread >> shift_];
            auto& four = fours_[(text << 32) * spread >> shift_];
            const auto long_guesses = std::exchange(sixteen, sixteen << 16 | place);
            const auto guesses = std::exchange(eight, eight << 16 | place);
            const auto short_guess = std::exchange(six, place), shortest_guess = std::exchange(four, place);
            if (at < next_) {
                found = known;
                continue;
            }
            take(long_guesses);
            take(long_guesses >> 16);
            take(guesses);
            take(guesses >> 16);
            if (known.length < 8) {
                take(short_guess);
                take(shortest_guess);
            }
            known.length = std::min(known.length, static_cast<std::uint32_t>(end - here));
            if (known.length < shortest) known.length = 0;
            found = known;
            next_ = at + 1 + known.length / patience;
        }
    }

    static constexpr std::uint32_t shortest = 4;

private:
    static constexpr unsigned least_bits = 8, most_bits = 15;
    static constexpr std::uint32_t enough = 16;
    static constexpr std::uint32_t patience = 3;  // in the first third of a match no longer one is looked for
    static constexpr std::size_t stride = 4;
    static constexpr std::size_t room = 24;  // sixteen bytes are compared, and the last match begins twelve before the end
    static constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;

    Bytes text_;
    unsigned shift_ = 0;
    std::vector<std::uint16_t> fours_, sixes_;
    std::vector<std::uint32_t> eights_, sixteens_;
    std::size_t at_ = 0, next_ = 0;
};

// Keeps of the matches those that make the fewest bytes, and clears the others. A match may be cut at its end, and begin
// earlier than it was found. As each takes three bytes, whatever its length and distance, the longest of a place is the
// best, or one that needs no further byte for its length. The matches are those of the places from `at` of the text on.
inline void keep_best(Bytes text, std::size_t at, std::span<Reach> matches, std::vector<std::uint32_t>& costs) {
    constexpr std::uint32_t sequence = 3, plain_most = 18;
    costs.resize(matches.size() + 1);
    const auto* const here = text.data() + at;
    // Matches and costs have the same type. Without promises, each store would make the compiler load all of them again.
    auto* const __restrict match = matches.data();
    auto* const __restrict cost = costs.data();  // what the bytes from a place on take
    std::uint32_t least = 0, behind = 0, distance = 0;  // the cost and the match of the place behind
    cost[matches.size()] = 0;
    for (std::size_t i = matches.size(); i-- > 0;) {
        auto length = match[i].length;
        if (behind && behind >= length && distance <= at + i && here[i] == *(here + i - distance)) length = behind + 1;
        else distance = match[i].distance;
        behind = length;
        const auto longest = std::min(length, static_cast<std::uint32_t>(matches.size() - i));
        length = 0;
        ++least;
        const auto consider = [&](std::uint32_t wanted, std::uint32_t bytes) {
            length = bytes < least ? wanted : length;
            least = std::min(least, bytes);
        };
        const auto first = std::min(longest, plain_most);
        consider(first, longest >= ReachSearch::shortest ? cost[i + first] + sequence : ~std::uint32_t{0});
        if (longest > plain_most) consider(longest, cost[i + longest] + sequence + 1 + (longest - plain_most - 1) / 255);
        match[i] = {length, distance};
        cost[i] = least;
    }
}

// Compresses texts, one after the other in the same memory: fresh memory would take as long as a fifth of the search.
class FullCompressor {
public:
    // Compresses `text` and returns the encoded size. `out` must have room for `encoded_most` bytes.
    std::size_t compress(Bytes text, std::uint8_t* out) {
        SequenceWriter sequences(text, out);
        if (text.size() > last_match) {
            search_.begin(text);
            matches_.resize(std::max(matches_.size(), std::min(window, text.size())));
            for (std::size_t from = 0; from < text.size(); from += window) {
                const auto found = std::span(matches_).first(std::min(window, text.size() - from));
                search_.find(found);
                keep_best(text, from, found, costs_);
                for (std::size_t i = 0; i < found.size(); i += std::max<std::size_t>(found[i].length, 1)) {
                    if (found[i].length) sequences.put(text.data() + from + i, found[i].length, found[i].distance);
                }
            }
        }
        sequences.literals(text.data() + text.size());
        return static_cast<std::size_t>(sequences.out() - out);
    }

private:
    static constexpr std::size_t window = std::size_t{1} << 18;  // the best sequences are found for so many bytes at a time

    ReachSearch search_;
    std::vector<Reach> matches_;
    std::vector<std::uint32_t> costs_;
};

// How much time the search for matches may take.
enum class Effort { quick, thorough, full };

template <Effort effort>
struct Compressor {
    std::size_t compress(Bytes text, std::uint8_t* out) { return lz4_block::compress<effort == Effort::thorough>(text, out); }
};

template <>
struct Compressor<Effort::full> : FullCompressor {};

// Calls `use<effort>()` for the effort with this number.
template <class Use>
decltype(auto) with_effort(unsigned number, Use&& use) {
    switch (number) {
        case 0: return use.template operator()<Effort::quick>();
        case 1: return use.template operator()<Effort::thorough>();
        case 2: return use.template operator()<Effort::full>();
        default: throw std::invalid_argument("effort: expected at most 2, found " + std::to_string(number));
    }
}

}  // namespace amudai::lz4_block
