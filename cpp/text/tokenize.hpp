// Tokenizers, which split text into terms: words, words and IPv4 addresses, or the whole value. Rules:
// docs/format/term-index.md.
#pragma once
#include <bit>

#include "binary/utf8.hpp"
#include "text/unicode.hpp"

namespace amudai::text {

enum class Tokenizer : std::uint8_t { word, log, trivial };

// The most bytes of a term. A longer term is cut before the first code point that does not fit.
inline constexpr std::size_t max_term = 128;
// A term of at least this many bytes may have been cut, because the code point that did not fit has up to four bytes.
inline constexpr std::size_t maybe_cut = max_term - 3;

inline Bytes cut(Bytes term) {
    if (term.size() <= max_term) return term;
    auto size = max_term;
    while (size && (term[size] & 0xc0) == 0x80) --size;
    return term.first(size);
}

namespace detail {

inline constexpr std::uint64_t every_byte = 0x0101010101010101;

// Sets the highest bit of each byte that is a letter or a digit. All bytes must be ASCII.
constexpr std::uint64_t word_bytes(std::uint64_t text) {
    const auto above = [](std::uint64_t bytes, std::uint64_t first) { return bytes + (0x80 - first) * every_byte; };
    const auto small = text | 0x20 * every_byte;
    const auto letters = above(small, 'a') & ~above(small, 'z' + 1);
    const auto digits = above(text, '0') & ~above(text, '9' + 1);
    return (letters | digits) & 0x80 * every_byte;
}

// Gathers the highest bits of eight bytes into one byte.
constexpr std::uint64_t gathered(std::uint64_t high_bits) { return (high_bits >> 7) * 0x0102040810204080 >> 56; }

// Bit i of the result says whether byte i belongs to a word. `count` is at most 64, and all bytes must be ASCII.
inline std::uint64_t word_mask(const std::uint8_t* at, std::size_t count) {
    std::uint64_t mask = 0;
    std::size_t done = 0;
    for (; done + 8 <= count; done += 8) mask |= gathered(word_bytes(load<std::uint64_t>(at + done))) << done;
    if (done < count) {
        std::uint64_t tail = 0;
        std::memcpy(&tail, at + done, count - done);
        mask |= gathered(word_bytes(tail)) << done;
    }
    return mask;
}

constexpr bool is_digit(std::uint8_t byte) { return byte >= '0' && byte <= '9'; }
constexpr bool is_ascii_word(std::uint8_t byte) {
    return is_digit(byte) || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

// The end of the IPv4 address that begins at `at`. Null if no address begins there, or if a letter or digit follows it.
inline const std::uint8_t* address_end(const std::uint8_t* at, const std::uint8_t* end) {
    for (unsigned octet = 0; octet < 4; ++octet) {
        if (octet && (at == end || *at++ != '.')) return nullptr;
        unsigned value = 0, digits = 0;
        for (; at < end && is_digit(*at); ++at) {
            value = 10 * value + (*at - '0');
            if (++digits > 3 || value > 255) return nullptr;
        }
        if (digits == 0) return nullptr;
    }
    return at < end && is_ascii_word(*at) ? nullptr : at;
}

template <class Emit>
void ascii_words(Bytes text, Emit&& emit) {
    const auto* const begin = text.data();
    std::size_t start = 0;
    bool open = false;  // a word has begun and not ended yet
    for (std::size_t base = 0; base < text.size(); base += 64) {
        const auto count = std::min<std::size_t>(64, text.size() - base);
        auto mask = word_mask(begin + base, count);
        std::size_t at = 0;  // the bits before `at` are done
        while (at < count) {
            const auto rest = open ? ~mask >> at : mask >> at;
            if (rest == 0) break;
            at += static_cast<std::size_t>(std::countr_zero(rest));
            if (at >= count) break;
            if (open) emit(Bytes{begin + start, base + at - start});
            else start = base + at;
            open = !open;
        }
    }
    if (open) emit(Bytes{begin + start, text.size() - start});
}

// Emits the words of any text, code point by code point.
template <class Emit>
void unicode_words(Bytes text, Emit&& emit) {
    const std::uint8_t* at = text.data();
    const std::uint8_t* const end = at + text.size();
    const std::uint8_t* start = nullptr;
    while (at < end) {
        const auto* const before = at;
        if (is_word(next(at))) {
            if (!start) start = before;
        } else if (start) {
            emit(Bytes{start, before});
            start = nullptr;
        }
    }
    if (start) emit(Bytes{start, end});
}

// Emits the IPv4 addresses of any text. The neighbours of an address are tested as bytes: an ASCII letter or digit
// rules the address out, a letter of another script does not.
template <class Emit>
void addresses(Bytes text, Emit&& emit) {
    const std::uint8_t* const begin = text.data();
    const std::uint8_t* const end = begin + text.size();
    for (const auto* at = begin; at < end;) {
        if (is_digit(*at) && (at == begin || !is_ascii_word(at[-1]))) {
            if (const auto* const stop = address_end(at, end)) {
                emit(Bytes{at, stop});
                at = stop;
                continue;
            }
        }
        ++at;
    }
}

}  // namespace detail

// Calls word(term) or address(term) for each term of a value. `ascii` says that the value is known to be ASCII. Throws
// std::invalid_argument if the value is not UTF-8.
template <class Word, class Address>
void tokenize(Tokenizer tokenizer, Bytes text, bool ascii, Word&& word, Address&& address) {
    ascii = ascii || utf8::is_ascii(text);
    if (!ascii && !utf8::is_valid(text)) throw std::invalid_argument("text: expected UTF-8, found other bytes");
    switch (tokenizer) {
        case Tokenizer::trivial:
            if (!text.empty()) word(cut(text));
            return;
        case Tokenizer::word:
            if (ascii) detail::ascii_words(text, [&](Bytes found) { word(cut(found)); });
            else detail::unicode_words(text, [&](Bytes found) { word(cut(found)); });
            return;
        case Tokenizer::log: break;
    }
    if (!ascii) {
        detail::addresses(text, address);
        detail::unicode_words(text, [&](Bytes found) { word(cut(found)); });
        return;
    }
    // In ASCII text an address begins where a word begins. Only short words that start with a digit and are followed by
    // a dot need a closer look.
    const std::uint8_t* done = text.data();
    const std::uint8_t* const end = text.data() + text.size();
    detail::ascii_words(text, [&](Bytes found) {
        const auto* const behind = found.data() + found.size();
        if (found.size() <= 3 && detail::is_digit(found.front()) && behind < end && *behind == '.' && found.data() >= done) {
            if (const auto* const stop = detail::address_end(found.data(), end)) {
                address(Bytes{found.data(), stop});
                done = stop;
            }
        }
        word(cut(found));
    });
}

}  // namespace amudai::text
