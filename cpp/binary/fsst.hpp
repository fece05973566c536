// FSST (code 15): up to 255 symbols of 1..8 bytes; one code stream for the whole block. Bytes: docs/format/binary.md.
#pragma once
#include <bit>

#include "binary/fsst_lengths.hpp"
#include "binary/fsst_symbols.hpp"
#include "binary/nested.hpp"

namespace amudai::binary::fsst {

inline constexpr std::uint16_t code = 15;
inline constexpr std::string_view name = "fsst";
inline constexpr std::size_t header_size = 16;

struct Layout {
    Bytes symbols, lengths, codes;
    Offsets offsets;
};

inline Layout layout(Bytes region, const Slots& slots) {
    require_at_least("fsst region bytes", region.size(), header_size);
    const std::size_t symbols = region[2];
    const std::size_t codes_size = load<std::uint32_t>(region, 3);
    require_range("fsst symbols", symbols, 0, 255);
    const auto symbol_bytes = part("fsst symbols bytes", region, header_size, 8 * symbols);
    const auto lengths = part("fsst lengths bytes", region, header_size + 8 * symbols, symbols);
    const auto codes = part("fsst codes bytes", region, header_size + 9 * symbols, codes_size);
    for (const auto length : lengths) require_range("fsst symbol length", length, 1, 8);
    const auto offsets =
        offsets_behind(region, header_size + align8(9 * symbols + codes_size), region[8], region[7], slots);
    return {symbol_bytes, lengths, codes, offsets};
}

inline void offsets(const Layout& found, const Slots& slots, std::size_t first, std::span<std::uint64_t> out, Context& context) {
    found.offsets.decode(slots.count, first, out, context);
}

inline std::uint64_t bytes_most(const Layout& found) { return std::uint64_t{8} * found.codes.size(); }

// The symbols of a block, indexed by code.
struct Table {
    // Marks codes that need a closer look when they are stepped over: escapes and codes without a symbol.
    static constexpr std::uint16_t unusual = 256;

    std::uint64_t symbols[256];
    std::uint8_t lengths[256];  // 0 if the code has no symbol
    std::uint16_t steps[256];   // the length, or `unusual`

    explicit Table(const Layout& found) {
        const auto count = found.lengths.size();
        std::memcpy(symbols, found.symbols.data(), found.symbols.size());
        std::memcpy(lengths, found.lengths.data(), count);
        std::fill(symbols + count, symbols + 256, 0);
        std::fill(lengths + count, lengths + 256, std::uint8_t{0});
        for (std::size_t i = 0; i < 256; ++i) steps[i] = lengths[i] ? lengths[i] : unusual;
    }
};

// Decodes codes from any decoded byte on. The codes before it are stepped over by adding up their lengths.
class Stream {
public:
    // With `lengths`, many codes are stepped over at a time.
    Stream(const Table& table, Bytes codes, const LengthSteps* lengths = nullptr)
        : table_(&table), lengths_(lengths), at_(codes.data()), end_(at_ + codes.size()) {}

    // Steps over whole codes until fewer than 8 bytes are left to decoded byte `to`. Returns how many are left.
    std::size_t skip(std::size_t to) {
        const auto* const steps = table_->steps;
        for (;;) {
            while (lengths_ && to - done_ >= 8 && end_ - at_ >= std::ptrdiff_t{LengthSteps::codes}) {
                const auto found = lengths_->of(at_);
                if (found.codes == 0 || found.bytes > to - done_ - 8) break;
                done_ += found.bytes, at_ += found.codes;
            }
            // The lengths of eight codes are looked up independently of each other.
            while (to - done_ >= 8 && end_ - at_ >= 8) {
                const auto codes = load<std::uint64_t>(at_);
                unsigned sum = 0;
                for (unsigned i = 0; i < 8; ++i) sum += steps[codes >> 8 * i & 255];
                if (sum > to - done_ - 8 || sum >= Table::unusual) break;
                done_ += sum, at_ += 8;
            }
            for (unsigned i = 0; i < 8; ++i) {
                if (to - done_ < 8) return to - done_;
                if (at_ == end_) ended();
                std::uint8_t symbol[8];
                done_ += take(symbol);
            }
        }
    }

    // Fills `out`. May overwrite up to `writable` bytes from its start.
    void fill(MutableBytes out, std::size_t writable) {
        auto* at = out.data();
        auto* const end = at + out.size();
        const auto* const limit = out.data() + writable;
        // Eight codes decode to at most 64 bytes, so no further check is needed inside the loop. Everything that the loop
        // reads or changes is a local variable: compilers must assume that writes to `out` could change a member of
        // this object.
        const auto* in = at_;
        const auto* const in_end = end_;
        const auto* const symbols = table_->symbols;
        const auto* const lengths = table_->lengths;
        bool invalid = false;
        const auto put = [&](std::uint8_t symbol_code) {
            const auto length = lengths[symbol_code];
            store(at, symbols[symbol_code]);
            invalid |= length == 0;
            at += length;
        };
        while (in_end - in >= 9 && limit - at >= 72 && end - at >= 64) {
            const auto codes = load<std::uint64_t>(in);
            const auto escapes = (codes & high_bits) & (((~codes & ~high_bits) + ~high_bits) ^ high_bits);
            if (escapes == 0) [[likely]] {
                for (unsigned i = 0; i < 8; ++i) put(static_cast<std::uint8_t>(codes >> 8 * i));
                in += 8;
            } else {
                const auto before = static_cast<unsigned>(std::countr_zero(escapes)) / 8;
                for (unsigned i = 0; i < before; ++i) put(static_cast<std::uint8_t>(codes >> 8 * i));
                *at++ = in[before + 1];
                in += before + 2;
            }
        }
        if (invalid) throw Corrupted("fsst code: expected a symbol or an escape, found a code without symbol");
        at_ = in;
        while (at < end) {
            if (at_ == end_) ended();
            std::uint8_t symbol[8];
            const auto size = take(symbol);
            const auto room = static_cast<std::size_t>(end - at);
            std::memcpy(at, symbol, std::min(size, room));
            if (size > room) {
                // The value ends inside a symbol. This is valid: symbols may cross value boundaries.
                at = end;
                cut_ = true;
                break;
            }
            at += size;
        }
    }

    // Whether all codes were consumed completely.
    bool exhausted() const { return at_ == end_ && !cut_; }

    std::size_t take(std::uint8_t* symbol) {
        const auto symbol_code = *at_;
        if (symbol_code == escape) {
            if (end_ - at_ < 2) throw Corrupted("fsst codes: end inside an escape");
            symbol[0] = at_[1];
            at_ += 2;
            return 1;
        }
        store(symbol, table_->symbols[symbol_code]);
        const std::size_t length = table_->lengths[symbol_code];
        if (length == 0) throw Corrupted("fsst code: expected a symbol or an escape, found " + std::to_string(symbol_code));
        ++at_;
        return length;
    }
    [[noreturn]] static void ended() { throw Corrupted("fsst codes: end before the values do"); }

private:
    static constexpr std::uint64_t high_bits = 0x8080808080808080;

    const Table* table_;
    const LengthSteps* lengths_;
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    std::size_t done_ = 0;  // decoded bytes that were stepped over
    bool cut_ = false;
};

// Reads decoded bytes from `origin` on. The stream must not have stepped over them yet.
inline void read(Stream& stream, std::size_t origin, MutableBytes out, std::size_t writable) {
    const auto skip = stream.skip(origin);
    // The wanted bytes may begin inside a symbol. In that case, a short head is decoded into a separate buffer first.
    if (skip > 0) {
        const auto head = std::min<std::size_t>(out.size(), 64);
        std::uint8_t aside[8 + 64 + 16];
        std::size_t have = 0;
        while (have < skip + head) {
            if (stream.exhausted()) Stream::ended();
            std::uint8_t symbol[8];
            const auto size = stream.take(symbol);
            const auto room = std::min(size, sizeof(aside) - have);
            std::memcpy(aside + have, symbol, room);
            have += room;
        }
        const auto usable = std::min(have - skip, out.size());
        std::memcpy(out.data(), aside + skip, usable);
        out = out.subspan(usable);
        writable -= usable;
    }
    stream.fill(out, writable);
}

// Reads a few of the decoded bytes in ascending order, and steps over the bytes between them.
class Seeker {
public:
    explicit Seeker(const Layout& found)
        : table_(found), lengths_(found.lengths), stream_(table_, found.codes, lengths_.is_usable() ? &lengths_ : nullptr) {}
    Seeker(const Seeker&) = delete;
    Seeker& operator=(const Seeker&) = delete;

    // Reads bytes from `origin` on, which must come after those of the previous call.
    void read(std::size_t origin, MutableBytes out, std::size_t writable) {
        stream_.skip(origin);
        Stream ahead = stream_;  // the next bytes may begin inside the last symbol of these
        fsst::read(ahead, origin, out, writable);
    }

private:
    const Table table_;
    const LengthSteps lengths_;
    Stream stream_;
};

inline void bytes(const Layout& found, const Slots& slots, const SlotRange& piece, MutableBytes out, std::size_t writable,
                  Context&) {
    const Table table(found);
    Stream stream(table, found.codes);
    const bool whole = piece.count == slots.count;
    read(stream, whole ? 0 : piece.origin, out, writable);
    if (whole && !stream.exhausted()) throw Corrupted("fsst codes: go on behind the values");
}

// Decodes the targets of a block one by one, stepping over the bytes between them, if that is faster than decoding all
// bytes. Returns whether it did.
inline bool pick(const Layout& found, std::span<const DecodeTarget> targets, Context&) {
    std::size_t wanted = 0;
    for (const auto& target : targets) wanted += target.out.size();
    const auto hull = targets.back().origin + targets.back().out.size() - targets.front().origin;
    // Finding a target and its first bytes takes as long as decoding so many bytes. Stepping over bytes takes a fifth of
    // decoding them.
    constexpr std::size_t target_bytes = 450;
    if (wanted + target_bytes * targets.size() >= hull - hull / 5) return false;
    Seeker seeker(found);
    for (const auto& [origin, out, writable] : targets) seeker.read(origin, out, writable);
    return true;
}

template <class Found>
void frames(const Layout& layout, const Slots& slots, Found& found) {
    layout.offsets.frames(slots.count, found);
}

inline void describe(const Layout& found, const Slots& slots, std::string& out) {
    if (!slots.is_fixed) found.offsets.describe(slots.count, out);
}

// Encoded text: the codes, and the symbols they stand for.
struct Encoded {
    std::vector<std::uint8_t> symbols;  // eight bytes each
    std::vector<std::uint8_t> lengths;
    std::vector<std::uint8_t> codes;
};

// Writes the codes of a part of the text. `out` must have two bytes of room for each byte of the part, and one more.
struct Encoder {
    const std::uint8_t* at;
    const std::uint8_t* end;
    std::uint8_t* out;

    bool has_word() const { return end - at >= 8; }
    void step(const Matcher& matcher) {
        const auto text = load<std::uint64_t>(at);
        put(text, matcher.longest(text));
    }
    // Encodes the last bytes. No symbol may match beyond them.
    void finish(const Matcher& matcher) {
        while (has_word()) step(matcher);
        while (at < end) {
            const auto room = static_cast<std::size_t>(end - at);
            std::uint64_t text = 0;
            std::memcpy(&text, at, room);
            put(text, matcher.longest(text, room));
        }
    }

private:
    void put(std::uint64_t text, Match match) {
        out[0] = match.code();
        out[1] = static_cast<std::uint8_t>(text);
        out += 1 + match.is_escape();
        at += match.length();
    }
};

inline std::vector<std::uint8_t> encode_with(const Matcher& matcher, Bytes text) {
    // Each code has to wait for the one before it, so four parts of the text are encoded side by side.
    constexpr std::size_t lanes = 4;
    const auto share = text.size() < 1024 ? text.size() : (text.size() + lanes - 1) / lanes;
    const auto scratch = std::make_unique_for_overwrite<std::uint8_t[]>(2 * text.size() + lanes);
    std::array<Encoder, lanes> parts;
    std::array<const std::uint8_t*, lanes> starts;
    for (std::size_t i = 0; i < lanes; ++i) {
        const auto first = std::min(i * share, text.size()), last = std::min(first + share, text.size());
        starts[i] = scratch.get() + 2 * first + i;
        parts[i] = {text.data() + first, text.data() + last, scratch.get() + 2 * first + i};
    }
    auto [a, b, c, d] = parts;
    while (a.has_word() && b.has_word() && c.has_word() && d.has_word()) {
        a.step(matcher), b.step(matcher), c.step(matcher), d.step(matcher);
    }
    std::vector<std::uint8_t> codes;
    parts = {a, b, c, d};
    std::size_t total = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
        parts[i].finish(matcher);
        total += static_cast<std::size_t>(parts[i].out - starts[i]);
    }
    codes.reserve(total);
    for (std::size_t i = 0; i < lanes; ++i) codes.insert(codes.end(), starts[i], static_cast<const std::uint8_t*>(parts[i].out));
    return codes;
}

// Trains a table for this text and encodes it.
inline Encoded compress(Bytes text) {
    const auto symbols = train(text);
    const auto matcher = std::make_unique<Matcher>(symbols);
    Encoded encoded{std::vector<std::uint8_t>(8 * symbols.size()), std::vector<std::uint8_t>(symbols.size()), {}};
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        store(encoded.symbols.data() + 8 * i, symbols[i].bytes);
        encoded.lengths[i] = static_cast<std::uint8_t>(symbols[i].length);
    }
    encoded.codes = encode_with(*matcher, text);
    return encoded;
}

inline std::size_t encoded_size(std::size_t symbols, std::size_t codes, const OffsetsPart& offsets) {
    return header_size + align8(9 * symbols + codes) + offsets.size();
}

inline void encode(Bytes symbols, Bytes lengths, Bytes codes, const OffsetsPart& offsets, MutableBytes out) {
    // The two bytes that describe the offsets are in the opposite order of those in ZSTD.
    Fill(out).number(code).number(static_cast<std::uint8_t>(lengths.size())).number(size32("fsst codes", codes.size()))
        .number(offsets.cascading()).number(offsets.width()).pad()
        .bytes(symbols).bytes(lengths).bytes(codes).pad().bytes(offsets.stored());
}

}  // namespace amudai::binary::fsst
