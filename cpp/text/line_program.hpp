// Programs that take lines of logs apart: a small virtual machine over bytes, one run for each line.
//
// A program is a list of steps that move a cursor from the start of a line. A step that does not fit goes back to the
// latest CHOICE; without one the line does not match. Targets lie ahead, so that every run ends. Programs are made by
// src/amudai/sources/logs/program.py.
#pragma once
#include <array>
#include <string_view>

#include "base/bytes.hpp"
#include "text/clock_text.hpp"

namespace amudai::text {

enum class LineOp : std::int32_t {
    literal = 0,     // the bytes literals[x, x + y)
    run = 1,         // y to z bytes of class x, as many as there are
    find = 2,        // up to the first occurrence of literals[x, x + y)
    rest = 3,        // up to the end of the line
    open = 4,        // field x begins here
    close = 5,       // field x ends here
    choice = 6,      // if a later step does not fit, go on at step x from here; at once if y > 0 and the next byte is
                     // not y - 1, or z > 0 and it is not in class z - 1
    commit = 7,      // forget the latest choice, go on at step x
    number = 8,      // y to z digits: part x of the time
    month_name = 9,  // Jan .. Dec
    fraction = 10,   // digits of a fraction of a second
    zone = 11,       // Z, UTC, GMT, +hh, +hhmm, +hh:mm; if x > 0, a whole word of these with minutes, or a known name
    epoch = 12,      // seconds from 1970 (9 or 10 digits), milliseconds (13), microseconds (16), nanoseconds (19)
    half_day = 13,   // AM or PM, a whole word
    word = 14,       // a whole word of the list literals[x, x + y), which has a space before each word; in any case if the
                     // list has it in lower case, otherwise as it stands there
    quoted = 15,     // up to a quote that no backslash escapes
    start = 16,      // back to the start of the line
    end = 17,        // the line matches
    date = 18,       // year, month and day in 4, 2 and 2 digits, with the bytes x and y between them
    clock = 19,      // hour, minute and second in 2 digits each, with the bytes x and y between them
};

enum class ClockPart : std::int32_t { year = 0, short_year = 1, month = 2, day = 3, hour = 4, minute = 5, second = 6, millisecond = 7 };

struct LineStep {
    LineOp op;
    std::int32_t x, y, z;
};
static_assert(sizeof(LineStep) == 16);

namespace line_flags {
inline constexpr std::uint8_t matched = 1, timed = 2, zoned = 4, cut = 8;
}

class LineProgram {
public:
    static constexpr std::size_t max_fields = 512;
    static constexpr std::size_t max_choices = 32;

    // `classes`: 256 bytes for each class, not zero for its members.
    LineProgram(std::span<const LineStep> steps, Bytes classes, Bytes literals, std::size_t fields)
        : steps_(steps), classes_(classes), literals_(literals), fields_(fields) {
        require_range("fields", fields, 0, max_fields);
        require_range("steps", steps.size(), 1, 1 << 20);
        if (steps.back().op != LineOp::end) throw Corrupted("steps: expected an end as the last one");
        for (std::size_t at = 0; at < steps.size(); ++at) check(steps[at], at);
    }

    std::size_t fields() const { return fields_; }

    std::span<const LineStep> steps() const { return steps_; }
    const std::uint8_t* members(std::int32_t number) const {
        return classes_.data() + std::size_t{256} * static_cast<std::size_t>(number);
    }
    Bytes literal(const LineStep& step) const {
        return literals_.subspan(static_cast<std::size_t>(step.x), static_cast<std::size_t>(step.y));
    }

private:
    void check(const LineStep& step, std::size_t at) const;

    std::span<const LineStep> steps_;
    Bytes classes_, literals_;
    std::size_t fields_;
};

namespace detail {

inline bool is_letter_or_digit(std::uint8_t byte) {
    return is_digit(byte) || byte == '_' || static_cast<std::uint8_t>((byte | 0x20) - 'a') < 26;
}

inline const std::uint8_t* word_end(const std::uint8_t* at, const std::uint8_t* end) {
    while (at < end && is_letter_or_digit(*at)) ++at;
    return at;
}

// A word of up to 14 letters, with a space before it, and zeros behind it.
using SpacedWord = std::array<char, 16>;

// Whether a word is in a list of words, each with a space before it.
inline bool is_listed(const SpacedWord& word, std::size_t size, Bytes list) {
    const std::string_view all(reinterpret_cast<const char*>(list.data()), list.size());
    const std::string_view wanted(word.data(), size + 1);
    for (auto at = all.find(wanted); at != std::string_view::npos; at = all.find(wanted, at + 1)) {
        const auto behind = at + wanted.size();
        if (behind == all.size() || all[behind] == ' ') return true;
    }
    return false;
}

// Whether words are in lists. Remembers the latest words: a log has few levels.
class ListedWords {
public:
    bool has(Bytes word, Bytes list) {
        SpacedWord exact{' '}, folded{' '};
        if (word.empty() || word.size() + 1 >= exact.size()) return false;
        for (std::size_t i = 0; i < word.size(); ++i) {
            exact[i + 1] = static_cast<char>(word[i]);
            folded[i + 1] = static_cast<char>(word[i] | 0x20);
        }
        auto& known = known_[(folded[1] ^ 4 * word.size()) % known_.size()];
        if (known.word != exact || known.list != list.data()) {
            known = {exact, list.data(), is_listed(folded, word.size(), list) || is_listed(exact, word.size(), list)};
        }
        return known.is_listed;
    }

private:
    struct Known {
        SpacedWord word{};
        const std::uint8_t* list = nullptr;
        bool is_listed = false;
    };
    std::array<Known, 16> known_;
};

inline void set_part(Clock& clock, ClockPart part, std::int32_t value) {
    clock.is_there = true;
    switch (part) {
        case ClockPart::year: clock.year = value; break;
        case ClockPart::short_year: clock.year = value < 70 ? 2000 + value : 1900 + value; break;
        case ClockPart::month: clock.month = value; break;
        case ClockPart::day: clock.day = value; break;
        case ClockPart::hour: clock.hour = value; break;
        case ClockPart::minute: clock.minute = value; break;
        case ClockPart::second: clock.second = value; break;
        case ClockPart::millisecond: clock.nanos = value * 1'000'000; break;
    }
}

}  // namespace detail

inline void LineProgram::check(const LineStep& step, std::size_t at) const {
    const auto in_literals = [&] {
        require_range("literal offset", static_cast<std::uint32_t>(step.x), 0, literals_.size());
        require_range("literal size", static_cast<std::uint32_t>(step.y), 1, literals_.size() - static_cast<std::size_t>(step.x));
    };
    const auto in_classes = [&](std::int32_t number) {
        require_range("class", static_cast<std::uint32_t>(number) * std::uint64_t{256} + 256, 256, classes_.size());
    };
    const auto in_order = [&](std::int32_t most) {
        require_range("least of a step", static_cast<std::uint32_t>(step.y), 0, static_cast<std::uint32_t>(most));
        require_range("most of a step", static_cast<std::uint32_t>(step.z), static_cast<std::uint32_t>(step.y),
                      static_cast<std::uint32_t>(most));
    };
    switch (step.op) {
        case LineOp::literal: case LineOp::find: case LineOp::word: in_literals(); return;
        case LineOp::run:
            in_classes(step.x);
            in_order(std::numeric_limits<std::int32_t>::max());
            return;
        case LineOp::open: case LineOp::close:
            require_at_least("fields", fields_, std::uint64_t{static_cast<std::uint32_t>(step.x)} + 1);
            return;
        case LineOp::choice:
            require_range("byte of a choice", static_cast<std::uint32_t>(step.y), 0, 256);
            if (step.z != 0) in_classes(step.z - 1);
            [[fallthrough]];
        case LineOp::commit:
            require_range("target of a step", static_cast<std::uint32_t>(step.x), at + 1, steps_.size() - 1);
            return;
        case LineOp::number:
            require_range("part of a time", static_cast<std::uint32_t>(step.x), 0, 7);
            in_order(step.x == static_cast<std::int32_t>(ClockPart::millisecond) ? 3 : 4);
            require_range("digits of a number", static_cast<std::uint32_t>(step.y), 1, 4);
            return;
        case LineOp::date: case LineOp::clock:
            require_range("first byte of a step", static_cast<std::uint32_t>(step.x), 0, 255);
            require_range("second byte of a step", static_cast<std::uint32_t>(step.y), 0, 255);
            return;
        case LineOp::rest: case LineOp::month_name: case LineOp::fraction: case LineOp::zone: case LineOp::epoch:
        case LineOp::half_day: case LineOp::quoted: case LineOp::start: case LineOp::end: return;
    }
    refuse("step", "0..19", static_cast<std::uint32_t>(step.op));
}

// Runs a program on one line after the other. `from` and `to` get the places of fields in `data`, those of a field in a
// row of their own; `to` is -1 for a field that a line lacks.
class LineMatcher {
public:
    LineMatcher(const LineProgram& program, Bytes data, std::int64_t per_second, std::span<std::int64_t> from,
                std::span<std::int64_t> to, std::size_t lines)
        : program_(program), data_(data), per_second_(per_second), from_(from), to_(to), lines_(lines) {}

    // The flags of a line, and its moment.
    std::uint8_t match(std::size_t line, std::size_t start, std::size_t stop, std::int64_t& moment);

private:
    struct Choice {
        const LineStep* step = nullptr;
        const std::uint8_t* at = nullptr;
        std::size_t closed = 0;
        Clock clock;
    };

    void forget_fields(std::size_t line) {
        for (std::size_t field = 0; field < program_.fields(); ++field) {
            from_[field * lines_ + line] = to_[field * lines_ + line] = -1;
        }
    }

    const LineProgram& program_;
    Bytes data_;
    std::int64_t per_second_;
    std::span<std::int64_t> from_, to_;
    std::size_t lines_;
    Calendar calendar_;
    detail::ListedWords words_;
    std::array<Choice, LineProgram::max_choices> choices_;
    std::array<std::int32_t, LineProgram::max_fields> closed_{};
};

inline std::uint8_t LineMatcher::match(std::size_t line, std::size_t start, std::size_t stop, std::int64_t& moment) {
    std::size_t depth = 0, closed_count = 0;
    Clock clock;
    const auto* const base = data_.data();
    const auto* const end = base + stop;
    const auto* at = base + start;
    const auto* const first = program_.steps().data();
    const auto* step = first;
    const auto place = [&](std::int32_t field) { return static_cast<std::size_t>(field) * lines_ + line; };
    forget_fields(line);
    for (;;) {
        bool fits = true;
        switch (step->op) {
            case LineOp::literal: {
                const auto wanted = program_.literal(*step);
                const auto size = wanted.size();
                fits = static_cast<std::size_t>(end - at) >= size && *at == wanted[0] &&
                       (size == 1 || std::memcmp(at, wanted.data(), size) == 0);
                if (fits) at += size;
                break;
            }
            case LineOp::run: {
                const auto* const members = program_.members(step->x);
                const auto* const limit = end - at > step->z ? at + step->z : end;
                const auto* const begin = at;
                while (at < limit && members[*at]) ++at;
                fits = at - begin >= step->y;
                break;
            }
            case LineOp::find: {
                const auto wanted = program_.literal(*step);
                const std::string_view ahead(reinterpret_cast<const char*>(at), static_cast<std::size_t>(end - at));
                const auto found = ahead.find({reinterpret_cast<const char*>(wanted.data()), wanted.size()});
                fits = found != std::string_view::npos;
                if (fits) at += found;
                break;
            }
            case LineOp::word: {
                const auto* const behind = detail::word_end(at, end);
                fits = words_.has({at, behind}, program_.literal(*step));
                if (fits) at = behind;
                break;
            }
            case LineOp::quoted:
                while (at < end && *at != '"') at += *at == '\\' && end - at > 1 ? 2 : 1;
                fits = at < end;
                break;
            case LineOp::start: at = base + start; break;
            case LineOp::rest: at = end; break;
            case LineOp::open: from_[place(step->x)] = at - base; break;
            case LineOp::close:
                to_[place(step->x)] = at - base;
                if (closed_count < closed_.size()) closed_[closed_count++] = step->x;
                break;
            case LineOp::choice:
                if ((step->y > 0 && (at == end || *at != step->y - 1)) ||
                    (step->z > 0 && (at == end || !program_.members(step->z - 1)[*at]))) {
                    step = first + step->x;
                    continue;
                }
                if (depth == choices_.size()) throw Corrupted("choices: expected at most 32 inside each other");
                choices_[depth++] = {first + step->x, at, closed_count, clock};
                break;
            case LineOp::commit:
                if (depth == 0) throw Corrupted("commit: expected a choice before it");
                --depth;
                step = first + step->x;
                continue;
            case LineOp::number: {
                std::int32_t value = 0;
                if (step->y == 2 && step->z == 2) {
                    // Most parts of times.
                    fits = end - at >= 2 && detail::is_digit(at[0]) && detail::is_digit(at[1]);
                    if (fits) value = (at[0] - '0') * 10 + (at[1] - '0'), at += 2;
                } else {
                    const auto* const limit = end - at > step->z ? at + step->z : end;
                    const auto* const begin = at;
                    while (at < limit && detail::is_digit(*at)) value = value * 10 + (*at++ - '0');
                    fits = at - begin >= step->y;
                }
                if (fits) detail::set_part(clock, static_cast<ClockPart>(step->x), value);
                break;
            }
            case LineOp::month_name: {
                const auto month = end - at < 3 ? 0 : detail::month_named(at);
                fits = month != 0;
                if (fits) clock.month = month, clock.is_there = true, at += 3;
                break;
            }
            case LineOp::fraction: case LineOp::zone: case LineOp::epoch: {
                const auto read = step->op == LineOp::fraction ? detail::read_fraction
                                  : step->op == LineOp::zone   ? detail::read_zone
                                                               : detail::read_epoch;
                const auto before = clock;
                const auto* behind = read(at, end, clock);
                fits = behind != nullptr;
                if (fits && step->op == LineOp::zone && step->x > 0) {
                    // -10 in a text behind a time is a number.
                    const auto has_minutes = detail::is_word_byte(*at) || behind - at > 3;
                    fits = has_minutes && (behind == end || !detail::is_word_byte(*behind));
                    if (!fits) clock = before;
                }
                if (!fits && step->op == LineOp::zone && step->x > 0) {
                    behind = detail::read_zone_name(at, end, clock);
                    fits = behind != nullptr;
                }
                if (fits) at = behind;
                break;
            }
            case LineOp::date: case LineOp::clock: {
                const auto read = step->op == LineOp::date ? detail::read_date : detail::read_clock;
                const auto* const behind =
                    read(at, end, static_cast<std::uint8_t>(step->x), static_cast<std::uint8_t>(step->y), clock);
                fits = behind != nullptr;
                if (fits) at = behind;
                break;
            }
            case LineOp::half_day:
                fits = end - at >= 2 && (at[1] | 0x20) == 'm' && ((at[0] | 0x20) == 'a' || (at[0] | 0x20) == 'p') &&
                       (end - at == 2 || !detail::is_word_byte(at[2]));
                if (fits) clock.has_half_day = true, clock.is_afternoon = (at[0] | 0x20) == 'p', at += 2;
                break;
            case LineOp::end: {
                const auto found = moment_of(clock, per_second_, calendar_);
                moment = found ? found->value : 0;
                auto flags = line_flags::matched;
                if (found) flags |= line_flags::timed;
                if (found && found->is_cut) flags |= line_flags::cut;
                if (clock.has_zone) flags |= line_flags::zoned;
                return flags;
            }
        }
        if (fits) [[likely]] {
            ++step;
            continue;
        }
        if (depth == 0) {
            forget_fields(line);
            moment = 0;
            return 0;
        }
        const auto& choice = choices_[--depth];
        step = choice.step, at = choice.at, clock = choice.clock;
        while (closed_count > choice.closed) {
            to_[place(closed_[--closed_count])] = -1;
        }
    }
}

}  // namespace amudai::text
