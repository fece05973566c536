// Records become columns: the buffers of Arrow arrays, nested ones included.
#pragma once
#include "binary/utf8.hpp"
#include "json/names.hpp"

namespace amudai::json {

// What a column holds. The numbers are those of `Holds` in sources/json/plan.py.
enum class Holds : std::uint8_t {
    null,
    boolean,
    int64,
    uint64,
    float64,      // refuses integers that it would round
    rounded,      // float64 that rounds
    text,
    any_text,     // texts, and other values as JSON
    json,         // values of any kind as JSON
    number_text,  // numbers as they stand, and texts
    array,
    object,
    map,          // objects as pairs of a name and a value
};

// What Python says about a column: the columns come in the order in which they are met from the root down.
struct ColumnSpec {
    Holds holds;
    std::string name;
    std::size_t children;
};

struct Column {
    Holds holds{};
    int number = 0;
    std::size_t length = 0;                 // values so far; missing ones after these are null
    std::size_t valid = 0;
    std::vector<std::uint8_t> validity;     // a bit for each value
    std::vector<std::uint64_t> words;       // numbers
    std::vector<std::uint8_t> bytes;        // bits of booleans, or texts
    std::vector<std::int32_t> offsets;      // of texts, arrays and maps
    std::vector<Column> children;
    MemberNames names;

    bool has_offsets() const { return (holds >= Holds::text && holds <= Holds::array) || holds == Holds::map; }
    bool has_words() const { return holds >= Holds::int64 && holds <= Holds::rounded; }

    static void set(std::vector<std::uint8_t>& bits, std::size_t at) {
        if (at / 8 >= bits.size()) bits.resize(std::max<std::size_t>(2 * bits.size(), at / 8 + 64));
        bits[at / 8] = static_cast<std::uint8_t>(bits[at / 8] | 1u << at % 8);
    }

    // Makes the column `size` values long, with nulls.
    void pad(std::size_t size) {
        if (length >= size) return;
        length = size;
        if (has_words()) words.resize(size);
        if (has_offsets()) offsets.resize(size + 1, offsets.back());
    }

    void mark(std::size_t at) {
        set(validity, at);
        ++valid;
        length = at + 1;
    }

    void add_word(std::size_t at, std::uint64_t word) {
        pad(at);
        words.push_back(word);
        mark(at);
    }

    // After the bytes or the children of the value have been appended. `pad` comes before them.
    void add_end(std::size_t at, std::size_t end) {
        offsets.push_back(static_cast<std::int32_t>(end));
        mark(at);
    }

    // Drops the values from `size` on.
    void truncate(std::size_t size) {
        if (length <= size) return;
        for (auto at = size; at < length; ++at) {
            const auto bit = static_cast<std::uint8_t>(1u << at % 8);
            if (at / 8 >= validity.size() || !(validity[at / 8] & bit)) continue;
            validity[at / 8] = static_cast<std::uint8_t>(validity[at / 8] & ~bit);
            if (holds == Holds::boolean && at / 8 < bytes.size()) bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] & ~bit);
            --valid;
        }
        length = size;
        if (has_words()) words.resize(size);
        if (has_offsets()) {
            offsets.resize(size + 1);
            if (children.empty()) bytes.resize(static_cast<std::size_t>(offsets.back()));
        }
        cut_children();
    }

    void cut_children() {
        for (auto& child : children) child.truncate(has_offsets() ? static_cast<std::size_t>(offsets.back()) : length);
    }

    // Gives all columns below their full length. `truncate` relies on none of it.
    void finish() {
        if (valid < length) validity.resize((length + 7) / 8);
        if (holds == Holds::boolean) bytes.resize((length + 7) / 8);
        for (auto& child : children) {
            child.pad(has_offsets() ? static_cast<std::size_t>(offsets.back()) : length);
            child.finish();
        }
    }
};

// A record that was left out, and why.
struct Refused {
    std::size_t record;
    Fault fault;
};

class Builder {
public:
    Builder(std::span<const ColumnSpec> specs, bool nan) : nan_(nan) {
        std::size_t next = 0;
        root_ = column(specs, next, 1);
        if (next != specs.size()) throw std::invalid_argument("columns: expected a tree");
    }

    // Appends a row for each sound record: an object, unless the root holds something else.
    void add(Bytes data, std::span<const std::int64_t> starts, std::span<const std::int64_t> ends, std::vector<Refused>& refused) {
        const bool sound = utf8::is_valid(data);
        for (std::size_t i = 0; i < starts.size(); ++i) {
            const auto record = data.subspan(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(ends[i] - starts[i]));
            try {
                if (!sound && !utf8::is_valid(record)) throw Fault{Trouble::utf8, record.data(), record.data()};
                Cursor cursor(record, nan_);
                if (root_.holds != Holds::object) {
                    value(cursor, root_, rows_, 1);
                } else if (cursor.peek() == '{') {
                    object(cursor, root_, rows_, 1);
                } else {
                    cursor.skip(1);
                    throw Fault{Trouble::not_an_object, record.data(), record.data()};
                }
                cursor.require_end();
                ++rows_;
            } catch (const Fault& fault) {
                refused.push_back({i, worst(record, fault)});
                root_.truncate(rows_);
                // A member may be longer than the object that it belongs to, which was not finished.
                drop_unfinished(root_);
            }
        }
        root_.pad(rows_);
        root_.finish();
    }

    Column& root() { return root_; }

private:
    static Column column(std::span<const ColumnSpec> specs, std::size_t& next, unsigned depth) {
        if (next >= specs.size() || depth > max_depth + 1) throw std::invalid_argument("columns: expected fewer children");
        const auto& spec = specs[next];
        Column made;
        made.holds = spec.holds;
        made.number = static_cast<int>(next);
        ++next;
        const std::size_t wanted = spec.holds == Holds::array ? 1 : spec.holds == Holds::map ? 2 : 0;
        if (spec.holds != Holds::object && spec.children != wanted) throw std::invalid_argument("columns: wrong number of children");
        if (made.has_offsets()) made.offsets.push_back(0);
        // The names refer to each other, and must not be copied when the columns move.
        made.children.reserve(std::min(spec.children, specs.size()));
        for (std::size_t i = 0; i < spec.children; ++i) {
            if (next < specs.size()) made.names.add(specs[next].name);
            made.children.push_back(column(specs, next, depth + 1));
        }
        if (spec.holds == Holds::map && made.children[0].holds != Holds::text) throw std::invalid_argument("columns: expected texts as names");
        made.names.seal();
        return made;
    }

    static void drop_unfinished(Column& column) {
        if (column.has_offsets() && column.children.empty()) column.bytes.resize(static_cast<std::size_t>(column.offsets.back()));
        column.cut_children();
        for (auto& child : column.children) drop_unfinished(child);
    }

    [[noreturn]] static void refuse(Trouble trouble, const Column& column, const std::uint8_t* at, const std::uint8_t* end) {
        throw Fault{trouble, at, end, column.number};
    }

    // A record that breaks the rules of JSON is bad for that reason, and not because it does not fit the schema.
    Fault worst(Bytes record, const Fault& fault) {
        if (fault.trouble < Trouble::unknown) return fault;
        try {
            Cursor cursor(record, nan_);
            repeated_.restart();
            repeated_.check(cursor, 1);
            cursor.require_end();
        } catch (const Fault& broken) {
            return broken;
        }
        return fault;
    }

    // A copy of it in each of its callers would be slower.
    [[gnu::noinline]] void value(Cursor& cursor, Column& to, std::size_t at, unsigned depth) {
        const auto first = cursor.peek();
        const auto* const from = cursor.at();
        if (first == 'n') {
            cursor.word("null");
            to.pad(at + 1);
            return;
        }
        switch (to.holds) {
        case Holds::null: break;
        case Holds::boolean:
            if (first != 't' && first != 'f') break;
            cursor.word(first == 't' ? "true" : "false");
            if (first == 't') Column::set(to.bytes, at);
            to.mark(at);
            return;
        case Holds::int64:
        case Holds::uint64:
            if (Cursor::begins_number(first)) return integer(cursor.number(), to, at);
            break;
        case Holds::float64:
        case Holds::rounded:
            if (Cursor::begins_number(first)) return number(cursor.number(), to, at);
            break;
        case Holds::number_text:
            if (Cursor::begins_number(first)) return raw(cursor, to, at, depth);
            [[fallthrough]];
        case Holds::text:
        case Holds::any_text:
            if (first == '"') {
                to.pad(at);
                append_text(to.bytes, cursor.text());
                return to.add_end(at, to.bytes.size());
            }
            if (to.holds == Holds::any_text) return raw(cursor, to, at, depth);
            break;
        case Holds::json: return raw(cursor, to, at, depth);
        case Holds::array:
            if (first == '[') return array(cursor, to, at, depth);
            break;
        case Holds::object:
            if (first == '{') return object(cursor, to, at, depth);
            break;
        case Holds::map:
            if (first == '{') return map(cursor, to, at, depth);
            break;
        }
        cursor.skip(depth);
        refuse(Trouble::kind, to, from, cursor.at());
    }

    static void integer(const Number& number, Column& to, std::size_t at) {
        constexpr auto most = std::uint64_t{1} << 63;
        if (!number.integer) refuse(Trouble::kind, to, number.from, number.to);
        const bool fits = to.holds == Holds::uint64 ? !number.negative || number.digits == 0
                                                    : number.digits < most + (number.negative ? 1 : 0);
        if (number.large || !fits) refuse(Trouble::range, to, number.from, number.to);
        to.add_word(at, number.negative ? 0 - number.digits : number.digits);
    }

    static void number(const Number& number, Column& to, std::size_t at) {
        if (number.integer && to.holds == Holds::float64 && !is_exact(number)) refuse(Trouble::inexact, to, number.from, number.to);
        double value = 0;
        if (!to_double(number, value)) refuse(Trouble::range, to, number.from, number.to);
        to.add_word(at, std::bit_cast<std::uint64_t>(value));
    }

    static void raw(Cursor& cursor, Column& to, std::size_t at, unsigned depth) {
        const auto* const from = cursor.at();
        cursor.skip(depth);
        to.pad(at);
        append_compact(to.bytes, {from, cursor.at()});
        to.add_end(at, to.bytes.size());
    }

    void array(Cursor& cursor, Column& to, std::size_t at, unsigned depth) {
        to.pad(at);
        auto& elements = to.children[0];
        auto end = static_cast<std::size_t>(to.offsets.back());
        cursor.array(depth, [&] { value(cursor, elements, end++, depth + 1); });
        to.add_end(at, end);
    }

    void object(Cursor& cursor, Column& to, std::size_t at, unsigned depth) {
        to.names.restart();
        cursor.object(depth, [&](const Text& name) {
            const auto place = to.names.find(name_of(name, scratch_));
            if (place == to.names.size()) refuse(Trouble::unknown, to, name.from, name.to);
            auto& member = to.children[place];
            if (member.length > at) refuse(Trouble::repeated, to, name.from, name.to);
            value(cursor, member, at, depth + 1);
        });
        to.mark(at);
    }

    void map(Cursor& cursor, Column& to, std::size_t at, unsigned depth) {
        to.pad(at);
        const auto* const from = cursor.at();
        auto& names = to.children[0];
        auto end = static_cast<std::size_t>(to.offsets.back());
        cursor.object(depth, [&](const Text& name) {
            append_text(names.bytes, name);
            names.add_end(end, names.bytes.size());
            value(cursor, to.children[1], end, depth + 1);
            ++end;
        });
        if (has_repeated(names, static_cast<std::size_t>(to.offsets.back()))) refuse(Trouble::repeated, to, from, from);
        to.add_end(at, end);
    }

    // Whether some text from `first` on comes twice.
    static bool has_repeated(const Column& texts, std::size_t first) {
        std::vector<std::string_view> found;
        for (auto i = first; i < texts.length; ++i) {
            const auto from = static_cast<std::size_t>(texts.offsets[i]);
            found.push_back(view(Bytes{texts.bytes}.subspan(from, static_cast<std::size_t>(texts.offsets[i + 1]) - from)));
        }
        std::ranges::sort(found);
        return std::ranges::adjacent_find(found) != found.end();
    }

    bool nan_;
    Column root_{};
    std::size_t rows_ = 0;
    RepeatedNames repeated_;
    std::vector<std::uint8_t> scratch_;
};

}  // namespace amudai::json
