// Encoder of one LZ4 block without a frame. Its thorough search for matches compresses as well as a hash chain of four
// steps and is twice as fast. Its quick search takes two thirds of that time: the size of logs grows by one percent, that
// of short texts by four.
#pragma once
#include <array>
#include <bit>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.hpp"

namespace amudai::lz4_block {

// The room that any input fits into. A run of literals costs one more byte for every 255 of them. Short runs of
// literals are copied 16 bytes at a time, which may write beyond their end.
constexpr std::size_t encoded_most(std::size_t decoded) { return decoded + decoded / 255 + 32; }

// A stretch of text that occurred earlier.
struct Match {
    const std::uint8_t* at;
    std::size_t length;
    std::size_t distance;  // 0 if there is no match
};

// The number of equal bytes from `a` and from `b` on. Stops where `a` reaches `end`.
inline std::size_t same_ahead(const std::uint8_t* a, const std::uint8_t* b, const std::uint8_t* end) {
    const auto* const start = a;
    for (; end - a >= 8; a += 8, b += 8) {
        const auto difference = load<std::uint64_t>(a) ^ load<std::uint64_t>(b);
        if (difference) return static_cast<std::size_t>(a - start) + static_cast<std::size_t>(std::countr_zero(difference)) / 8;
    }
    while (a < end && *a == *b) ++a, ++b;
    return static_cast<std::size_t>(a - start);
}

// The number of equal bytes before `a` and before `b`, at most `room`.
inline std::size_t same_behind(const std::uint8_t* a, const std::uint8_t* b, std::size_t room) {
    std::size_t count = 0;
    for (; room - count >= 8; count += 8, a -= 8, b -= 8) {
        const auto difference = load<std::uint64_t>(a - 8) ^ load<std::uint64_t>(b - 8);
        if (difference) return count + static_cast<std::size_t>(std::countl_zero(difference)) / 8;
    }
    while (count < room && a[-1] == b[-1]) --a, --b, ++count;
    return count;
}

// Remembers where stretches of eight and of four bytes were last seen. Places are kept modulo 65536, which is as far as
// a match may reach. A place is only a guess, so the bytes are compared before a match is accepted. A thorough search
// remembers several places of the same eight bytes.
template <bool thorough>
class Search {
public:
    Search(const std::uint8_t* begin, const std::uint8_t* end) : begin_(begin), end_(end) {}

    // The same memory for other text, which begins with the bytes that were noted so far.
    Search(const Search& other, const std::uint8_t* begin, const std::uint8_t* end) : Search(other) {
        begin_ = begin, end_ = end;
    }

    void note(const std::uint8_t* at) {
        const auto text = load<std::uint64_t>(at);
        const auto place = place_of(at);
        fours_[four(text)] = place;
        auto& places = eights_[eight(text)];
        places = with(places, place);
    }

    // Finds the longest match that covers `at`, begins at `floor` or later and is longer than `most`. Also notes `at`. A
    // match of the distance `known` is no longer than `most`.
    Match longest(const std::uint8_t* at, const std::uint8_t* floor, std::size_t most, std::size_t known = 0) {
        const auto text = load<std::uint64_t>(at);
        const auto place = place_of(at);
        const auto recent = std::exchange(fours_[four(text)], place);
        auto& places = eights_[eight(text)];
        std::uint64_t guesses = std::exchange(places, with(places, place));
        Match best{at, most, 0};
        bool found = false;
        for (int i = 0; i < depth; ++i, guesses >>= 16) {
            const auto* const before = earlier(at, static_cast<std::uint16_t>(guesses));
            if (!before || load<std::uint64_t>(before) != text) continue;
            found = true;
            if (static_cast<std::size_t>(at - before) == known) continue;
            take(best, at, before, floor, 8 + same_ahead(at + 8, before + 8, end_));
        }
        if (found) return best;
        const auto* const before = earlier(at, recent);
        if (!before) return best;
        const auto difference = load<std::uint64_t>(before) ^ text;
        if (static_cast<std::uint32_t>(difference) || static_cast<std::size_t>(at - before) == known) return best;
        take(best, at, before, floor,
             difference ? static_cast<std::size_t>(std::countr_zero(difference)) / 8 : 8 + same_ahead(at + 8, before + 8, end_));
        return best;
    }

private:
    using Places = std::conditional_t<thorough, std::uint64_t, std::uint16_t>;
    static constexpr unsigned bits = thorough ? 14 : 15;
    // Of the four places in a word: looking at the last one costs more than it gains.
    static constexpr int depth = thorough ? 3 : 1;
    static constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;

    static std::size_t four(std::uint64_t text) { return (text << 32) * spread >> (64 - bits); }
    static std::size_t eight(std::uint64_t text) { return text * spread >> (64 - bits); }

    static Places with(Places places, std::uint16_t place) {
        return static_cast<Places>(std::uint64_t{places} << 16 | place);
    }
    std::uint16_t place_of(const std::uint8_t* at) const { return static_cast<std::uint16_t>(at - begin_); }
    const std::uint8_t* earlier(const std::uint8_t* at, std::uint16_t place) const {
        const std::size_t distance = static_cast<std::uint16_t>(place_of(at) - place);
        return distance - 1 < static_cast<std::size_t>(at - begin_) ? at - distance : nullptr;
    }
    void take(Match& best, const std::uint8_t* at, const std::uint8_t* before, const std::uint8_t* floor, std::size_t ahead) const {
        const auto room = static_cast<std::size_t>(std::min(at - floor, before - begin_));
        const auto behind = before - begin_ < 8 ? same_behind(at, before, room) : behind_within(at, before, room);
        const auto length = behind + std::min(ahead, static_cast<std::size_t>(end_ - at));
        if (length > best.length) best = {at - behind, length, static_cast<std::size_t>(at - before)};
    }

    // As `same_behind`, with eight bytes before both that can be read whatever the room is: mostly one comparison decides.
    static std::size_t behind_within(const std::uint8_t* at, const std::uint8_t* before, std::size_t room) {
        const auto difference = load<std::uint64_t>(at - 8) ^ load<std::uint64_t>(before - 8);
        const auto count = std::min(room, static_cast<std::size_t>(std::countl_zero(difference)) / 8);
        return count < 8 ? count : 8 + same_behind(at - 8, before - 8, room - 8);
    }

    const std::uint8_t* begin_;
    const std::uint8_t* end_;  // the end of the bytes that a match may cover
    std::array<std::uint16_t, 1 << bits> fours_{};
    std::array<Places, 1 << bits> eights_{};
};

// Writes sequences: literals, then a match.
class SequenceWriter {
public:
    SequenceWriter(Bytes text, std::uint8_t* out) : done_(text.data()), end_(text.data() + text.size()), out_(out) {}

    const std::uint8_t* done() const { return done_; }
    const std::uint8_t* out() const { return out_; }

    void put(const std::uint8_t* at, std::size_t length, std::size_t distance) {
        auto* const token = out_;
        literals(at);
        store(out_, static_cast<std::uint16_t>(distance));
        out_ += 2;
        *token |= static_cast<std::uint8_t>(std::min<std::size_t>(length - 4, 15));
        if (length - 4 >= 15) rest(length - 4 - 15);
        done_ = at + length;
    }
    // Writes the bytes before `at` that no match covers as literals.
    void literals(const std::uint8_t* at) {
        const auto count = static_cast<std::size_t>(at - done_);
        *out_++ = static_cast<std::uint8_t>(std::min<std::size_t>(count, 15) << 4);
        if (count >= 15) rest(count - 15);
        if (count <= 16 && end_ - done_ >= 16) std::memcpy(out_, done_, 16);
        else std::memcpy(out_, done_, count);
        out_ += count;
        done_ = at;
    }

private:
    void rest(std::size_t length) {
        for (; length >= 255; length -= 255) *out_++ = 255;
        *out_++ = static_cast<std::uint8_t>(length);
    }

    const std::uint8_t* done_;
    const std::uint8_t* end_;
    std::uint8_t* out_;
};

// The format requires the last match to begin at least 12 bytes before the end, and the last five bytes to be literals.
inline constexpr std::size_t last_match = 12, last_literals = 5;

// Compresses `text` and returns the encoded size. `out` must have room for `encoded_most` bytes. `search` remembers what
// stands before the text; null if the text is so short that it has no matches.
template <bool thorough>
std::size_t compress(Bytes text, Search<thorough>* search, std::uint8_t* out) {
    constexpr std::size_t shortest = 4;
    constexpr std::size_t stride = 8;   // within a match only every eighth place is noted: more do not help
    constexpr std::size_t overlap = 3;  // a longer match is searched for this many bytes before the end of a match
    constexpr unsigned patience = 6;    // skip text without matches ever faster: the step grows by one every 2^6 misses
    SequenceWriter sequences(text, out);
    const auto* const end = text.data() + text.size();
    if (search) {
        const auto* const last = end - last_match;
        std::size_t misses = 0;
        for (const auto* at = text.data(); at <= last;) {
            auto match = search->longest(at, sequences.done(), shortest - 1);
            if (match.distance == 0) {
                at += 1 + (misses++ >> patience);
                continue;
            }
            misses = 0;
            for (const auto* next = at + 1;;) {
                const auto* const near_end = match.at + match.length - overlap;
                if (near_end > last || near_end < next) break;
                for (; next < near_end; next += stride) search->note(next);
                const auto longer = search->longest(near_end, match.at, match.length, match.distance);
                next = near_end + 1;
                if (longer.distance == 0) break;
                // The part of the shorter match before the longer one becomes a sequence of its own or, if it is too
                // short, literals.
                const auto left = static_cast<std::size_t>(longer.at - match.at);
                if (left >= shortest) sequences.put(match.at, left, match.distance);
                match = longer;
            }
            sequences.put(match.at, match.length, match.distance);
            at = sequences.done();
        }
    }
    sequences.literals(end);
    return static_cast<std::size_t>(sequences.out() - out);
}

// The same for text with nothing before it.
template <bool thorough>
std::size_t compress(Bytes text, std::uint8_t* out) {
    if (text.size() <= last_match) return compress<thorough>(text, nullptr, out);
    const auto search = std::make_unique<Search<thorough>>(text.data(), text.data() + text.size() - last_literals);
    return compress<thorough>(text, search.get(), out);
}

// Compresses texts as if a dictionary stood before each of them.
class DictionarySearch {
public:
    explicit DictionarySearch(Bytes dictionary)
        : dictionary_(dictionary.begin(), dictionary.end()),
          known_(std::make_unique<Search<true>>(dictionary_.data(), dictionary_.data() + dictionary_.size())) {
        for (std::size_t at = 0; at + 8 <= dictionary_.size(); ++at) known_->note(dictionary_.data() + at);
    }

    // `out` must have room for `encoded_most` bytes.
    std::size_t compress(Bytes text, std::uint8_t* out) const {
        if (text.size() <= last_match) return lz4_block::compress<true>(text, out);
        // Matches are compared with the bytes before them, so the dictionary stands before the text.
        const auto size = dictionary_.size() + text.size();
        const auto whole = std::make_unique_for_overwrite<std::uint8_t[]>(size);
        std::ranges::copy(dictionary_, whole.get());
        std::ranges::copy(text, whole.get() + dictionary_.size());
        const auto search = std::make_unique<Search<true>>(*known_, whole.get(), whole.get() + size - last_literals);
        return lz4_block::compress<true>({whole.get() + dictionary_.size(), text.size()}, search.get(), out);
    }

private:
    std::vector<std::uint8_t> dictionary_;
    std::unique_ptr<Search<true>> known_;
};

}  // namespace amudai::lz4_block
