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
    std::uint32_t found = 0;
    std::vector<std::unique_ptr<Observed>> members;  // in the order of their first occurrence
    std::unordered_map<std::string_view, Observed*> by_name;
    std::unique_ptr<Observed> elements;

    Observed& member(std::string_view wanted) {
        if (const auto known = by_name.find(wanted); known != by_name.end()) return *known->second;
        auto& added = *members.emplace_back(std::make_unique<Observed>());
        added.name = wanted;
        by_name.emplace(added.name, &added);
        return added;
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
        repeated_.restart();
        repeated_.check(checking, 1);
        checking.require_end();
        Cursor cursor(record, nan_);
        value(cursor, root_, 1);
    }

    const Observed& root() const { return root_; }

private:
    void value(Cursor& cursor, Observed& at, unsigned depth) {
        switch (cursor.peek()) {
        case '{':
            at.found |= kinds::object;
            return cursor.object(depth, [&](const Text& name) { value(cursor, at.member(name_of(name, scratch_)), depth + 1); });
        case '[':
            at.found |= kinds::array;
            if (!at.elements) at.elements = std::make_unique<Observed>();
            return cursor.array(depth, [&] { value(cursor, *at.elements, depth + 1); });
        case '"': at.found |= kinds::text; break;
        case 't':
        case 'f': at.found |= kinds::boolean; break;
        case 'n': at.found |= kinds::null; break;
        default: at.found |= kind_of(cursor.number()); return;
        }
        cursor.skip(depth);
    }

    bool nan_, any_;
    Observed root_;
    RepeatedNames repeated_;
    std::vector<std::uint8_t> scratch_;
};

}  // namespace amudai::json
