// The names of one object: finding a member, and finding a name that comes twice.
#pragma once
#include <memory>
#include <unordered_map>

#include "json/values.hpp"

namespace amudai::json {

// The name without its escapes. `scratch` holds it if it has some.
inline std::string_view name_of(const Text& name, std::vector<std::uint8_t>& scratch) {
    if (!name.escaped) return view(name.bytes());
    scratch.clear();
    append_text(scratch, name);
    return view(scratch);
}

// Members by name. Objects mostly have their members in one order, so the next one is tried first.
class MemberNames {
public:
    void add(std::string name) { names_.push_back(std::move(name)); }

    // Once all names have been added.
    void seal() {
        if (names_.size() <= few) return;
        for (std::size_t i = 0; i < names_.size(); ++i) places_.emplace(names_[i], i);
    }

    std::size_t size() const { return names_.size(); }

    // The place of a name; size() if there is none.
    std::size_t find(std::string_view name) {
        if (next_ < names_.size() && names_[next_] == name) return next_++;
        std::size_t place = names_.size();
        if (names_.size() <= few) {
            place = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
        } else if (const auto found = places_.find(name); found != places_.end()) {
            place = found->second;
        }
        next_ = place + 1;
        return place;
    }

    void restart() { next_ = 0; }

private:
    static constexpr std::size_t few = 8;
    std::vector<std::string> names_;
    std::unordered_map<std::string_view, std::size_t> places_;
    std::size_t next_ = 0;
};

// Goes past a value of any kind and throws for an object that has a name twice, at any level.
class RepeatedNames {
public:
    void check(Cursor& cursor, unsigned depth) {
        switch (cursor.peek()) {
        case '{': {
            const auto first = names_.size();
            cursor.object(depth, [&](const Text& name) {
                names_.push_back({name.escaped ? view(*unescaped(name)) : view(name.bytes()), name});
                check(cursor, depth + 1);
            });
            require_unique(std::span(names_).subspan(first));
            names_.resize(first);
            return;
        }
        case '[': return cursor.array(depth, [&] { check(cursor, depth + 1); });
        default: return cursor.skip(depth);
        }
    }

    // Forgets what a record that threw has left behind.
    void restart() {
        names_.clear();
        unescaped_.clear();
    }

private:
    struct Name {
        std::string_view name;
        Text text;
    };

    static void require_unique(std::span<Name> names) {
        if (names.size() > few) std::ranges::sort(names, {}, &Name::name);
        for (std::size_t i = 1; i < names.size(); ++i) {
            const auto before = names.size() > few ? names.subspan(i - 1, 1) : names.first(i);
            if (std::ranges::find(before, names[i].name, &Name::name) == before.end()) continue;
            throw Fault{Trouble::repeated, names[i].text.from, names[i].text.to};
        }
    }

    const std::vector<std::uint8_t>* unescaped(const Text& name) {
        auto& made = unescaped_.emplace_back(std::make_unique<std::vector<std::uint8_t>>());
        append_text(*made, name);
        return made.get();
    }

    static constexpr std::size_t few = 16;
    std::vector<Name> names_;  // of the objects around the current value
    std::vector<std::unique_ptr<std::vector<std::uint8_t>>> unescaped_;
};

}  // namespace amudai::json
