// Reading JSON (RFC 8259) token by token. A record that breaks a rule throws a Fault.
#pragma once
#include <bit>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/bytes.hpp"
#include "binary/utf8.hpp"

namespace amudai::json {

// Brackets inside brackets, those of the record included. A schema has no more levels than this.
inline constexpr unsigned max_depth = 64;

// What is wrong with a record. The numbers are those of `Trouble` in sources/json/troubles.py.
enum class Trouble : std::uint8_t {
    value,             // something else than a value
    name,              // something else than the name of a member
    colon,             // no colon after a name
    end_of_object,     // neither a comma nor a brace after a member
    end_of_array,      // neither a comma nor a bracket after an element
    end_of_text,       // a text without a closing quote
    control,           // a control character inside a text
    escape,            // an unknown escape
    surrogate,         // an escaped surrogate without its other half
    number,            // a number with leading zeros, or without digits
    not_a_number,      // NaN or an infinity
    utf8,              // bytes that are not UTF-8
    depth,             // too many brackets inside brackets
    rest,              // something after the value
    not_an_object,     // a record that is another value
    repeated,          // a name that the object has twice
    unknown,           // a name that the schema lacks
    kind,              // a value that the column does not hold
    inexact,           // an integer that a float64 would round
    range,             // a number outside the range of the column
};

// `at` and `end` delimit what the trouble is about; `column` is the number of the column, or -1.
struct Fault {
    Trouble trouble;
    const std::uint8_t* at;
    const std::uint8_t* end;
    int column = -1;
};

// A text between its quotes, still with its escapes.
struct Text {
    const std::uint8_t* from;
    const std::uint8_t* to;
    bool escaped;
    Bytes bytes() const { return {from, to}; }
};

struct Number {
    const std::uint8_t* from;
    const std::uint8_t* to;
    bool negative = false;
    bool integer = true;     // neither a fraction nor an exponent
    bool finite = true;      // false for NaN and the infinities
    bool large = false;      // more digits than `digits` holds
    std::uint64_t digits = 0;  // the digits without sign, point and exponent
    int exponent = 0;        // of ten
};

constexpr std::uint64_t repeat(std::uint8_t byte) { return 0x0101010101010101u * byte; }

// The high bits of the bytes that end or break a run of plain characters: a quote, a backslash, a control character.
// Only the lowest bit that is set is meaningful.
constexpr std::uint64_t special(std::uint64_t word) {
    const auto zero = [](std::uint64_t x) { return (x - repeat(1)) & ~x; };
    const auto control = (word - repeat(0x20)) & ~word;
    return (zero(word ^ repeat('"')) | zero(word ^ repeat('\\')) | control) & repeat(0x80);
}

class Cursor {
public:
    Cursor(Bytes record, bool nan) : at_(record.data()), end_(record.data() + record.size()), nan_(nan) {}

    const std::uint8_t* at() const { return at_; }

    // The first byte of the next token; 0 at the end. Mostly there is no space before it. This is called several times for
    // each token, so a call would take longer than the work.
    [[gnu::always_inline]] std::uint8_t peek() { return at_ < end_ && *at_ > ' ' ? *at_ : peek_behind_space(); }

    [[noreturn]] void fail(Trouble trouble) const { throw Fault{trouble, at_, at_ < end_ ? at_ + 1 : at_}; }

    // Calls member(name) for each member. It must consume the value.
    template <class Member>
    void object(unsigned depth, Member&& member) {
        enter(depth);
        if (peek() == '}') {
            ++at_;
            return;
        }
        for (;;) {
            if (peek() != '"') fail(Trouble::name);
            const auto name = text();
            if (peek() != ':') fail(Trouble::colon);
            ++at_;
            peek();
            member(name);
            const auto next = peek();
            if (next != ',' && next != '}') fail(Trouble::end_of_object);
            ++at_;
            if (next == '}') return;
        }
    }

    // Calls element() for each element. It must consume the value.
    template <class Element>
    void array(unsigned depth, Element&& element) {
        enter(depth);
        if (peek() == ']') {
            ++at_;
            return;
        }
        for (;;) {
            peek();
            element();
            const auto next = peek();
            if (next != ',' && next != ']') fail(Trouble::end_of_array);
            ++at_;
            if (next == ']') return;
        }
    }

    Text text() {
        const auto* const from = ++at_;
        bool escaped = false;
        for (;;) {
            while (end_ - at_ >= 8) {
                const auto found = special(load<std::uint64_t>(at_));
                if (found) {
                    at_ += std::countr_zero(found) / 8;
                    break;
                }
                at_ += 8;
            }
            while (at_ < end_ && *at_ != '"' && *at_ != '\\' && *at_ >= 0x20) ++at_;
            if (at_ == end_) throw Fault{Trouble::end_of_text, from - 1, end_};
            if (*at_ == '"') return {from, at_++, escaped};
            if (*at_ < 0x20) fail(Trouble::control);
            escaped = true;
            escape();
        }
    }

    Number number() {
        Number found{.from = at_, .to = at_};
        if (*at_ == '-') {
            found.negative = true;
            ++at_;
        }
        if (at_ < end_ && (*at_ == 'N' || *at_ == 'I')) return not_finite(found);
        if (at_ == end_ || !is_digit(*at_)) throw Fault{Trouble::number, found.from, at_};
        if (*at_ == '0') {
            ++at_;
            if (at_ < end_ && is_digit(*at_)) throw Fault{Trouble::number, found.from, at_ + 1};
        } else {
            digits(found);
        }
        if (at_ < end_ && *at_ == '.') {
            found.integer = false;
            ++at_;
            const auto* const point = at_;
            digits(found);
            if (at_ == point) throw Fault{Trouble::number, found.from, at_};
            found.exponent = -static_cast<int>(std::min<std::ptrdiff_t>(at_ - point, 1 << 24));
        }
        if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) exponent(found);
        found.to = at_;
        return found;
    }

    void word(std::string_view expected) {
        if (static_cast<std::size_t>(end_ - at_) < expected.size() || std::memcmp(at_, expected.data(), expected.size())) {
            fail(Trouble::value);
        }
        at_ += expected.size();
    }

    static bool begins_number(std::uint8_t byte) { return is_digit(byte) || byte == '-' || byte == 'N' || byte == 'I'; }

    // Checks a value of any kind and goes past it.
    void skip(unsigned depth) {
        switch (const auto first = peek()) {
        case '{': return object(depth, [&](const Text&) { skip(depth + 1); });
        case '[': return array(depth, [&] { skip(depth + 1); });
        case '"': text(); return;
        case 't': return word("true");
        case 'f': return word("false");
        case 'n': return word("null");
        default:
            if (!begins_number(first)) fail(Trouble::value);
            number();
        }
    }

    void require_end() {
        peek();
        if (at_ != end_) throw Fault{Trouble::rest, at_, end_};
    }

private:
    [[gnu::noinline]] std::uint8_t peek_behind_space() {
        while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
        return at_ < end_ ? *at_ : 0;
    }

    static bool is_digit(std::uint8_t byte) { return byte >= '0' && byte <= '9'; }

    void enter(unsigned depth) {
        if (depth > max_depth) fail(Trouble::depth);
        ++at_;
    }

    void digits(Number& found) {
        for (; at_ < end_ && is_digit(*at_); ++at_) {
            const std::uint64_t digit = *at_ - '0';
            // Only a number of twenty digits or more needs the exact limit.
            if (found.digits > (UINT64_MAX - 9) / 10) [[unlikely]] found.large |= found.digits > (UINT64_MAX - digit) / 10;
            found.digits = found.digits * 10 + digit;
        }
    }

    void exponent(Number& found) {
        found.integer = false;
        ++at_;
        const bool minus = at_ < end_ && *at_ == '-';
        if (minus || (at_ < end_ && *at_ == '+')) ++at_;
        const auto* const from = at_;
        int value = 0;
        for (; at_ < end_ && is_digit(*at_); ++at_) value = std::min(value * 10 + (*at_ - '0'), 1 << 24);
        if (at_ == from) throw Fault{Trouble::number, found.from, at_};
        found.exponent += minus ? -value : value;
    }

    Number not_finite(Number found) {
        word(*at_ == 'N' && !found.negative ? "NaN" : "Infinity");
        found.to = at_;
        if (!nan_) throw Fault{Trouble::not_a_number, found.from, found.to};
        found.finite = found.integer = false;
        return found;
    }

    unsigned unit() {
        unsigned value = 0;
        const auto [to, error] = std::from_chars(reinterpret_cast<const char*>(at_),
                                                 reinterpret_cast<const char*>(at_ + std::min<std::ptrdiff_t>(4, end_ - at_)),
                                                 value, 16);
        if (error != std::errc{} || to != reinterpret_cast<const char*>(at_) + 4) fail(Trouble::escape);
        at_ += 4;
        return value;
    }

    // At a backslash: checks the escape and goes past it.
    void escape() {
        const auto* const from = at_++;
        if (at_ == end_) fail(Trouble::escape);
        if (*at_ != 'u') {
            if (std::string_view("\"\\/bfnrt").find(static_cast<char>(*at_)) == std::string_view::npos) fail(Trouble::escape);
            ++at_;
            return;
        }
        ++at_;
        const auto high = unit();
        if (high < 0xd800 || high > 0xdfff) return;
        if (high > 0xdbff || end_ - at_ < 6 || at_[0] != '\\' || at_[1] != 'u') throw Fault{Trouble::surrogate, from, at_};
        at_ += 2;
        const auto low = unit();
        if (low < 0xdc00 || low > 0xdfff) throw Fault{Trouble::surrogate, from, from + 6};
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool nan_;
};

// Whether the bytes are one JSON value in UTF-8, with nothing but white space around it.
inline bool is_json(Bytes value) {
    if (!utf8::is_valid(value)) return false;
    try {
        Cursor cursor(value, false);
        cursor.skip(1);
        cursor.require_end();
        return true;
    } catch (const Fault&) {
        return false;
    }
}

}  // namespace amudai::json
