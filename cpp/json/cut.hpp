// Where the records of a file begin and end: lines, elements of an array, or values one after the other.
#pragma once
#include <array>

#include "json/cursor.hpp"

namespace amudai::json {

// The numbers are those of `Shape` in sources/json/records.py.
enum class Shape : std::uint8_t { lines, array, documents };

// Where a block of the file ended. Only brackets and quotes count here; what is inside a record is checked later.
struct CutState {
    enum Token : std::int64_t { none, text, after_backslash, word };
    enum Place : std::int64_t { outside, after_bracket, after_value, after_comma };  // in the array

    std::int64_t depth = 0;  // open brackets of the record
    std::int64_t token = none;
    std::int64_t place = outside;

    bool inside_record() const { return depth > 0 || token != none; }
};

// Starts and ends of records. The first end may belong to a record that began in an earlier block. An array with a value
// or a comma missing has a record without bytes there.
struct Cuts {
    std::vector<std::int64_t> starts, ends, lines;  // lines: line feeds of the block before each start
    std::int64_t line_feeds = 0;                    // of the whole block
};

class Cutter {
public:
    Cutter(Bytes block, Shape shape, CutState& state, Cuts& cuts)
        : begin_(block.data()), end_(begin_ + block.size()), counted_(begin_), shape_(shape), state_(state), cuts_(cuts) {}

    void run() {
        const auto* at = begin_;
        while (at < end_) {
            if (state_.token >= CutState::text && state_.token <= CutState::after_backslash) at = text(at);
            else if (state_.token == CutState::word) at = word(at);
            else if (state_.depth > 0) at = nested(at);
            else at = between(at);
        }
        count_to(end_);
        cuts_.line_feeds = feeds_;
    }

private:
    void count_to(const std::uint8_t* to) {
        feeds_ += std::count(counted_, to, std::uint8_t{'\n'});
        counted_ = to;
    }

    void begin(const std::uint8_t* at) {
        count_to(at);
        cuts_.starts.push_back(at - begin_);
        cuts_.lines.push_back(feeds_);
    }

    void finish(const std::uint8_t* at) {
        cuts_.ends.push_back(at - begin_);
        state_.token = CutState::none;
        if (state_.place != CutState::outside) state_.place = CutState::after_value;
    }

    void missing(const std::uint8_t* at) {
        begin(at);
        cuts_.ends.push_back(at - begin_);
    }

    const std::uint8_t* text(const std::uint8_t* at) {
        if (state_.token == CutState::after_backslash) {
            state_.token = CutState::text;
            return at + 1;
        }
        while (end_ - at >= 8) {
            const auto found = special(load<std::uint64_t>(at));
            if (found) {
                at += std::countr_zero(found) / 8;
                break;
            }
            at += 8;
        }
        if (at == end_) return at;
        if (*at == '\\') state_.token = CutState::after_backslash;
        if (*at++ != '"') return at;
        state_.token = CutState::none;
        if (state_.depth == 0) finish(at);
        return at;
    }

    const std::uint8_t* nested(const std::uint8_t* at) {
        static constexpr auto structural = [] {
            std::array<bool, 256> table{};
            for (const auto byte : {'"', '{', '}', '[', ']'}) table[static_cast<std::size_t>(byte)] = true;
            return table;
        }();
        while (at < end_ && !structural[*at]) ++at;
        if (at == end_) return at;
        if (*at == '"') state_.token = CutState::text;
        else state_.depth += *at == '{' || *at == '[' ? 1 : -1;
        ++at;
        if (state_.depth == 0) finish(at);
        return at;
    }

    const std::uint8_t* word(const std::uint8_t* at) {
        if (shape_ == Shape::lines) {
            at = static_cast<const std::uint8_t*>(std::memchr(at, '\n', static_cast<std::size_t>(end_ - at)));
            if (!at) return end_;
            counted_ = at;  // no line feed before this one since the record began, or the block
        } else {
            while (at < end_ && *at > ' ' && *at != ',' && *at != ']' && *at != '[' && *at != '{' && *at != '"') ++at;
            if (at == end_) return at;
        }
        finish(at);
        return at;
    }

    const std::uint8_t* between(const std::uint8_t* at) {
        while (at < end_ && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) ++at;
        if (at == end_) return at;
        if (shape_ == Shape::lines) {
            begin(at);
            state_.token = CutState::word;
            return at;
        }
        if (shape_ == Shape::array && of_array(at)) return at + 1;
        begin(at);
        if (*at == '"') {
            state_.token = CutState::text;
        } else if (*at == '{' || *at == '[') {
            state_.depth = 1;
        } else {
            state_.token = CutState::word;
        }
        return at + 1;
    }

    // Whether the byte is a bracket or a comma of the array itself.
    bool of_array(const std::uint8_t* at) {
        if (*at == '[' && state_.place == CutState::outside) {
            state_.place = CutState::after_bracket;
        } else if (*at == ',') {
            if (state_.place != CutState::after_value) missing(at);
            if (state_.place != CutState::outside) state_.place = CutState::after_comma;
        } else if (*at == ']' && state_.place != CutState::outside) {
            if (state_.place == CutState::after_comma) missing(at);
            state_.place = CutState::outside;
        } else {
            if (state_.place == CutState::after_value) missing(at);
            return false;
        }
        return true;
    }

    const std::uint8_t* begin_;
    const std::uint8_t* end_;
    const std::uint8_t* counted_;
    std::int64_t feeds_ = 0;
    Shape shape_;
    CutState& state_;
    Cuts& cuts_;
};

}  // namespace amudai::json
