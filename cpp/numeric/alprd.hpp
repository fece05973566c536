// ALPRD (code 13): real floats cut into a front of few kinds and the bits behind it. Bytes: docs/format/numeric.md.
#pragma once
#include "numeric/nested.hpp"

namespace amudai::numeric::alprd {

inline constexpr std::uint16_t code = 13;
inline constexpr std::string_view name = "alprd";
inline constexpr std::size_t header_size = 16;
inline constexpr std::size_t dictionary_most = 8;
template <class T>
inline constexpr bool accepts = std::floating_point<T>;

struct Layout {
    Bytes dictionary, left, right, positions, values;
    unsigned right_width;
};

template <class T>
Layout layout(Bytes section, std::size_t count) {
    require_at_least("alprd section bytes", section.size(), header_size);
    const std::size_t left_size = load<std::uint32_t>(section, 2);
    const std::size_t right_size = load<std::uint32_t>(section, 6);
    const std::size_t exceptions = load<std::uint16_t>(section, 10);
    require_range("alprd exceptions", exceptions, 0, count);
    const unsigned right_width = section[12];
    require_range("alprd right width", right_width, 0, 8 * sizeof(T) - 1);
    const std::size_t entries = section[13];
    require_range("alprd dictionary", entries, 0, dictionary_most);
    const auto dictionary = part("alprd dictionary bytes", section, header_size, 2 * entries);
    auto at = header_size + dictionary.size();
    const auto left = part("alprd left bytes", section, at, left_size);
    const auto right = part("alprd right bytes", section, at += left_size, right_size);
    const auto tail = section.subspan(at += right_size);
    if (exceptions) require_equal("alprd exception bytes", tail.size(), 6 * exceptions);
    return {dictionary, left, right, tail.first(4 * exceptions), tail.subspan(4 * exceptions, 2 * exceptions), right_width};
}

template <class T, class Visit>
void parts(Bytes section, std::size_t count, Visit&& visit) {
    const auto found = layout<T>(section, count);
    visit.template operator()<std::uint16_t>(found.left, count);
    visit.template operator()<unsigned_of<T>>(found.right, count);
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    using U = unsigned_of<T>;
    const auto found = layout<T>(section, count);
    const auto left = context.arena.take<std::uint16_t>(out.size());
    decode_section<std::uint16_t>(found.left, count, first, left, context);
    const auto right = std::span<U>{reinterpret_cast<U*>(out.data()), out.size()};
    decode_section<U>(found.right, count, first, right, context);

    const auto entries = found.dictionary.size() / 2;
    std::uint16_t largest = 0;
    for (const auto index : left) largest = std::max(largest, index);
    // Where every front is an exception the dictionary may be empty and the indexes are all 0.
    require_range("alprd dictionary index", largest, 0, entries ? entries - 1 : 0);
    U fronts[dictionary_most] = {};
    for (std::size_t i = 0; i < entries; ++i) {
        fronts[i] = static_cast<U>(U{load<std::uint16_t>(found.dictionary, 2 * i)} << found.right_width);
    }
    auto* const at = reinterpret_cast<std::uint8_t*>(out.data());
    const auto mask = static_cast<U>((U{1} << found.right_width) - 1);
    U seen = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto back = load<U>(at + i * sizeof(U));
        seen = static_cast<U>(seen | back);
        store<U>(at + i * sizeof(U), static_cast<U>(fronts[left[i]] | back));
    }
    // Behind a front stand as many bits as the header says: more would change the front.
    require_range("alprd right bits", seen, 0, mask);
    for (std::size_t i = 0; i < found.positions.size() / 4; ++i) {
        const std::size_t position = load<std::uint32_t>(found.positions, 4 * i);
        require_range("alprd exception position", position, 0, count - 1);
        if (position >= first && position - first < out.size()) {
            auto* const slot = at + (position - first) * sizeof(U);
            const auto front = static_cast<U>(U{load<std::uint16_t>(found.values, 2 * i)} << found.right_width);
            store<U>(slot, static_cast<U>(front | (load<U>(slot) & mask)));
        }
    }
}

}  // namespace amudai::numeric::alprd
