// ALPRD (code 13): floats that are not decimal fractions, each cut into front bits with few distinct values and the
// bits after them. Bytes: docs/format/numeric.md.
#pragma once
#include <array>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "numeric/fl_bit_pack.hpp"
#include "numeric/plain.hpp"

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

// The front that each index stands for. If every front is an exception, there may be none, and all indexes are 0.
struct Fronts {
    std::size_t entries;
    std::array<std::uint32_t, dictionary_most> front{};

    explicit Fronts(const Layout& found) : entries(found.dictionary.size() / 2) {
        for (std::size_t i = 0; i < entries; ++i) front[i] = load<std::uint16_t>(found.dictionary, 2 * i);
    }
};

// Puts the fronts before the back bits, which `out` holds. Throws if an index has no front, or if back bits do not fit
// into the width that the header states: they would change the front.
template <class T>
void join(const Layout& found, std::span<const std::uint16_t> left, std::span<T> out) {
    using U = unsigned_of<T>;
    const Fronts fronts(found);
    auto* const at = reinterpret_cast<std::uint8_t*>(out.data());
    std::uint16_t largest = 0;
    U seen = 0;
    std::size_t i = 0;
#ifdef __AVX2__
    // Eight at a time: the dictionary fits into a register, where it takes one instruction to look eight indexes up.
    constexpr std::size_t step = 8;
    const auto dictionary = load<__m256i>(reinterpret_cast<const std::uint8_t*>(fronts.front.data()));
    const auto width = _mm_cvtsi32_si128(static_cast<int>(found.right_width));
    auto most = _mm_setzero_si128();
    auto bits = _mm256_setzero_si256();
    for (; i + step <= out.size(); i += step) {
        const auto index = load<__m128i>(reinterpret_cast<const std::uint8_t*>(left.data() + i));
        most = _mm_max_epu16(most, index);
        const auto front = _mm256_permutevar8x32_epi32(dictionary, _mm256_cvtepu16_epi32(index));
        const auto join_back = [&](std::uint8_t* back, __m256i before) {
            const auto behind = load<__m256i>(back);
            bits = _mm256_or_si256(bits, behind);
            store(back, _mm256_or_si256(before, behind));
        };
        auto* const to = at + i * sizeof(U);
        if constexpr (sizeof(U) == 4) {
            join_back(to, _mm256_sll_epi32(front, width));
        } else {
            join_back(to, _mm256_sll_epi64(_mm256_cvtepu32_epi64(_mm256_castsi256_si128(front)), width));
            join_back(to + 32, _mm256_sll_epi64(_mm256_cvtepu32_epi64(_mm256_extracti128_si256(front, 1)), width));
        }
    }
    const auto complement = _mm_minpos_epu16(_mm_xor_si128(most, _mm_set1_epi16(-1)));
    largest = static_cast<std::uint16_t>(~_mm_extract_epi16(complement, 0));
    const auto half = _mm_or_si128(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
    const auto words = static_cast<std::uint64_t>(_mm_extract_epi64(half, 0) | _mm_extract_epi64(half, 1));
    seen = static_cast<U>(sizeof(U) == 4 ? words | words >> 32 : words);
#endif
    for (; i < out.size(); ++i) {
        const auto back = load<U>(at + i * sizeof(U));
        const auto index = left[i];
        largest = std::max(largest, index);
        seen = static_cast<U>(seen | back);
        const auto front = static_cast<U>(U{fronts.front[index % dictionary_most]} << found.right_width);
        store<U>(at + i * sizeof(U), static_cast<U>(front | back));
    }
    require_range("alprd dictionary index", largest, 0, fronts.entries ? fronts.entries - 1 : 0);
    require_range("alprd right bits", seen, 0, (U{1} << found.right_width) - 1);
}

// Calls use(position, front) for each exception of the block. Positions need not ascend.
template <class Use>
void each_exception(const Layout& found, std::size_t count, Use&& use) {
    for (std::size_t i = 0; i < found.positions.size() / 4; ++i) {
        const std::size_t position = load<std::uint32_t>(found.positions, 4 * i);
        require_range("alprd exception position", position, 0, count - 1);
        use(position, load<std::uint16_t>(found.values, 2 * i));
    }
}

// Replaces the front of a value.
template <class T>
void set_front(const Layout& found, std::uint16_t front, T& value) {
    using U = unsigned_of<T>;
    auto* const at = reinterpret_cast<std::uint8_t*>(&value);
    const auto back = static_cast<U>(load<U>(at) & ((U{1} << found.right_width) - 1));
    store<U>(at, static_cast<U>(static_cast<U>(U{front} << found.right_width) | back));
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    using U = unsigned_of<T>;
    const auto found = layout<T>(section, count);
    const auto left = context.arena.take<std::uint16_t>(out.size());
    decode_section<std::uint16_t>(found.left, count, first, left, context);
    decode_section<U>(found.right, count, first, as_unsigned(out), context);
    join<T>(found, left, out);
    each_exception(found, count, [&](std::size_t position, std::uint16_t front) {
        if (position >= first && position - first < out.size()) set_front<T>(found, front, out[position - first]);
    });
}

template <class T, class Visit>
void asks(Visit&& visit) {
    visit.template operator()<std::uint16_t>(false);
    visit.template operator()<unsigned_of<T>>(false);
}

inline constexpr std::size_t exceptions_most = 65535;
inline constexpr unsigned front_most = 16;

// Where to cut, and the fronts in the dictionary.
struct Cut {
    unsigned front_width = 0;
    std::size_t entries = 0;
    std::array<std::uint16_t, dictionary_most> dictionary{};
};

// The cut with the fewest bits per value, estimated from a sample.
template <class T>
Cut search(std::span<const T> values, Arena& arena) {
    const auto sample = arena.take<std::uint16_t>(std::min<std::size_t>(values.size(), 512));
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const auto bits = bits_of(values[i * values.size() / sample.size()]);
        sample[i] = static_cast<std::uint16_t>(bits >> (8 * sizeof(T) - front_most));
    }
    std::ranges::sort(sample);
    // Equal fronts are neighbours in the sorted sample, and dropping a bit joins neighbours. So each width starts from
    // the groups of the width before it.
    struct Group {
        std::uint16_t front;
        std::uint16_t count;
    };
    auto groups = arena.take<Group>(sample.size());
    std::size_t found = 0;
    for (const auto front : sample) groups[found++] = {front, 1};
    Cut best;
    auto least_cost = std::numeric_limits<std::size_t>::max();
    for (auto width = front_most; width; --width) {
        const auto before = groups.first(found);
        found = 0;
        std::array<Group, dictionary_most> frequent{};
        const auto close = [&](Group group) {
            for (auto& each : frequent) {
                if (group.count > each.count) std::swap(group, each);
            }
        };
        for (const auto& [bits, count] : before) {
            const auto front = width == front_most ? bits : static_cast<std::uint16_t>(bits >> 1);
            if (found && groups[found - 1].front == front) {
                groups[found - 1].count = static_cast<std::uint16_t>(groups[found - 1].count + count);
            } else {
                if (found) close(groups[found - 1]);
                groups[found++] = {front, count};
            }
        }
        close(groups[found - 1]);
        std::size_t covered = 0;
        for (std::size_t entries = 1; entries <= std::min(found, dictionary_most); ++entries) {
            covered += frequent[entries - 1].count;
            const auto number_width = static_cast<std::size_t>(std::bit_width(entries - 1));
            const auto cost = sample.size() * (8 * sizeof(T) - width + number_width) + 48 * (sample.size() - covered);
            if (cost > least_cost) continue;
            least_cost = cost;
            best = {width, entries, {}};
            for (std::size_t i = 0; i < entries; ++i) best.dictionary[i] = frequent[i].front;
        }
    }
    return best;
}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    using U = unsigned_of<T>;
    auto& arena = context.arena;
    const auto cut = search(values, arena);
    const auto right_width = static_cast<unsigned>(8 * sizeof(T) - cut.front_width);
    const auto fronts = arena.take<std::uint16_t>(values.size());
    const auto right = arena.take<U>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        fronts[i] = static_cast<std::uint16_t>(bits_of(values[i]) >> right_width);
        right[i] = static_cast<U>(bits_of(values[i]) & static_cast<U>((U{1} << right_width) - 1));
    }
    constexpr std::uint16_t unknown = 0xffff;
    const auto left = arena.take<std::uint16_t>(values.size());
    std::ranges::fill(left, unknown);
    for (std::uint16_t number = 0; number < cut.entries; ++number) {
        const auto front = cut.dictionary[number];
        for (std::size_t i = 0; i < values.size(); ++i) left[i] = fronts[i] == front ? number : left[i];
    }
    const auto positions = arena.take<std::uint32_t>(values.size() + 1);
    std::size_t exceptions = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool known = left[i] != unknown;
        positions[exceptions] = static_cast<std::uint32_t>(i);
        exceptions += !known;
        left[i] = known ? left[i] : std::uint16_t{0};
    }
    if (exceptions > exceptions_most || 6 * exceptions >= values.size_bytes()) {
        return plain::encode<T>(values, plan, out, context);
    }

    const auto at = out.header(code, header_size);
    out.set<std::uint16_t>(at + 10, static_cast<std::uint16_t>(exceptions));
    out.set<std::uint8_t>(at + 12, static_cast<std::uint8_t>(right_width));
    // Four or eight entries keep the next part aligned to 8 bytes, and so does the padding after the left part.
    const auto entries = cut.entries <= 4 ? std::size_t{4} : dictionary_most;
    out.set<std::uint8_t>(at + 13, static_cast<std::uint8_t>(entries));
    out.append(std::span<const std::uint16_t>(cut.dictionary).first(entries));
    const auto left_at = out.size();
    encode_section<std::uint16_t>(left, plan.part(0), out, context);
    if (may_be_padded(out.bytes().subspan(left_at))) out.pad8(at);
    auto right_at = out.size();
    const auto encode_right = [&] { encode_section<U>(right, plan.part(1), out, context); };
    const auto leaves = context.leaves.mark();
    const bool fits = aligned(context, encode_right);
    if (!fits && (right_at - at) % 8 == 0) {
        context.misaligned = true;  // the whole section is misaligned
    } else if (!fits) {
        // The left part does not end at a multiple of 8, which the right part needs. Bit-packed numbers do, so use them
        // instead.
        out.cut(left_at);
        context.leaves.rewind(leaves);
        fl_bit_pack::encode<std::uint16_t>(left, plan, out, context);
        right_at = out.size();
        encode_right();
    }
    out.set<std::uint32_t>(at + 2, static_cast<std::uint32_t>(right_at - left_at));
    out.set<std::uint32_t>(at + 6, static_cast<std::uint32_t>(out.size() - right_at));
    out.append(std::span<const std::uint32_t>(positions.first(exceptions)));
    for (const auto position : positions.first(exceptions)) out.put<std::uint16_t>(fronts[position]);
}

}  // namespace amudai::numeric::alprd
