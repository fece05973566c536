// What stands where in CSV text, 64 bytes at a time: separators and line feeds outside of quoted values.
#pragma once
#include <array>
#include <bit>

#include "bits/byte_chunk.hpp"
#include "text/csv.hpp"

namespace amudai::text::csv {

namespace detail {

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

// What stands in a chunk.
struct ChunkMarks {
    std::uint64_t separators;  // delimiters and line feeds outside of quoted values
    std::uint64_t feeds;       // line feeds outside of quoted values
    std::uint64_t all_feeds;
};

// Goes through text chunk by chunk. It knows nothing of comments.
class MarkScan {
public:
    static constexpr std::size_t chunk = bits::ByteChunk::size;

    explicit MarkScan(const Dialect& dialect)
        : delimiter_(dialect.delimiter), quote_(dialect.quote.value_or('\r')), has_quote_(dialect.quote.has_value()) {}

    // Whether the special bytes of a dialect are different ones.
    static bool knows(const Dialect& dialect) {
        const auto is_line_end = [](std::uint8_t byte) { return byte == '\n' || byte == '\r'; };
        if (dialect.quote && (is_line_end(*dialect.quote) || *dialect.quote == dialect.delimiter)) return false;
        return !is_line_end(dialect.delimiter);
    }

    ChunkMarks next(const std::uint8_t* bytes) {
        const bits::ByteChunk found(bytes);
        const auto feeds = found.equal('\n');
        const auto separators = found.equal(delimiter_) | feeds;
        if (!found.either(quote_, '\r') && !quoting_.goes_on()) {
            quoting_.pass(separators);
            return {separators, feeds, feeds};
        }
        const auto quoted = has_quote_ ? found.equal(quote_) : 0, returned = found.equal('\r');
        const auto inside = quoting_.inside(separators, quoted, returned, feeds);
        has_quotes_ |= quoted != 0, has_returns_ |= returned != 0, has_returns_inside_ |= (returned & inside) != 0;
        return {separators & ~inside, feeds & ~inside, feeds};
    }

    // Whether some quote stands where none can be, or a line ends with a carriage return alone: a closer look is needed.
    bool is_odd() const { return quoting_.is_odd(); }
    // Whether a quote is open.
    bool is_open() const { return quoting_.is_open(); }
    bool has_quotes() const { return has_quotes_; }
    bool has_returns() const { return has_returns_; }
    // Whether there are carriage returns inside of quoted values.
    bool has_returns_inside() const { return has_returns_inside_; }

private:
    std::uint8_t delimiter_, quote_;
    bool has_quote_;
    bool has_quotes_ = false, has_returns_ = false, has_returns_inside_ = false;
    detail::Quoting quoting_;
};

// Whole records at the beginning of a text, and how many lines end in them.
struct WholeRecords {
    std::size_t size = 0;
    std::size_t lines = 0;
};

namespace detail {

// Nothing if the text needs a closer look.
inline std::optional<WholeRecords> quick_whole(Bytes data, const Dialect& dialect, bool is_final) {
    constexpr auto chunk = MarkScan::chunk;
    if (!dialect.comment.empty() || !MarkScan::knows(dialect) || data.empty() || data.back() == '\r') return std::nullopt;
    MarkScan scan(dialect);
    WholeRecords found;
    std::size_t lines = 0;
    for (std::size_t at = 0; at < data.size(); at += chunk) {
        const auto left = data.size() - at;
        std::array<std::uint8_t, chunk> last;
        if (left < chunk) {
            last.fill(dialect.delimiter);
            std::memcpy(last.data(), data.data() + at, left);
        }
        const auto marks = scan.next(left < chunk ? last.data() : data.data() + at);
        if (scan.is_odd()) return std::nullopt;
        if (marks.feeds) {
            const auto behind = static_cast<std::size_t>(std::bit_width(marks.feeds));
            const auto kept = marks.all_feeds << (chunk - behind);
            found = {at + behind, lines + static_cast<std::size_t>(std::popcount(kept))};
        }
        lines += static_cast<std::size_t>(std::popcount(marks.all_feeds));
    }
    if (is_final && !scan.is_open()) found = {data.size(), lines};
    if (found.size == 0) return std::nullopt;
    if (scan.has_returns_inside()) found.lines = line_count(data.first(found.size));
    return found;
}

}  // namespace detail

// Nearly all whole records of `data`, none only if there are none. If no more data follows, it is all unless a quote
// stays open.
inline WholeRecords whole(Bytes data, const Dialect& dialect, bool is_final) {
    if (const auto found = detail::quick_whole(data, dialect, is_final)) return *found;
    const auto size = whole_size(data, dialect, is_final);
    return {size, line_count(data.first(size))};
}

}  // namespace amudai::text::csv
