// Patched (code 0x8001): distances from a reference in few bits, and the values that need more. Bytes:
// docs/format/numeric.md.
#pragma once
#include "bits/fastlanes.hpp"
#include "bits/sequence.hpp"
#include "numeric/encoder.hpp"

namespace amudai::numeric::patched {

inline constexpr std::uint16_t code = 0x8001;
inline constexpr std::string_view name = "patched";
template <class T>
inline constexpr bool accepts = std::integral<T>;
template <class T>
inline constexpr std::size_t header_size = align8(8 + 2 * sizeof(T));

// The bits of a position among `count` values.
inline unsigned position_width(std::size_t count) { return static_cast<unsigned>(std::bit_width(count - 1)); }

// The largest distance of `width` bits, which may be 0.
template <class U>
constexpr U most_of(unsigned width) {
    return width ? bits::width_mask<U>(width) : U{0};
}

template <class U>
struct Layout {
    U reference, least;      // distances of packed values, and of exceptions, are from these
    unsigned width, excess;  // bits of a packed value, and of an exception
    std::size_t exceptions;
    Bytes chunks, tail, positions, values;
};

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

template <class T>
Layout<unsigned_of<T>> layout(Bytes section, std::size_t count) {
    using U = unsigned_of<T>;
    require_at_least("patched section bytes", section.size(), header_size<T>);
    const unsigned width = section[2], excess = section[3];
    const std::size_t exceptions = load<std::uint32_t>(section, 4);
    require_range("patched width", width, 0, 8 * sizeof(T));
    require_range("patched width of exceptions", excess, 0, 8 * sizeof(T));
    require_range("patched exceptions", exceptions, 0, count);
    const auto whole = count / bits::chunk_values;
    const std::size_t sizes[] = {whole * bits::chunk_bytes(width), bits::sequence_bytes(count % bits::chunk_values, width),
                                 bits::sequence_bytes(exceptions, position_width(count)), bits::sequence_bytes(exceptions, excess)};
    auto rest = section.subspan(header_size<T>);
    require_equal("patched bytes", rest.size(), sizes[0] + sizes[1] + sizes[2] + sizes[3]);
    Bytes found[4];
    for (std::size_t i = 0; i < 4; ++i) found[i] = rest.first(sizes[i]), rest = rest.subspan(sizes[i]);
    return {load<U>(section, 8), load<U>(section, 8 + sizeof(T)), width, excess, exceptions, found[0], found[1], found[2], found[3]};
}

// Calls use(position, value) for each exception, in ascending order of positions.
template <class U, class Use>
void each_exception(const Layout<U>& found, std::size_t count, Use&& use) {
    const auto width = position_width(count);
    std::size_t least = 0;
    for (std::size_t i = 0; i < found.exceptions; ++i) {
        const auto position = bits::bits_at(found.positions, i * width, width);
        require_range("patched position", position, least, count - 1);
        least = position + 1;
        use(position, static_cast<U>(found.least + static_cast<U>(bits::bits_at(found.values, i * found.excess, found.excess))));
    }
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context&) {
    using U = unsigned_of<T>;
    const auto found = layout<T>(section, count);
    const auto values = as_unsigned(out);
    if (found.width == 0) {
        std::ranges::fill(values, found.reference);
    } else {
        const auto packed = count / bits::chunk_values * bits::chunk_values;
        const auto inside = first < packed ? std::min(values.size(), packed - first) : 0;
        if (inside) bits::unpack<U>(found.chunks.data(), found.width, found.reference, first, values.first(inside));
        for (auto i = inside; i < values.size(); ++i) {
            const auto distance = bits::bits_at(found.tail, (first + i - packed) * found.width, found.width);
            values[i] = static_cast<U>(found.reference + static_cast<U>(distance));
        }
    }
    each_exception(found, count, [&](std::size_t position, U value) {
        if (position >= first && position - first < values.size()) values[position - first] = value;
    });
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class T>
struct Frame {
    T reference;
    unsigned width;
};

// The frame for which packed values and exceptions together take the fewest bits. Values that are not in
// [reference, reference + 2^width) become exceptions, which lie below the frame as well as above.
template <class T>
Frame<T> frame(std::span<const T> values, unsigned widest, Arena& arena) {
    using U = unsigned_of<T>;
    const auto sorted = arena.take<T>(values.size());
    std::ranges::copy(values, sorted.begin());
    std::ranges::sort(sorted);
    const auto exception_bits = position_width(values.size()) + widest;
    Frame<T> best{sorted.front(), widest};
    auto least = values.size() * widest;
    for (unsigned width = 0; width < widest && values.size() * width < least; ++width) {
        const auto most = most_of<U>(width);
        std::size_t held = 0, from = 0;
        for (std::size_t first = 0, i = 0; i < sorted.size(); ++i) {
            while (static_cast<U>(static_cast<U>(sorted[i]) - static_cast<U>(sorted[first])) > most) ++first;
            if (i - first >= held) held = i - first + 1, from = first;
        }
        const auto cost = values.size() * width + (values.size() - held) * exception_bits;
        if (cost < least) best = {sorted[from], width}, least = cost;
    }
    return best;
}

template <class T>
void encode(std::span<const T> values, Plan, Sink& out, EncodeContext& context) {
    using U = unsigned_of<T>;
    const auto range = min_max(values);
    const auto least = static_cast<U>(range.first);
    const auto widest = static_cast<unsigned>(std::bit_width(static_cast<U>(static_cast<U>(range.second) - least)));
    const auto [start, width] = frame(values, widest, context.arena);
    const auto reference = static_cast<U>(start);
    const auto most = most_of<U>(width);
    const auto near = context.arena.take<U>(values.size());
    const auto positions = context.arena.take<std::uint32_t>(values.size() + 1);
    std::size_t exceptions = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool is_far = static_cast<U>(static_cast<U>(values[i]) - reference) > most;
        near[i] = is_far ? reference : static_cast<U>(values[i]);
        positions[exceptions] = static_cast<std::uint32_t>(i);
        exceptions += is_far;
    }
    const auto at = out.header(code, header_size<T>);
    out.set<std::uint8_t>(at + 2, static_cast<std::uint8_t>(width));
    out.set<std::uint8_t>(at + 3, static_cast<std::uint8_t>(exceptions ? widest : 0));
    out.set<std::uint32_t>(at + 4, static_cast<std::uint32_t>(exceptions));
    out.set<U>(at + 8, reference);
    out.set<U>(at + 8 + sizeof(T), least);
    const auto packed = values.size() / bits::chunk_values * bits::chunk_values;
    if (width) bits::pack<U>(near.first(packed), width, reference, out.extend(packed / 8 * width));
    bits::SequenceSink tail(out);
    for (const auto value : near.subspan(packed)) tail.put(static_cast<U>(value - reference), width);
    tail.finish();
    bits::SequenceSink places(out);
    for (const auto position : positions.first(exceptions)) places.put(position, position_width(values.size()));
    places.finish();
    bits::SequenceSink far(out);
    for (const auto position : positions.first(exceptions)) far.put(static_cast<U>(static_cast<U>(values[position]) - least), widest);
    far.finish();
}

}  // namespace amudai::numeric::patched
