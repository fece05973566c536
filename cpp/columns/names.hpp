// The names of the fields of a schema, which is a FlatBuffer, without a value for each table on the way to them. What is
// not as expected is left to the reader of single tables, which either succeeds or says what is wrong.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.hpp"

namespace amudai::columns {

// A table whose place and vtable lie inside the buffer.
struct FlatTable {
    std::size_t at, size, vtable, slots;
};

// Where the reference at `at` points. Four bytes can be read there.
inline std::optional<std::size_t> referred(Bytes data, std::size_t at) {
    if (data.size() < 4 || at > data.size() - 4) return {};
    const auto distance = load<std::uint32_t>(data, at);
    if (distance < 4 || distance > data.size() - 4 - at) return {};
    return at + distance;
}

inline std::optional<FlatTable> table_at(Bytes data, std::optional<std::size_t> at) {
    if (!at) return {};
    const auto vtable = static_cast<std::int64_t>(*at) - load<std::int32_t>(data, *at);
    if (vtable < 0 || static_cast<std::size_t>(vtable) > data.size() - 4) return {};
    const auto place = static_cast<std::size_t>(vtable);
    const std::size_t vtable_size = load<std::uint16_t>(data, place), size = load<std::uint16_t>(data, place + 2);
    if (vtable_size < 4 || vtable_size % 2 != 0 || vtable_size > data.size() - place) return {};
    if (size < 4 || size > data.size() - *at) return {};
    return FlatTable{*at, size, place, (vtable_size - 4) / 2};
}

// Where the field is in the table; 0 if the table lacks it.
inline std::size_t offset_of(Bytes data, const FlatTable& table, std::size_t slot) {
    return slot < table.slots ? load<std::uint16_t>(data, table.vtable + 4 + 2 * slot) : 0;
}

// Where a field refers to that no table may lack.
inline std::optional<std::size_t> field_of(Bytes data, const FlatTable& table, std::size_t slot) {
    const auto offset = offset_of(data, table, slot);
    if (offset < 4 || offset + 4 > table.size) return {};
    return referred(data, table.at + offset);
}

// The slots of a schema's tables: in a field its type, and what marks internal fields; in a type the name.
struct NameSlots {
    std::size_t type, internal, name;
};

// Where the name of each field lies, given where the references to the fields begin and end. Nothing if a field is
// internal, or something is not as expected. All names together have no more bytes than the buffer: it may refer to a long
// one many times.
inline std::optional<std::vector<Bytes>> field_names(Bytes data, std::size_t start, std::size_t end, NameSlots slots) {
    if (start > end || end > data.size() || (end - start) % 4 != 0) return {};
    std::vector<Bytes> names;
    names.reserve((end - start) / 4);
    auto left = data.size();
    for (auto at = start; at < end; at += 4) {
        const auto field = table_at(data, referred(data, at));
        if (!field || offset_of(data, *field, slots.internal) != 0) return {};
        const auto type = table_at(data, field_of(data, *field, slots.type));
        if (!type) return {};
        const auto text = field_of(data, *type, slots.name);
        if (!text) return {};
        const std::size_t size = load<std::uint32_t>(data, *text);
        if (size > data.size() - *text - 4 || size > left) return {};
        left -= size;
        names.push_back(data.subspan(*text + 4, size));
    }
    return names;
}

}  // namespace amudai::columns
