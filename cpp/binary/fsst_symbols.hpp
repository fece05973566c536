// FSST's symbol table: how it is trained on a sample of the text, and how the longest match is found. Method: Boncz,
// Neumann, Leis, "FSST: Fast Random Access String Compression" (2020). Bytes: docs/format/binary.md.
#pragma once
#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.hpp"

namespace amudai::binary::fsst {

inline constexpr std::uint8_t escape = 255;
inline constexpr std::size_t max_symbols = 255;
inline constexpr std::size_t max_length = 8;

// The first byte of the symbol is the lowest byte of `bytes`; bytes after `length` are zero. A symbol may end in zero
// bytes.
struct Symbol {
    std::uint64_t bytes = 0;
    unsigned length = 0;

    bool operator==(const Symbol&) const = default;
    Symbol operator+(const Symbol& next) const { return {bytes | next.bytes << 8 * length, length + next.length}; }
};

// A match: the code to write, the number of bytes of text it stands for, and whether it is an escape, after which the
// byte of the text itself follows.
struct Match {
    std::uint16_t packed;

    static Match of(unsigned code, unsigned length) { return {static_cast<std::uint16_t>(code | length << 8)}; }
    static Match escaped() { return {static_cast<std::uint16_t>(escape | 1u << 8 | 1u << 12)}; }
    std::uint8_t code() const { return static_cast<std::uint8_t>(packed); }
    unsigned length() const { return packed >> 8 & 15; }
    unsigned is_escape() const { return packed >> 12; }
};

// Finds the longest symbol at a place of the text. One probe is enough: each slot holds at most one symbol of three or
// more bytes, and shorter symbols have their own table.
class Matcher {
public:
    explicit Matcher(std::span<const Symbol> symbols = {}) { assign(symbols); }

    void assign(std::span<const Symbol> symbols) {
        single_.fill(Match::escaped());
        for (std::size_t slot = 0; slot < slots; ++slot) free(slot);
        for (std::size_t code = 0; code < symbols.size(); ++code) {
            if (symbols[code].length == 1) single_[symbols[code].bytes] = Match::of(unsigned(code), 1);
        }
        // The second byte of the text is the higher half of the index. Without a symbol of two bytes, the entry depends
        // on the first byte only.
        std::ranges::copy(single_, short_.begin());
        for (std::size_t filled = 256; filled < short_.size(); filled *= 2) {
            std::memcpy(short_.data() + filled, short_.data(), filled * sizeof(Match));
        }
        for (std::size_t code = 0; code < symbols.size(); ++code) {
            const auto& symbol = symbols[code];
            const auto match = Match::of(unsigned(code), symbol.length);
            if (symbol.length == 2) short_[symbol.bytes] = match;
            if (symbol.length > 2) long_[slot_of(symbol.bytes)] = {symbol.bytes, 64 - 8 * symbol.length, match};
        }
    }

    // `text` must be eight bytes of text.
    Match longest(std::uint64_t text) const {
        const auto& found = long_[slot_of(text)];
        const unsigned shorter = short_[text & 0xffff].packed;
        // Which of the two matches is unpredictable, so choose by a mask instead of a branch.
        const auto hit = 0u - unsigned{(text & ~std::uint64_t{0} >> found.ignored) == found.bytes};
        return {static_cast<std::uint16_t>(shorter ^ ((shorter ^ found.match.packed) & hit))};
    }
    // For text that has only `room` bytes left, 1..8. The rest of `text` is zero.
    Match longest(std::uint64_t text, std::size_t room) const {
        if (const auto match = longest(text); match.length() <= room) return match;
        return shorter(text, room);
    }
    // Like `longest`, but without symbols of three or more bytes.
    Match shorter(std::uint64_t text, std::size_t room) const { return room >= 2 ? short_[text & 0xffff] : single_[text & 0xff]; }
    Match single(std::uint64_t text) const { return single_[text & 0xff]; }

    static constexpr std::size_t slots = 2048;
    static std::size_t slot_of(std::uint64_t text) {
        return static_cast<std::uint32_t>((text & 0xffffff) * 2971215073u) >> 21;
    }

private:
    struct Long {
        std::uint64_t bytes;
        std::uint32_t ignored;  // bits of the text after the symbol
        Match match;
    };
    // A free slot holds eight bytes that hash to a different slot, so it never matches.
    void free(std::size_t slot) { long_[slot] = {slot == slot_of(0), 0, Match::escaped()}; }

    std::array<Match, 256> single_;
    std::array<Match, 65536> short_;
    std::array<Long, slots> long_;
};

// A sample of the text: up to 32 pieces of 512 bytes, each followed by eight more bytes that a match may read.
class Sample {
public:
    static constexpr std::size_t piece_size = 512;
    static constexpr std::size_t max_pieces = 32;

    struct Piece {
        const std::uint8_t* begin;
        const std::uint8_t* end;
    };

    explicit Sample(Bytes text) : count_(std::min(max_pieces, (text.size() + piece_size - 1) / piece_size)) {
        const auto share = text.size() <= max_pieces * piece_size ? 0 : (text.size() - piece_size) / max_pieces;
        std::uint64_t dice = 4637947;
        std::array<Piece, max_pieces> pieces{};
        for (std::size_t i = 0; i < count_; ++i) {
            // In a long text, a piece begins at a random place of its share. Evenly spaced pieces could be in step with
            // records of a fixed size.
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            const auto start = share ? i * share + (dice >> 33) % (share + 1) : i * piece_size;
            auto* const at = bytes_.data() + i * stride;
            std::memcpy(at, text.data() + start, std::min(stride, text.size() - start));
            pieces[i] = {at, at + std::min(piece_size, text.size() - start)};
            size_ += static_cast<std::size_t>(pieces[i].end - at);
        }
        // Early generations see only the first few pieces. In bit-reversed order, these are spread over the whole text.
        std::size_t next = 0;
        for (std::size_t i = 0; i < max_pieces; ++i) {
            const auto reversed = (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
            if (reversed < count_) pieces_[next++] = pieces[reversed];
        }
    }

    // The pieces for a generation that sees `share` / 128 of the sample.
    std::span<const Piece> pieces(std::size_t share) const { return {pieces_.data(), (count_ * share + 127) / 128}; }
    std::size_t size() const { return size_; }

private:
    static constexpr std::size_t stride = piece_size + max_length;

    std::array<std::uint8_t, max_pieces * stride> bytes_{};
    std::array<Piece, max_pieces> pieces_{};
    std::size_t count_;
    std::size_t size_ = 0;
};

// Codes during training: 0..255 for a byte without a symbol, then the symbols. The last code marks the start of a
// piece.
inline constexpr std::size_t training_codes = 512;
inline constexpr unsigned none = training_codes - 1;

// Calls `step` repeatedly until it has walked through all pieces. Four pieces are walked at a time, since each step has
// to wait for the previous step in its piece.
template <class Step>
void walk(std::span<const Sample::Piece> pieces, Step&& step) {
    struct Lane {
        const std::uint8_t* at;
        const std::uint8_t* end;
        unsigned previous;
    };
    while (!pieces.empty()) {
        const auto count = std::min<std::size_t>(4, pieces.size());
        std::array<Lane, 4> lanes{};
        for (std::size_t i = 0; i < count; ++i) lanes[i] = {pieces[i].begin, pieces[i].end, none};
        const auto going = [](const Lane& lane) { return lane.at < lane.end; };
        while (going(lanes[0]) && going(lanes[1]) && going(lanes[2]) && going(lanes[3])) {
            step(lanes[0].at, lanes[0].previous), step(lanes[1].at, lanes[1].previous);
            step(lanes[2].at, lanes[2].previous), step(lanes[3].at, lanes[3].previous);
        }
        for (auto& lane : lanes) {
            while (going(lane)) step(lane.at, lane.previous);
        }
        pieces = pieces.subspan(count);
    }
}

// Trains five generations of tables. Each generation counts which symbols of the previous one follow each other, and
// keeps the best 255 of these symbols and their concatenations.
class Training {
public:
    explicit Training(Bytes text) : sample_(text) {}

    std::vector<Symbol> run(std::size_t text_size) {
        for (const std::size_t share : {8, 38, 68, 98, 128}) {
            matcher_.assign(symbols_);
            if (share < 128) count<true>(share);
            else count<false>(share);
            choose(share);
        }
        prune(text_size);
        return symbols_;
    }

private:
    static constexpr std::size_t codes = training_codes;
    static constexpr std::size_t places = 1 << 14;

    struct Candidate {
        Symbol symbol;
        std::uint64_t gain;
    };

    Symbol symbol_of(std::size_t code) const { return code < 256 ? Symbol{code, 1} : symbols_[code - 256]; }

    template <bool with_pairs>
    void count(std::size_t share) {
        singles_.fill(0);
        const auto note = [&](unsigned previous, unsigned code, unsigned times) {
            singles_[code] += times;
            if constexpr (with_pairs) {
                const auto pair = previous * unsigned(codes) + code;
                seen_[seen_count_] = pair;
                seen_count_ += (times != 0) & (pairs_[pair] == 0);
                pairs_[pair] = static_cast<std::uint16_t>(pairs_[pair] + times);
            }
        };
        walk(sample_.pieces(share), [&](const std::uint8_t*& at, unsigned& previous) {
            const auto text = load<std::uint64_t>(at);
            const auto match = matcher_.longest(text);
            const unsigned byte = text & 0xff;
            const auto code = match.is_escape() ? byte : 256u + match.code();
            note(previous, code, 1);
            // Count the first byte of a longer symbol as well: this keeps single bytes and short extensions among the
            // candidates.
            note(previous, byte, match.length() > 1);
            previous = code;
            at += match.length();
        });
    }

    void choose(std::size_t share) {
        candidates_.clear();
        places_.fill(0);
        const auto least = 5 * share / 128;
        for (std::size_t code = 0; code < 256 + symbols_.size(); ++code) {
            if (singles_[code] == 0 || singles_[code] < least) continue;
            const auto symbol = symbol_of(code);
            // Single bytes count eightfold, since each of them saves an escape.
            propose(symbol, std::uint64_t{singles_[code]} * symbol.length * (symbol.length == 1 ? 8 : 1));
        }
        for (std::size_t i = 0; i < seen_count_; ++i) {
            const auto pair = seen_[i];
            const std::uint64_t times = std::exchange(pairs_[pair], 0);
            if (pair / codes == none) continue;
            const auto first = symbol_of(pair / codes), second = symbol_of(pair % codes);
            if (times < least || singles_[pair / codes] < least || first.length + second.length > max_length) continue;
            propose(first + second, times * (first.length + second.length));
        }
        seen_count_ = 0;
        take_best();
    }

    // Adds a candidate, or adds to its gain if it is already known.
    void propose(const Symbol& symbol, std::uint64_t gain) {
        auto place = ((symbol.bytes ^ symbol.length) * 0x9e3779b97f4a7c15) >> 50;
        for (; places_[place]; place = (place + 1) % places) {
            auto& known = candidates_[places_[place] - 1];
            if (known.symbol == symbol) {
                known.gain += gain;
                return;
            }
        }
        if (candidates_.size() == places / 2) return;  // more than a sample of text ever has
        candidates_.push_back({symbol, gain});
        places_[place] = static_cast<std::uint16_t>(candidates_.size());
    }

    // Keeps the candidates with the highest gain, best first. Of candidates with equal gain, the longer comes first.
    void take_best() {
        order_.clear();
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const auto& [symbol, gain] = candidates_[i];
            order_.push_back(gain << 32 | std::uint64_t{symbol.length} << 16 | (places - i));
        }
        symbols_.clear();
        std::array<bool, Matcher::slots> taken{};
        // Some of the best candidates find their slot taken, so a few more are needed.
        for (auto rest = std::span(order_); !rest.empty() && symbols_.size() < max_symbols;) {
            const auto next = std::min<std::size_t>(rest.size(), 384);
            std::ranges::nth_element(rest, rest.begin() + (next - 1), std::greater{});
            std::ranges::sort(rest.first(next), std::greater{});
            for (const auto key : rest.first(next)) {
                const auto& symbol = candidates_[places - (key & 0xffff)].symbol;
                if (symbol.length > 2 && std::exchange(taken[Matcher::slot_of(symbol.bytes)], true)) continue;
                if (symbols_.size() < max_symbols) symbols_.push_back(symbol);
            }
            rest = rest.subspan(next);
        }
    }

    // Drops symbols that do not pay off: a symbol takes nine bytes of the block and must save more. Always keeps at
    // least one.
    void prune(std::size_t text_size) {
        matcher_.assign(symbols_);
        count<false>(128);
        std::vector<Symbol> kept;
        for (std::size_t code = 0; code < symbols_.size(); ++code) {
            const auto& symbol = symbols_[code];
            const auto uses = singles_[256 + code];
            const auto saved = std::uint64_t{uses} * (cost_without(symbol) - 1) * text_size;
            if (saved > 9 * sample_.size()) kept.push_back(symbol);
        }
        if (kept.empty()) kept.push_back(symbols_.empty() ? Symbol{0, 1} : symbols_.front());
        symbols_ = std::move(kept);
    }

    // The bytes that the text of this symbol takes in the code stream if only the other symbols encode it.
    std::size_t cost_without(const Symbol& symbol) const {
        if (symbol.length == 1) return 2;
        std::size_t cost = 0;
        auto text = symbol.bytes;
        for (auto room = symbol.length; room;) {
            auto match = room < symbol.length ? matcher_.longest(text, room) : matcher_.shorter(text, symbol.length);
            if (match.length() == symbol.length) match = matcher_.single(text);
            cost += 1 + match.is_escape();
            text >>= 8 * match.length();
            room -= match.length();
        }
        return cost;
    }

    Sample sample_;
    Matcher matcher_;
    std::vector<Symbol> symbols_;
    std::vector<Candidate> candidates_;
    std::vector<std::uint64_t> order_;
    std::array<std::uint16_t, places> places_;
    std::array<std::uint32_t, codes> singles_;
    std::array<std::uint16_t, codes * codes> pairs_{};
    std::array<std::uint32_t, 2 * Sample::piece_size * Sample::max_pieces + 1> seen_;
    std::size_t seen_count_ = 0;
};

// At least one symbol, at most 255, ordered by length: readers can then step over codes quickly (`LengthSteps`).
inline std::vector<Symbol> train(Bytes text) {
    auto symbols = std::make_unique<Training>(text)->run(text.size());
    std::ranges::stable_sort(symbols, {}, &Symbol::length);
    return symbols;
}

}  // namespace amudai::binary::fsst
