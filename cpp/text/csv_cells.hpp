// Where the values of CSV records end, for text in which all records have the same number of values.
#pragma once
#include <array>
#include <memory>

#include "text/csv.hpp"

namespace amudai::text::csv {

// The values of records as a grid. It knows nothing of text that needs a closer look: quotes inside of values, records
// of other lengths, empty lines, comments, lines that end with a carriage return alone.
class Cells {
public:
    // Nothing if the text needs a closer look. It has whole records; a line end behind the last one may be missing.
    static std::optional<Cells> of(Bytes data, const Dialect& dialect, std::size_t columns);

    Bytes data() const { return data_; }
    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    bool has_quotes() const { return has_quotes_; }
    bool has_returns() const { return has_returns_; }

    // Where the text of a cell begins and ends, with its quotes, and with a carriage return behind the last one.
    std::size_t begin(std::size_t cell) const { return std::size_t{ends_[cell] + 1}; }
    std::size_t end(std::size_t cell) const { return ends_[cell + 1]; }

private:
    explicit Cells(Bytes data, std::size_t columns) : data_(data), columns_(columns) {}
    void add(std::uint64_t marks, std::size_t at);

    Bytes data_;
    std::size_t columns_;
    std::size_t rows_ = 0;
    bool has_quotes_ = false, has_returns_ = false;
    std::unique_ptr<std::uint32_t[]> ends_;  // the end of each cell, behind one more for what is before the first
    std::size_t count_ = 0, room_ = 0;
};

namespace detail {

inline constexpr std::size_t chunk = 64;

// What a byte can be.
inline constexpr std::uint8_t separator = 1, quotes = 2, returns = 4, feeds = 8;

using Flags = std::array<std::uint64_t, chunk / 8>;

// What each of 64 bytes is.
inline Flags flags_of(const std::uint8_t* bytes, std::uint8_t delimiter, std::uint8_t quote, std::uint8_t quote_flag) {
    std::array<std::uint8_t, chunk> kinds;
    for (std::size_t i = 0; i < chunk; ++i) {
        const auto byte = bytes[i];
        const auto edge = static_cast<std::uint8_t>(byte == delimiter ? separator : 0);
        const auto feed = static_cast<std::uint8_t>(byte == '\n' ? separator | feeds : 0);
        const auto quoted = static_cast<std::uint8_t>(byte == quote ? quote_flag : 0);
        const auto returned = static_cast<std::uint8_t>(byte == '\r' ? returns : 0);
        kinds[i] = static_cast<std::uint8_t>(edge | feed | quoted | returned);
    }
    return std::bit_cast<Flags>(kinds);
}

// A bit for each of 64 bytes that has some flag.
inline std::uint64_t marked(const Flags& flags, std::uint8_t flag) {
    std::uint64_t found = 0;
    const int shift = std::countr_zero(flag);
    for (std::size_t i = 0; i < flags.size(); ++i) {
        // The product moves the bits of all bytes into the last one.
        const auto bits = (flags[i] >> shift & 0x0101010101010101) * 0x0102040810204080 >> 56;
        found |= bits << 8 * i;
    }
    return found;
}

// Bit i is the exclusive or of the bits 0..i.
constexpr std::uint64_t running_parity(std::uint64_t bits) {
    for (int step = 1; step < 64; step *= 2) bits ^= bits << step;
    return bits;
}

// Follows quotes and carriage returns from one chunk to the next.
class Quoting {
public:
    // The bits that are inside of quotes. `marks` has the separators, `quoted` the quotes, `returned` the carriage returns.
    std::uint64_t inside(std::uint64_t marks, std::uint64_t quoted, std::uint64_t returned, std::uint64_t feed) {
        const auto within = running_parity(quoted) ^ (is_open_ ? ~std::uint64_t{0} : 0);
        const auto edges = marks | quoted | returned;
        const auto closing = quoted & ~within;
        // A quote opens behind an edge, and what follows one that closes is an edge. A doubled quote closes and opens.
        is_odd_ |= (quoted & within & ~(edges << 1 | std::uint64_t{was_edge_})) != 0;
        is_odd_ |= ((closing << 1 | std::uint64_t{was_closed_}) & ~edges) != 0;
        const auto outside = returned & ~within;
        is_odd_ |= ((outside << 1 | std::uint64_t{was_return_}) & ~feed) != 0;
        is_open_ = within >> 63, was_edge_ = edges >> 63, was_closed_ = closing >> 63, was_return_ = outside >> 63;
        return within;
    }

    // After a chunk that needs no look, because it has neither quotes nor carriage returns.
    void pass(std::uint64_t marks) { was_edge_ = marks >> 63; }

    // Whether the next chunk needs a look whatever it has.
    bool goes_on() const { return is_open_ || was_closed_ || was_return_; }
    bool is_open() const { return is_open_; }
    bool is_odd() const { return is_odd_; }

private:
    bool is_open_ = false, is_odd_ = false;
    bool was_edge_ = true, was_closed_ = false, was_return_ = false;
};

}  // namespace detail

inline void Cells::add(std::uint64_t marks, std::size_t at) {
    if (count_ + detail::chunk + 2 > room_) {
        const auto room = std::max(2 * room_, data_.size() / 8 + 4 * detail::chunk);
        auto grown = std::make_unique_for_overwrite<std::uint32_t[]>(room);
        if (count_) std::memcpy(grown.get(), ends_.get(), count_ * sizeof(std::uint32_t));
        ends_ = std::move(grown), room_ = room;
    }
    auto* to = ends_.get() + count_;
    count_ += static_cast<std::size_t>(std::popcount(marks));
    // Eight at a time, of which some may be too many: that is faster than a branch for each.
    for (; marks; to += 8) {
        for (std::size_t i = 0; i < 8; ++i) {
            to[i] = static_cast<std::uint32_t>(at + static_cast<std::size_t>(std::countr_zero(marks)));
            marks &= marks - 1;
        }
    }
}

inline std::optional<Cells> Cells::of(Bytes data, const Dialect& dialect, std::size_t columns) {
    using detail::chunk;
    const std::uint8_t delimiter = dialect.delimiter, quote = dialect.quote.value_or('\n');
    const bool is_told_apart = delimiter != '\n' && delimiter != '\r' && quote != delimiter && quote != '\r';
    if (columns == 0 || (columns == 1) != dialect.has_empty || !is_told_apart) return std::nullopt;
    if (dialect.quote == '\n' || data.size() > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    Cells cells(data, columns);
    detail::Quoting quoting;
    const std::uint8_t quote_flag = dialect.quote ? detail::quotes : 0;
    // A line feed is added to a last line without one. Those inside of values are subtracted where they are met.
    const std::size_t size = data.size() + (!data.empty() && data.back() != '\n');
    std::size_t lines = static_cast<std::size_t>(std::ranges::count(data, std::uint8_t{'\n'})) + size - data.size();
    cells.add(0, 0);
    cells.ends_[cells.count_++] = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t at = 0; at < size; at += chunk) {
        const auto* bytes = data.data() + at;
        std::array<std::uint8_t, chunk> last;
        const bool is_last = data.size() - at < chunk;
        if (is_last) {
            last.fill('\n');
            std::memcpy(last.data(), bytes, data.size() - at);
            bytes = last.data();
        }
        const auto flags = detail::flags_of(bytes, delimiter, quote, quote_flag);
        auto marks = detail::marked(flags, detail::separator);
        std::uint64_t any = 0;
        for (const auto word : flags) any |= word;
        constexpr std::uint64_t special = (detail::quotes | detail::returns) * std::uint64_t{0x0101010101010101};
        if ((any & special) != 0 || quoting.goes_on()) {
            const auto quoted = detail::marked(flags, detail::quotes), returned = detail::marked(flags, detail::returns);
            const auto feed = detail::marked(flags, detail::feeds);
            cells.has_quotes_ |= quoted != 0, cells.has_returns_ |= returned != 0;
            const auto inside = quoting.inside(marks, quoted, returned, feed);
            if (quoting.is_odd()) return std::nullopt;
            marks &= ~inside;
            lines -= static_cast<std::size_t>(std::popcount(feed & inside));
        } else {
            quoting.pass(marks);
        }
        if (is_last) marks &= ~std::uint64_t{0} >> (chunk - (size - at));
        cells.add(marks, at);
    }
    const auto found = cells.count_ - 1;
    cells.rows_ = found / columns;
    if (quoting.is_open() || lines * columns != found) return std::nullopt;
    const auto is_line_end = [&](std::size_t place) { return place == data.size() || data[place] == '\n'; };
    const auto comment = dialect.comment;
    for (std::size_t row = 0; row < cells.rows_; ++row) {
        if (!is_line_end(cells.end(row * columns + columns - 1))) return std::nullopt;
        const auto begin = cells.begin(row * columns);
        const bool is_comment = !comment.empty() && comment.size() <= data.size() - begin &&
                                std::memcmp(data.data() + begin, comment.data(), comment.size()) == 0;
        if (is_comment) return std::nullopt;
    }
    return cells;
}

}  // namespace amudai::text::csv
