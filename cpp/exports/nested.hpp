// Columns of lists, structs, maps and unions.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "exports/columns.hpp"

namespace amudai::exports {

// Values that consist of others. In CSV they are JSON.
class Nested : public Column {
public:
    using Column::Column;

private:
    void put_json_value(Sink& out, std::size_t slot) const override = 0;
    void put_csv_value(Sink& out, std::size_t slot) const final {
        const auto before = out.size();
        put_json_value(out, slot);
        quote_from(out, before);
    }
};

// Slot i holds items [starts[i], ends[i]).
struct Stretches {
    std::span<const std::int64_t> starts;
    std::span<const std::int64_t> ends;

    static Stretches checked(std::span<const std::int64_t> starts, std::span<const std::int64_t> ends, std::size_t items) {
        if (starts.size() != ends.size()) throw std::invalid_argument("lists: expected as many ends as starts");
        bool sound = true;
        for (std::size_t i = 0; i < starts.size(); ++i) {
            sound &= starts[i] >= 0 && starts[i] <= ends[i] && static_cast<std::uint64_t>(ends[i]) <= items;
        }
        if (!sound) throw std::invalid_argument("lists: expected every list inside the items");
        return {starts, ends};
    }
    template <class Use>
    void each(std::size_t slot, Use&& use) const {
        for (auto item = starts[slot]; item < ends[slot]; ++item) use(static_cast<std::size_t>(item), item == starts[slot]);
    }
};

class Lists final : public Nested {
public:
    Lists(Validity validity, Stretches stretches, Child items)
        : Nested(stretches.starts.size(), validity), stretches_(stretches), items_(std::move(items)) {}

private:
    void put_json_value(Sink& out, std::size_t slot) const override {
        out.put('[');
        stretches_.each(slot, [&](std::size_t item, bool is_first) {
            if (!is_first) put(out, ", ");
            items_->put_json(out, item);
        });
        out.put(']');
    }

    Stretches stretches_;
    Child items_;
};

// The members of JSON objects: their columns, and the names that precede each value.
class Members {
public:
    Members(std::span<const std::string> names, std::vector<Child> columns, std::size_t count) : columns_(std::move(columns)) {
        if (names.size() != columns_.size()) throw std::invalid_argument("names: expected one for each column");
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (columns_[i]->count() < count) throw std::invalid_argument("columns: expected a value for each row");
            Sink label;
            put(label, i ? ", " : "");
            const auto* const text = reinterpret_cast<const std::uint8_t*>(names[i].data());
            put_json_text(label, {{text, names[i].size()}, text + names[i].size()});
            put(label, ": ");
            labels_.emplace_back(label.bytes().begin(), label.bytes().end());
        }
    }
    void put_json(Sink& out, std::size_t slot) const {
        out.put('{');
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            put(out, labels_[i]);
            columns_[i]->put_json(out, slot);
        }
        out.put('}');
    }

private:
    std::vector<std::string> labels_;
    std::vector<Child> columns_;
};

class Structs final : public Nested {
public:
    Structs(std::size_t count, Validity validity, std::span<const std::string> names, std::vector<Child> columns)
        : Nested(count, validity), members_(names, std::move(columns), count) {}

private:
    void put_json_value(Sink& out, std::size_t slot) const override { members_.put_json(out, slot); }

    Members members_;
};

// An object if the keys are texts and no key occurs twice, otherwise a list of pairs.
class Maps final : public Nested {
public:
    Maps(Validity validity, Stretches stretches, bool has_texts, Child keys, Child items)
        : Nested(stretches.starts.size(), validity), stretches_(stretches), has_texts_(has_texts), keys_(std::move(keys)),
          items_(std::move(items)) {}

private:
    void put_json_value(Sink& out, std::size_t slot) const override {
        const bool is_object = has_texts_ && has_distinct_keys(slot);
        out.put(is_object ? '{' : '[');
        stretches_.each(slot, [&](std::size_t item, bool is_first) {
            if (!is_first) put(out, ", ");
            if (!is_object) out.put('[');
            keys_->put_json(out, item);
            put(out, is_object ? ": " : ", ");
            items_->put_json(out, item);
            if (!is_object) out.put(']');
        });
        out.put(is_object ? '}' : ']');
    }
    bool has_distinct_keys(std::size_t slot) const {
        std::vector<std::string_view> keys;
        stretches_.each(slot, [&](std::size_t item, bool) {
            const auto text = keys_->text(item);
            keys.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
        });
        std::ranges::sort(keys);
        return std::ranges::adjacent_find(keys) == keys.end();
    }

    Stretches stretches_;
    bool has_texts_;
    Child keys_;
    Child items_;
};

// Slot i is value slots[i] of column which[i].
class Unions final : public Column {
public:
    Unions(std::span<const std::uint8_t> which, std::span<const std::int64_t> slots, std::vector<Child> columns)
        : Column(which.size(), {}), which_(which), slots_(slots), columns_(std::move(columns)) {
        if (slots.size() != which.size()) throw std::invalid_argument("slots: expected as many as there are values");
        for (std::size_t i = 0; i < which.size(); ++i) {
            if (which[i] >= columns_.size() || slots[i] < 0 || static_cast<std::uint64_t>(slots[i]) >= columns_[which[i]]->count()) {
                throw std::invalid_argument("slots: expected every value inside its column");
            }
        }
    }

private:
    void put_json_value(Sink& out, std::size_t slot) const override { of(slot).put_json(out, static_cast<std::size_t>(slots_[slot])); }
    void put_csv_value(Sink& out, std::size_t slot) const override { of(slot).put_csv(out, static_cast<std::size_t>(slots_[slot])); }
    const Column& of(std::size_t slot) const { return *columns_[which_[slot]]; }

    std::span<const std::uint8_t> which_;
    std::span<const std::int64_t> slots_;
    std::vector<Child> columns_;
};

}  // namespace amudai::exports
