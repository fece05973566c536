// Where the values of CSV records end, for text in which all records have the same number of values.
#pragma once
#include <array>
#include <memory>

#include "text/csv_marks.hpp"

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

inline void Cells::add(std::uint64_t marks, std::size_t at) {
    if (count_ + MarkScan::chunk + 2 > room_) {
        const auto room = std::max(2 * room_, data_.size() / 8 + 4 * MarkScan::chunk);
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
    constexpr auto chunk = MarkScan::chunk;
    if (columns == 0 || (columns == 1) != dialect.has_empty || !MarkScan::knows(dialect)) return std::nullopt;
    if (data.size() > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    Cells cells(data, columns);
    MarkScan scan(dialect);
    // A line feed is added to a last line without one.
    const std::size_t size = data.size() + (!data.empty() && data.back() != '\n');
    std::size_t lines = 0;
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
        auto marks = scan.next(bytes);
        if (scan.is_odd()) return std::nullopt;
        if (is_last) {
            const auto inner = ~std::uint64_t{0} >> (chunk - (size - at));
            marks.separators &= inner, marks.feeds &= inner;
        }
        lines += static_cast<std::size_t>(std::popcount(marks.feeds));
        cells.add(marks.separators, at);
    }
    cells.has_quotes_ = scan.has_quotes(), cells.has_returns_ = scan.has_returns();
    const auto found = cells.count_ - 1;
    cells.rows_ = found / columns;
    if (scan.is_open() || lines * columns != found) return std::nullopt;
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
