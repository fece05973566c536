// Values of CSV text as the buffers of Arrow arrays, and what the values of a column look like.
#pragma once
#include "binary/utf8.hpp"
#include "text/csv_cells.hpp"
#include "text/csv_values.hpp"

namespace amudai::text::csv {

// What a column holds. The numbers are those of `_CellKind` in sources/csv/columns.py.
enum class CellKind : std::uint8_t {
    null,
    boolean,
    int64,
    float64,
    date32,
    clock_us,   // times without a zone
    clock_ns,
    moment_us,  // times with a zone
    moment_ns,
    text,
    text_or_null,
};

constexpr bool is_text(CellKind kind) { return kind == CellKind::text || kind == CellKind::text_or_null; }

// Bytes of a value of fixed size; 0 for bits, and for texts.
constexpr std::size_t value_size(CellKind kind) {
    if (kind == CellKind::null || kind == CellKind::boolean || is_text(kind)) return 0;
    return kind == CellKind::date32 ? 4 : 8;
}

// Where a column goes.
struct Column {
    CellKind kind;
    std::uint8_t* validity;  // a bit for each row
    std::uint8_t* values;    // numbers, bits, or the bytes of texts with `text_slack` bytes behind them
    std::int32_t* offsets;   // of texts
    std::size_t nulls = 0;
};

inline constexpr std::size_t text_slack = 32;

// Room for the texts of each column, with their quotes. Other columns have none.
inline std::vector<std::size_t> text_sizes(const Cells& cells, std::span<const CellKind> kinds) {
    std::vector<std::size_t> sizes(kinds.size());
    std::vector<std::size_t> texts;
    for (std::size_t column = 0; column < kinds.size(); ++column) {
        if (is_text(kinds[column])) texts.push_back(column);
    }
    for (std::size_t row = 0; row < cells.rows(); ++row) {
        for (const auto column : texts) {
            const auto cell = row * cells.columns() + column;
            sizes[column] += cells.end(cell) - cells.begin(cell);
        }
    }
    return sizes;
}

namespace detail {

// Rows that are read at a time, column by column, so that their text stays in the cache.
inline constexpr std::size_t rows_at_a_time = 512;

class ColumnReader {
public:
    ColumnReader(const Cells& cells, const Dialect& dialect, const Nulls& nulls, std::size_t column)
        : cells_(cells), quote_(dialect.quote.value_or(0)), nulls_(nulls), column_(column),
          is_quoted_(dialect.quote && cells.has_quotes()), has_return_(cells.has_returns() && column + 1 == cells.columns()) {}

    Value value(std::size_t row) const {
        const auto cell = row * cells_.columns() + column_;
        const auto* const base = cells_.data().data();
        Value found{base + cells_.begin(cell), base + cells_.end(cell), cells_.data()};
        if (has_return_ && found.at < found.end && found.end[-1] == '\r') --found.end;
        if (is_quoted_ && found.at < found.end && *found.at == quote_) ++found.at, --found.end;
        return found;
    }

    bool read(Column& out, std::size_t first, std::size_t last) const {
        switch (out.kind) {
            case CellKind::null:
                return filled<std::uint8_t>(out, first, last, [](const Value&) { return std::optional<std::uint8_t>(); });
            case CellKind::boolean: return booleans(out, first, last);
            case CellKind::int64:
                return filled<std::int64_t>(out, first, last, [](const Value& value) { return integer(value); }, true);
            case CellKind::float64:
                return filled<double>(out, first, last, [](const Value& value) { return number(value); }, true);
            case CellKind::date32:
                return filled<std::int32_t>(out, first, last, [](const Value& value) { return date(value.at, value.size()); });
            case CellKind::clock_us: return moments(out, first, last, 6, false);
            case CellKind::clock_ns: return moments(out, first, last, 9, false);
            case CellKind::moment_us: return moments(out, first, last, 6, true);
            case CellKind::moment_ns: return moments(out, first, last, 9, true);
            case CellKind::text: case CellKind::text_or_null: texts(out, first, last); return true;
        }
        return false;
    }

private:
    static void set_null(Column& out, std::size_t row) {
        out.validity[row / 8] = static_cast<std::uint8_t>(out.validity[row / 8] & ~(1u << row % 8));
        ++out.nulls;
    }

    bool moments(Column& out, std::size_t first, std::size_t last, int digits, bool has_zone) const {
        return filled<std::int64_t>(out, first, last, [=](const Value& value) { return moment(value, digits, has_zone); });
    }

    // Blanks around numbers have no meaning, but a text that means null has none.
    template <class T, class Read>
    bool filled(Column& out, std::size_t first, std::size_t last, Read read_one, bool trims = false) const {
        for (auto row = first; row < last; ++row) {
            const auto text = value(row);
            std::optional<T> found;
            if (!nulls_.comes_first() || !nulls_.has(text)) {
                found = read_one(text);
                if (!found && !nulls_.has(text)) {
                    if (trims) found = read_one(text.trimmed());
                    if (!found) return false;
                }
            }
            if (!found) set_null(out, row);
            if (out.values) store(out.values + row * sizeof(T), found.value_or(T{}));
        }
        return true;
    }

    bool booleans(Column& out, std::size_t first, std::size_t last) const {
        for (auto row = first; row < last; ++row) {
            const auto text = value(row);
            const bool is_null = nulls_.has(text);
            const auto found = is_null ? std::optional<bool>() : truth(text);
            if (!found && !is_null) return false;
            if (is_null) set_null(out, row);
            if (row % 8 == 0) out.values[row / 8] = 0;
            out.values[row / 8] = static_cast<std::uint8_t>(out.values[row / 8] | unsigned{found.value_or(false)} << row % 8);
        }
        return true;
    }

    void texts(Column& out, std::size_t first, std::size_t last) const {
        if (first == 0) out.offsets[0] = 0;
        auto* to = out.values + out.offsets[first];
        const auto* const base = cells_.data().data();
        const auto* const limit = base + cells_.data().size();
        for (auto row = first; row < last; ++row) {
            const auto text = value(row);
            if (out.kind == CellKind::text_or_null && nulls_.has(text)) {
                set_null(out, row);
            } else if (is_quoted_ && text.at > base && text.at[-1] == quote_ && find(quote_, text.at, text.end) != text.end) {
                to = put_unquoted(to, text);
            } else {
                to = put(to, text, limit);
            }
            out.offsets[row + 1] = static_cast<std::int32_t>(to - out.values);
        }
    }

    // Most texts are short: one copy of fixed size is faster than one of their size.
    static std::uint8_t* put(std::uint8_t* to, const Value& text, const std::uint8_t* limit) {
        if (text.size() <= text_slack && static_cast<std::size_t>(limit - text.at) >= text_slack) {
            std::memcpy(to, text.at, text_slack);
        } else {
            std::memcpy(to, text.at, text.size());
        }
        return to + text.size();
    }

    // A doubled quote is one.
    std::uint8_t* put_unquoted(std::uint8_t* to, const Value& text) const {
        for (const auto* at = text.at; at < text.end; ++at) {
            *to++ = *at;
            if (*at == quote_) ++at;
        }
        return to;
    }

    const Cells& cells_;
    std::uint8_t quote_;
    const Nulls& nulls_;
    std::size_t column_;
    bool is_quoted_, has_return_;
};

}  // namespace detail

// Fills the columns; false if a value needs a closer look. The validity has bits of 1 for all rows.
inline bool read_columns(const Cells& cells, const Dialect& dialect, const Nulls& nulls, std::span<Column> columns) {
    for (std::size_t first = 0; first < cells.rows(); first += detail::rows_at_a_time) {
        const auto last = std::min(cells.rows(), first + detail::rows_at_a_time);
        for (std::size_t column = 0; column < columns.size(); ++column) {
            if (!detail::ColumnReader(cells, dialect, nulls, column).read(columns[column], first, last)) return false;
        }
    }
    return true;
}

// What values look like. The numbers are those of `_Looks` in sources/csv/columns.py.
namespace looks {
inline constexpr std::uint16_t integer = 1;
inline constexpr std::uint16_t number = 2;         // with a fraction or an exponent
inline constexpr std::uint16_t long_integer = 4;   // one that a double may round
inline constexpr std::uint16_t boolean = 8;
inline constexpr std::uint16_t date = 16;
inline constexpr std::uint16_t clock = 32;         // a time without a zone, in microseconds
inline constexpr std::uint16_t moment = 64;        // a time with a zone, in microseconds
inline constexpr std::uint16_t text = 128;         // surely no number, boolean or time
inline constexpr std::uint16_t other = 256;        // needs a closer look
// A column that has a text is text if it begins with one of these.
inline constexpr std::uint16_t plain = integer | number | boolean | text;
}  // namespace looks

// The looks of all values of a column that do not mean null, and those of its first values.
struct ColumnLooks {
    std::uint16_t first = 0, all = 0;
};

namespace detail {

inline constexpr std::size_t first_rows = 64;  // as in sources/csv/types.py

constexpr std::uint8_t folded(std::uint8_t byte) { return byte | 0x20; }
constexpr bool is_letter(std::uint8_t byte) { return static_cast<std::uint8_t>(folded(byte) - 'a') < 26; }

// Whether a text is no number, in whatever form, and no time. It is not empty, and no boolean.
inline bool is_surely_text(const Value& value) {
    const auto* const at = value.at;
    if (is_letter(*at)) {
        const auto begins = [&](std::string_view word) {
            return value.size() >= 3 && folded(at[0]) == word[0] && folded(at[1]) == word[1] && folded(at[2]) == word[2];
        };
        return !begins("inf") && !begins("nan");
    }
    const bool may_begin = is_digit(*at) || *at == '-' || *at == '+' || *at == '.' || *at <= ' ';
    if (!may_begin) return true;
    // Leading zeros are kept, and with them the column is text.
    if (*at == '0' && value.size() > 1 && std::all_of(at, value.end, is_digit)) return true;
    const bool may_be_time = value.size() >= 5 && at[4] == '-';
    return std::any_of(at, value.end, [=](std::uint8_t byte) {
        if (is_digit(byte) || byte <= ' ' || byte == '+' || byte == '-' || byte == '.') return false;
        if (byte == ':') return !may_be_time;
        // Exponents, the T and Z of times, infinity and nan.
        return !is_letter(byte) || std::string_view("etzinfay").find(static_cast<char>(folded(byte))) == std::string_view::npos;
    });
}

// What a value looks like. Most look like the one before, and dates and times look like nothing else.
inline std::uint16_t look(const Value& value, std::uint16_t before) {
    const bool is_longer = value.size() > 10;  // than a date, which is a time, too
    if (before == looks::date && date(value.at, value.size())) return looks::date;
    if (before == looks::clock && is_longer && moment(value, 6, false)) return looks::clock;
    if (before == looks::moment && moment(value, 6, true)) return looks::moment;
    const auto trimmed = value.trimmed();
    if (const auto found = integer(trimmed)) {
        constexpr std::int64_t most = 1'000'000'000'000'000;
        return *found < most && *found > -most ? looks::integer : looks::integer | looks::long_integer;
    }
    if (number(trimmed)) return looks::number;
    if (truth(value)) return looks::boolean;
    if (date(value.at, value.size())) return looks::date;
    if (moment(value, 6, false)) return looks::clock;
    if (moment(value, 6, true)) return looks::moment;
    return value.at < value.end && is_surely_text(value) ? looks::text : looks::other;
}

}  // namespace detail

inline std::vector<ColumnLooks> column_looks(const Cells& cells, const Dialect& dialect, const Nulls& nulls) {
    std::vector<ColumnLooks> found(cells.columns());
    // The first rows alone, then many at a time.
    for (std::size_t begin = 0, end = 0; begin < cells.rows(); begin = end) {
        end = std::min(cells.rows(), begin + (begin == 0 ? detail::first_rows : detail::rows_at_a_time));
        for (std::size_t column = 0; column < cells.columns(); ++column) {
            auto& [first, all] = found[column];
            // Then other values change nothing any more.
            if (begin > 0 && (all & looks::text) && (first == 0 || (first & looks::plain))) continue;
            const detail::ColumnReader reader(cells, dialect, nulls, column);
            std::uint16_t latest = 0;
            for (auto row = begin; row < end; ++row) {
                const auto value = reader.value(row);
                if (!nulls.has(value)) all |= latest = detail::look(value, latest);
            }
            if (begin == 0) first = all;
        }
    }
    return found;
}

}  // namespace amudai::text::csv
