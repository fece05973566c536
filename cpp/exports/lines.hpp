// Rows as lines: JSON objects, or cells of CSV.
#pragma once
#include "exports/nested.hpp"

namespace amudai::exports {

// The end of rows [first, first + count).
inline std::size_t end_of_rows(std::size_t first, std::size_t count) {
    if (count > SIZE_MAX - first) throw std::invalid_argument("columns: expected a value for each row");
    return first + count;
}

inline void put_json_lines(Sink& out, const Members& members, std::size_t first, std::size_t count) {
    for (auto row = first; row < first + count; ++row) {
        members.put_json(out, row);
        out.put('\n');
    }
}

inline void put_csv_lines(Sink& out, std::span<const Child> columns, std::size_t first, std::size_t count) {
    const auto end = end_of_rows(first, count);
    for (const auto& column : columns) {
        if (column->count() < end) throw std::invalid_argument("columns: expected a value for each row");
    }
    for (auto row = first; row < end; ++row) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (i) out.put(',');
            columns[i]->put_csv(out, row);
        }
        out.put('\n');
    }
}

}  // namespace amudai::exports
