// Columns whose values can be written as JSON or as cells of CSV. nested.hpp has lists, structs, maps and unions.
#pragma once
#include <memory>

#include "binary/values.hpp"
#include "exports/calendar.hpp"
#include "exports/quotes.hpp"

namespace amudai::exports {

// Calls write(to), which writes at most `most` bytes and returns a pointer behind them.
template <class Write>
void put(Sink& out, std::size_t most, Write&& write) {
    const auto before = out.size();
    auto* const to = out.extend(most);
    out.cut(before + static_cast<std::size_t>(write(to) - to));
}

inline void put(Sink& out, std::string_view text) {
    out.append(Bytes{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

class Column {
public:
    Column(std::size_t count, Validity validity) : count_(count), validity_(validity) {}
    Column(const Column&) = delete;
    Column& operator=(const Column&) = delete;
    virtual ~Column() = default;

    std::size_t count() const { return count_; }

    void put_json(Sink& out, std::size_t slot) const {
        if (validity_.at_slot(slot)) put_json_value(out, slot);
        else put(out, "null");
    }
    // A null is an empty cell.
    void put_csv(Sink& out, std::size_t slot) const {
        if (validity_.at_slot(slot)) put_csv_value(out, slot);
    }
    // The bytes of a text, in columns of texts: maps compare their keys by them.
    virtual Bytes text(std::size_t) const { return {}; }

private:
    virtual void put_json_value(Sink& out, std::size_t slot) const = 0;
    virtual void put_csv_value(Sink& out, std::size_t slot) const = 0;

    std::size_t count_;
    Validity validity_;
};

using Child = std::shared_ptr<const Column>;

class Nulls final : public Column {
public:
    explicit Nulls(std::size_t count) : Column(count, {}) {}

private:
    void put_json_value(Sink& out, std::size_t) const override { put(out, "null"); }
    void put_csv_value(Sink&, std::size_t) const override {}
};

// Values whose text is the same in JSON and in CSV, except for the quotes around texts in JSON. `Values` has a function
// put(to, slot), says how many bytes that writes at `most`, and whether the value `is_text` in JSON.
template <class Values>
class Plain final : public Column {
public:
    Plain(std::size_t count, Validity validity, Values values) : Column(count, validity), values_(values) {}

private:
    void put_json_value(Sink& out, std::size_t slot) const override {
        put(out, Values::most + 2, [&](std::uint8_t* to) {
            if (Values::is_text) *to++ = '"';
            to = values_.put(to, slot);
            if (Values::is_text) *to++ = '"';
            return to;
        });
    }
    void put_csv_value(Sink& out, std::size_t slot) const override {
        put(out, Values::most, [&](std::uint8_t* to) { return values_.put(to, slot); });
    }

    Values values_;
};

struct Booleans {
    static constexpr std::size_t most = 5;
    static constexpr bool is_text = false;
    const std::uint8_t* bits;
    std::size_t at;
    std::uint8_t* put(std::uint8_t* to, std::size_t slot) const {
        const std::string_view text = bits::get(bits, at + slot) ? "true" : "false";
        std::memcpy(to, text.data(), text.size());
        return to + text.size();
    }
};

template <class T>
struct Integers {
    static constexpr std::size_t most = max_number;
    static constexpr bool is_text = false;
    const T* values;
    std::uint8_t* put(std::uint8_t* to, std::size_t slot) const { return put_integer(to, values[slot]); }
};

struct Decimals {
    static constexpr std::size_t most = max_number;
    static constexpr bool is_text = true;
    const std::uint8_t* values;  // 16 bytes each
    int scale;
    std::uint8_t* put(std::uint8_t* to, std::size_t slot) const {
        return put_decimal(to, load<__int128>(values + 16 * slot), scale);
    }
};

struct Dates {
    static constexpr std::size_t most = max_time;
    static constexpr bool is_text = true;
    const std::int32_t* days;
    std::uint8_t* put(std::uint8_t* to, std::size_t slot) const { return put_date(to, days[slot]); }
};

struct Times {
    static constexpr std::size_t most = max_time;
    static constexpr bool is_text = true;
    const std::int64_t* counts;
    Unit unit;
    std::uint8_t* put(std::uint8_t* to, std::size_t slot) const { return put_time(to, counts[slot], unit); }
};

struct Durations {
    static constexpr std::size_t most = max_time;
    static constexpr bool is_text = true;
    const std::int64_t* counts;
    Unit unit;
    std::uint8_t* put(std::uint8_t* to, std::size_t slot) const { return put_duration(to, counts[slot], unit); }
};

struct Instants {
    static constexpr std::size_t most = max_time;
    static constexpr bool is_text = true;
    const std::int64_t* counts;
    Unit unit;
    bool has_zone;
    const std::int32_t* minutes;  // how far each is ahead of UTC; null if all are in UTC
    std::uint8_t* put(std::uint8_t* to, std::size_t slot) const {
        return put_instant(to, counts[slot], unit, has_zone, minutes ? minutes[slot] : 0);
    }
};

inline std::uint8_t* put_hex(std::uint8_t* to, Bytes bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (const auto byte : bytes) {
        *to++ = static_cast<std::uint8_t>(digits[byte >> 4]);
        *to++ = static_cast<std::uint8_t>(digits[byte & 15]);
    }
    return to;
}

struct Uuids {
    static constexpr std::size_t most = 36;
    static constexpr bool is_text = true;
    const std::uint8_t* values;  // 16 bytes each
    std::uint8_t* put(std::uint8_t* to, std::size_t slot) const {
        for (auto rest = Bytes{values + 16 * slot, 16}; !rest.empty();) {
            const auto size = rest.size() == 16 ? 4u : rest.size() > 6 ? 2u : 6u;
            to = put_hex(to, rest.first(size));
            rest = rest.subspan(size);
            if (!rest.empty()) *to++ = '-';
        }
        return to;
    }
};

// Doubles. NaN and the infinities are texts, because JSON has no numbers for them.
class Doubles final : public Column {
public:
    Doubles(std::size_t count, Validity validity, const double* values) : Column(count, validity), values_(values) {}

private:
    void put_json_value(Sink& out, std::size_t slot) const override {
        if (std::isfinite(values_[slot])) return put_csv_value(out, slot);
        out.put('"');
        put_csv_value(out, slot);
        out.put('"');
    }
    void put_csv_value(Sink& out, std::size_t slot) const override {
        const auto value = values_[slot];
        if (std::isfinite(value)) return put(out, max_number, [&](std::uint8_t* to) { return put_double(to, value); });
        put(out, std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    }

    const double* values_;
};

template <class Values>
class Texts final : public Column {
public:
    Texts(Validity validity, Values values) : Column(values.count(), validity), values_(values) {}
    Bytes text(std::size_t slot) const override { return values_[slot]; }

private:
    void put_json_value(Sink& out, std::size_t slot) const override { put_json_text(out, {values_[slot], values_.end()}); }
    void put_csv_value(Sink& out, std::size_t slot) const override { put_csv_text(out, {values_[slot], values_.end()}); }

    Values values_;
};

// Bytes in hexadecimal.
template <class Values>
class Binary final : public Column {
public:
    Binary(Validity validity, Values values) : Column(values.count(), validity), values_(values) {}

private:
    void put_json_value(Sink& out, std::size_t slot) const override {
        out.put('"');
        put_all(out, slot);
        out.put('"');
    }
    void put_csv_value(Sink& out, std::size_t slot) const override {
        if (values_.length(slot) == 0) return put(out, "\"\"");  // a cell without quotes is null
        put_all(out, slot);
    }
    void put_all(Sink& out, std::size_t slot) const {
        put(out, 2 * values_.length(slot), [&](std::uint8_t* to) { return put_hex(to, values_[slot]); });
    }

    Values values_;
};

}  // namespace amudai::exports
