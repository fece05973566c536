// What kinds of values the records of a file hold, at each path.
#pragma once
#include "binary/utf8.hpp"
#include "json/names.hpp"

namespace amudai::json {

// Kinds of values, as bits. The numbers are those of `Kinds` in sources/json/inference.py.
namespace kinds {
enum : std::uint32_t {
    null = 1,
    boolean = 2,
    integer = 4,         // fits int64
    unsigned_ = 8,       // fits uint64 only
    large = 16,          // an integer beyond both
    negative = 32,       // an integer below zero
    inexact = 64,        // an integer that a float64 would round
    fraction = 128,      // a number that is not written as an integer
    out_of_range = 256,  // a number that is too large for a float64
    text = 512,
    array = 1024,
    object = 2048,
};
}  // namespace kinds

// One path: the kinds found there, the members of its objects, and the elements of its arrays.
struct Observed {
    std::string name;
    std::size_t place = 0;  // among the members of the object
    std::uint32_t found = 0;
    std::vector<std::unique_ptr<Observed>> members;  // in the order of their first occurrence
    std::unordered_map<std::string_view, Observed*> by_name;
    std::unique_ptr<Observed> elements;
    std::size_t next = 0;  // the place of the member that comes next, if the object has them in this order

    Observed& member(std::string_view wanted) {
        if (const auto known = by_name.find(wanted); known != by_name.end()) return *known->second;
        auto& added = *members.emplace_back(std::make_unique<Observed>());
        added.name = wanted;
        added.place = members.size() - 1;
        by_name.emplace(added.name, &added);
        return added;
    }

    // The member of this name, if it is known and none of the others that follow in this order came before it.
    Observed* following(std::string_view wanted) {
        if (next < members.size() && members[next]->name == wanted) return members[next++].get();
        const auto known = by_name.find(wanted);
        if (known == by_name.end() || known->second->place < next) return nullptr;
        next = known->second->place + 1;
        return known->second;
    }
};

inline std::uint32_t kind_of(const Number& number) {
    constexpr std::uint32_t none = 0;
    if (!number.integer || !number.finite) {
        double value = 0;
        return kinds::fraction | (to_double(number, value) ? none : kinds::out_of_range);
    }
    const std::uint32_t rounded = is_exact(number) ? none : kinds::inexact;
    constexpr auto most = std::uint64_t{1} << 63;
    if (number.large || (number.negative && number.digits > most)) {
        double value = 0;
        const std::uint32_t sign = number.negative ? kinds::negative : none;
        return kinds::large | rounded | sign | (to_double(number, value) ? none : kinds::out_of_range);
    }
    if (number.negative) return kinds::integer | kinds::negative | rounded;
    return (number.digits < most ? kinds::integer : kinds::unsigned_) | rounded;
}

class Observer {
public:
    // `any`: records are values of any kind, not only objects.
    explicit Observer(bool nan, bool any = false) : nan_(nan), any_(any) {}

    // Takes in a sound record. Others throw, and change nothing.
    void record(Bytes record) {
        if (!utf8::is_valid(record)) throw Fault{Trouble::utf8, record.data(), record.data()};
        Cursor checking(record, nan_);
        if (checking.peek() != '{' && !any_) {
            checking.skip(1);
            throw Fault{Trouble::not_an_object, record.data(), record.data()};
        }
        if (is_usual(record)) return;
        repeated_.restart();
        repeated_.check(checking, 1);
        checking.require_end();
        Cursor cursor(record, nan_);
        value(cursor, root_, 1);
    }

    const Observed& root() const { return root_; }

private:
    // Takes in a record with members that are all known and come in the order of those before, so that no name comes
    // twice. False for other records, of which it takes in nothing.
    bool is_usual(Bytes record) {
        noted_.clear();
        is_usual_ = true;
        try {
            Cursor cursor(record, nan_);
            note(cursor, root_, 1);
            cursor.require_end();
        } catch (const Fault&) {
            if (is_usual_) throw;
        }
        if (is_usual_) {
            for (const auto& [at, kinds] : noted_) at->found |= kinds;
        }
        return is_usual_;
    }

    void note(Cursor& cursor, Observed& at, unsigned depth) {
        switch (cursor.peek()) {
        case '{':
            noted_.emplace_back(&at, kinds::object);
            at.next = 0;
            return cursor.object(depth, [&](const Text& name) {
                if (auto* const member = is_usual_ ? at.following(name_of(name, scratch_)) : nullptr) {
                    return note(cursor, *member, depth + 1);
                }
                is_usual_ = false;
                cursor.skip(depth + 1);
            });
        case '[':
            noted_.emplace_back(&at, kinds::array);
            is_usual_ &= at.elements != nullptr;
            return cursor.array(depth, [&] {
                if (is_usual_) note(cursor, *at.elements, depth + 1);
                else cursor.skip(depth + 1);
            });
        default: noted_.emplace_back(&at, simple(cursor, depth));
        }
    }

    void value(Cursor& cursor, Observed& at, unsigned depth) {
        switch (cursor.peek()) {
        case '{':
            at.found |= kinds::object;
            return cursor.object(depth, [&](const Text& name) { value(cursor, at.member(name_of(name, scratch_)), depth + 1); });
        case '[':
            at.found |= kinds::array;
            if (!at.elements) at.elements = std::make_unique<Observed>();
            return cursor.array(depth, [&] { value(cursor, *at.elements, depth + 1); });
        default: at.found |= simple(cursor, depth);
        }
    }

    // The kind of a value that is neither an object nor an array.
    static std::uint32_t simple(Cursor& cursor, unsigned depth) {
        const auto first = cursor.peek();
        if (Cursor::begins_number(first)) return kind_of(cursor.number());
        cursor.skip(depth);
        return first == '"' ? kinds::text : first == 'n' ? kinds::null : kinds::boolean;
    }

    bool nan_, any_;
    Observed root_;
    std::vector<std::pair<Observed*, std::uint32_t>> noted_;  // the kinds of values of a record
    bool is_usual_ = true;
    RepeatedNames repeated_;
    std::vector<std::uint8_t> scratch_;
};

}  // namespace amudai::json
