// Where the records of CSV text begin and end, and which have odd numbers. Values are quoted as in RFC 4180.
#pragma once
#include <array>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.hpp"

namespace amudai::text::csv {

struct Dialect {
    std::uint8_t delimiter;
    std::optional<std::uint8_t> quote;
    Bytes comment;  // lines that begin with it are left out, unless it is empty
    bool has_empty = false;  // whether empty lines are records, with one empty value
};

// A quote that nothing closes: where it is, and on which line.
struct Opening {
    std::size_t at;
    std::size_t line;
};

// Records with their line ends. Comments are none, and empty lines only where the dialect says so.
struct Records {
    std::vector<std::int64_t> starts, ends;
    std::vector<std::int64_t> lines;  // on which each begins, counted from 0
    std::size_t used = 0;             // bytes of whole records, empty lines and comments
    std::size_t lines_used = 0;
    std::optional<Opening> opening;
};

namespace detail {

// Where a byte occurs first in at..end; `end` if it does not. Most searches in CSV end within a few bytes.
inline const std::uint8_t* find(std::uint8_t wanted, const std::uint8_t* at, const std::uint8_t* end) {
    constexpr std::uint64_t every_byte = 0x0101010101010101;
    const auto* const near = at + std::min<std::ptrdiff_t>(end - at, 32) / 8 * 8;
    for (; at < near; at += 8) {
        const auto odd = load<std::uint64_t>(at) ^ wanted * every_byte;
        const auto zeros = (odd - every_byte) & ~odd & 0x80 * every_byte;  // the lowest one is right
        if (zeros) return at + std::countr_zero(zeros) / 8;
    }
    if (at == end) return end;
    const auto* const found = static_cast<const std::uint8_t*>(std::memchr(at, wanted, static_cast<std::size_t>(end - at)));
    return found ? found : end;
}

// The next place of a byte, kept until it is passed.
class Next {
public:
    Next(std::uint8_t wanted, const std::uint8_t* at, const std::uint8_t* end)
        : wanted_(wanted), end_(end), found_(find(wanted, at, end)) {}
    const std::uint8_t* from(const std::uint8_t* at) {
        if (found_ < at) found_ = find(wanted_, at, end_);
        return found_;
    }

private:
    std::uint8_t wanted_;
    const std::uint8_t* end_;
    const std::uint8_t* found_;
};

// The parts of a text outside of quoted values, of which the last line feed ends a record.
class Outside {
public:
    explicit Outside(const std::uint8_t* begin) : begin_(begin), border_(begin) {}

    // The part goes up to here, to the beginning of a quoted value or to the end.
    void add(const std::uint8_t* end) {
        if (count_ == parts_.size()) border_ = border(), count_ = 0;
        parts_[count_++] = {begin_, end};
    }
    // The next part begins.
    void go_on(const std::uint8_t* begin) { begin_ = begin; }

    // The byte behind the last line feed in all parts; the beginning if there is none.
    const std::uint8_t* border() const {
        for (auto i = count_; i > 0; --i) {
            const auto [first, last] = parts_[i - 1];
            for (const auto* at = last; at > first; --at) {
                if (at[-1] == '\n') return at;
            }
        }
        return border_;
    }

private:
    const std::uint8_t* begin_;
    const std::uint8_t* border_;
    std::array<std::pair<const std::uint8_t*, const std::uint8_t*>, 256> parts_;
    std::size_t count_ = 0;
};

// What may not follow a zero at the beginning of a plain number: 007, 0x1f.
constexpr bool is_digit_or_x(std::uint8_t byte) {
    return (static_cast<std::uint8_t>(byte - '0') < 10) | ((byte | 0x20) == 'x');
}
constexpr bool is_blank(std::uint8_t byte) { return byte == ' ' || byte == '\t'; }

// A line ends with a line feed, a carriage return, or both.
class Scan {
public:
    Scan(Bytes data, const Dialect& dialect, bool is_final)
        : begin_(data.data()), end_(data.data() + data.size()), dialect_(dialect), is_final_(is_final),
          feed_('\n', begin_, end_), ret_('\r', begin_, end_), quote_(dialect.quote.value_or(dialect.delimiter), begin_, end_) {}

    Records run(std::size_t most) && {
        for (const auto* at = begin_; at < end_ && found_.starts.size() < most;) {
            const auto first_line = line_;
            const auto* const stop = is_comment(at) ? line_end(at) : record_end(at);
            if (!stop) break;
            const auto* const next = behind(stop);
            if (!next) break;
            if ((stop > at || dialect_.has_empty) && !is_comment(at)) {
                found_.starts.push_back(at - begin_);
                found_.ends.push_back(next - begin_);
                found_.lines.push_back(static_cast<std::int64_t>(first_line));
            }
            ++line_;
            at = next;
            found_.used = static_cast<std::size_t>(at - begin_);
            found_.lines_used = line_;
        }
        return std::move(found_);
    }

private:
    bool is_comment(const std::uint8_t* at) const {
        const auto size = dialect_.comment.size();
        return size && size <= static_cast<std::size_t>(end_ - at) && std::memcmp(at, dialect_.comment.data(), size) == 0;
    }

    const std::uint8_t* line_end(const std::uint8_t* at) { return std::min(feed_.from(at), ret_.from(at)); }

    // Where the line end of the record lies; null if a quote stays open.
    const std::uint8_t* record_end(const std::uint8_t* start) {
        for (const auto* at = start;;) {
            const auto* const stop = line_end(at);
            if (!dialect_.quote) return stop;
            const auto* const quote = quote_.from(at);
            if (quote >= stop) return stop;
            at = quote + 1;
            // Elsewhere a quote is a character like any other.
            if (quote != start && quote[-1] != dialect_.delimiter) continue;
            at = closed(quote);
            if (!at) return nullptr;
        }
    }

    // The byte behind a quoted value; null if its quote stays open.
    const std::uint8_t* closed(const std::uint8_t* opening) {
        for (const auto* at = opening + 1;; at += 2) {
            at = find(*dialect_.quote, at, end_);
            if (at == end_) {
                found_.opening = Opening{static_cast<std::size_t>(opening - begin_), line_};
                return nullptr;
            }
            if (at + 1 < end_ && at[1] == *dialect_.quote) continue;
            count_lines(opening, at);
            return at + 1;
        }
    }

    void count_lines(const std::uint8_t* at, const std::uint8_t* end) {
        for (const auto* stop = line_end(at); stop < end; stop = line_end(stop + 1)) {
            line_ += *stop == '\n' || stop[1] != '\n';
        }
    }

    // The byte behind a line end; null if more data decides where the line ends.
    const std::uint8_t* behind(const std::uint8_t* stop) const {
        if (stop == end_) return is_final_ ? end_ : nullptr;
        if (*stop == '\n') return stop + 1;
        if (stop + 1 == end_) return is_final_ ? end_ : nullptr;
        return stop + 1 + (stop[1] == '\n');
    }

    const std::uint8_t* begin_;
    const std::uint8_t* end_;
    const Dialect& dialect_;
    bool is_final_;
    Next feed_, ret_, quote_;
    std::size_t line_ = 0;
    Records found_;
};

}  // namespace detail

// The first records of `data`, which begins with one. If more data follows, an unfinished record is not used.
inline Records records(Bytes data, const Dialect& dialect, bool is_final,
                       std::size_t most = std::numeric_limits<std::size_t>::max()) {
    return detail::Scan(data, dialect, is_final).run(most);
}

// The size of some whole records at the beginning of `data`: nearly all of them, and 0 only if there are none. If no
// more data follows, it is all unless a quote stays open.
inline std::size_t whole_size(Bytes data, const Dialect& dialect, bool is_final) {
    const auto* const begin = data.data();
    const auto* const end = begin + data.size();
    const auto* border = begin;
    if (dialect.comment.empty()) {
        detail::Outside outside(begin);
        bool is_open = false;
        for (const auto* at = begin; dialect.quote && !is_open;) {
            const auto* const quote = detail::find(*dialect.quote, at, end);
            if (quote == end) break;
            at = quote + 1;
            const bool opens = quote == begin || quote[-1] == dialect.delimiter || quote[-1] == '\n' || quote[-1] == '\r';
            if (!opens) continue;
            outside.add(quote);
            for (at = detail::find(*dialect.quote, at, end); at + 1 < end && at[1] == *dialect.quote;) {
                at = detail::find(*dialect.quote, at + 2, end);
            }
            is_open = at == end;
            if (!is_open) outside.go_on(++at);
        }
        if (is_final && !is_open) return data.size();
        if (!is_open) outside.add(end);
        border = outside.border();
    }
    // Comments may have quotes, and lines may end with carriage returns: another look at every line.
    return border > begin ? static_cast<std::size_t>(border - begin) : records(data, dialect, is_final).used;
}

// How many lines end in `data`, with a line feed, a carriage return, or both.
inline std::size_t line_count(Bytes data) {
    auto lines = static_cast<std::size_t>(std::ranges::count(data, std::uint8_t{'\n'}));
    const auto* const end = data.data() + data.size();
    for (const auto* at = data.data(); at < end;) {
        const auto* const found = static_cast<const std::uint8_t*>(std::memchr(at, '\r', static_cast<std::size_t>(end - at)));
        if (!found) break;
        at = found + 1;
        lines += at == end || *at != '\n';
    }
    return lines;
}

// Whether some value may begin like an odd number. Rarely true if none does, and never false if one does.
inline bool may_have_odd_numbers(Bytes data, const Dialect& dialect) {
    const std::uint8_t delimiter = dialect.delimiter, quote = dialect.quote.value_or(delimiter);
    const std::uint8_t tab = delimiter == '\t' ? 0xff : '\t';  // no text has a byte 0xff
    const auto begins = [=](std::uint8_t edge, std::uint8_t a, std::uint8_t b, std::uint8_t c) {
        const bool is_edge = (edge == delimiter) | (edge == quote) | (edge == '\n') | (edge == '\r');
        const bool is_odd = ((a == '0') & detail::is_digit_or_x(b)) | (a == '+');
        const bool is_later = ((a == '-') | (a == ' ')) & (b == '0') & detail::is_digit_or_x(c);
        const bool is_blank = (a == tab) | ((a == ' ') & ((b == ' ') | (b == tab) | (b == '-') | (b == '+')));
        return static_cast<std::uint8_t>(is_edge & (is_odd | is_later | is_blank));
    };
    const auto at = [&](std::size_t place) { return place < data.size() ? data[place] : std::uint8_t{0}; };
    if (begins('\n', at(0), at(1), at(2))) return true;
    std::size_t i = 0;
    // In pieces, so that each can be done with vectors.
    for (constexpr std::size_t piece = 1 << 12; i + piece + 3 < data.size(); i += piece) {
        const auto* const part = data.data() + i;
        std::uint8_t found = 0;
        for (std::size_t j = 0; j < piece; ++j) found |= begins(part[j], part[j + 1], part[j + 2], part[j + 3]);
        if (found) return true;
    }
    for (; i < data.size(); ++i) {
        if (begins(data[i], at(i + 1), at(i + 2), at(i + 3))) return true;
    }
    return false;
}

// Whether a record has a number such as 007, +7 or 0x7, in one of the columns that `numbers` marks.
inline bool has_odd_numbers(Bytes record, const Dialect& dialect, std::span<const std::uint8_t> numbers) {
    const auto* at = record.data();
    const auto* const end = at + record.size();
    for (const auto is_number : numbers) {
        const bool is_quoted = at < end && dialect.quote && *at == *dialect.quote;
        if (is_number) {
            const auto* digit = at + is_quoted;
            while (digit < end && detail::is_blank(*digit) && *digit != dialect.delimiter) ++digit;
            if (digit < end && *digit == '+') return true;
            if (digit < end && *digit == '-') ++digit;
            if (digit + 1 < end && *digit == '0' && detail::is_digit_or_x(digit[1])) return true;
        }
        if (is_quoted) {
            for (++at; (at = detail::find(*dialect.quote, at, end)) + 1 < end && at[1] == *dialect.quote;) at += 2;
        }
        at = detail::find(dialect.delimiter, at, end);
        if (at == end) return false;
        ++at;
    }
    return false;
}

}  // namespace amudai::text::csv
