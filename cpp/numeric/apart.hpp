// Spans of a section that lie apart, read one by one. What the section says of all its values is read once for all spans.
#pragma once
#include "base/block.hpp"
#include "numeric/gather.hpp"

namespace amudai::numeric {

// The slots of ascending spans, one span after the other. `out` has as many elements.
template <class T>
void decode_apart(Bytes section, std::size_t count, std::span<const Span> spans, std::span<T> out, Context& context);

namespace detail {

// Finds slots among the values of ascending spans, which follow each other without gaps.
class Places {
public:
    static constexpr auto none = std::numeric_limits<std::size_t>::max();

    Places(std::span<const Span> spans, Arena& arena) : spans_(spans), begins_(arena.take<std::size_t>(spans.size())) {
        std::size_t at = 0;
        for (std::size_t i = 0; i < spans.size(); at += spans[i++].count) begins_[i] = at;
    }

    // Where the value of a slot is; none if no span holds the slot.
    std::size_t of(std::size_t slot) const {
        const auto behind = std::ranges::upper_bound(spans_, slot, {}, &Span::first);
        if (behind == spans_.begin()) return none;
        const auto at = static_cast<std::size_t>(behind - spans_.begin()) - 1;
        const auto inside = slot - spans_[at].first;
        return inside < spans_[at].count ? begins_[at] + inside : none;
    }

private:
    std::span<const Span> spans_;
    std::span<std::size_t> begins_;
};

template <class U>
void apart_packed(const fl_bit_pack::Layout<U>& found, std::span<const Span> spans, U* out) {
    for (const auto& span : spans) {
        bits::unpack<U>(found.data.data(), found.width, found.reference, span.first, {out, span.count});
        out += span.count;
    }
}

template <class T>
void apart_alp(Bytes section, std::size_t count, std::span<const Span> spans, std::span<T> out, Context& context) {
    using Integer = signed_of<T>;
    const auto found = alp::layout<T>(section, count);
    decode_apart<Integer>(found.integers, count, spans, {reinterpret_cast<Integer*>(out.data()), out.size()}, context);
    alp::to_floats<T>(found, out);
    const Places places(spans, context.arena);
    alp::each_exception<T>(found, count, [&](std::size_t position, T value) {
        const auto at = places.of(position);
        if (at != Places::none) out[at] = value;
    });
}

template <class T>
void apart_alprd(Bytes section, std::size_t count, std::span<const Span> spans, std::span<T> out, Context& context) {
    using U = unsigned_of<T>;
    const auto found = alprd::layout<T>(section, count);
    const auto left = context.arena.take<std::uint16_t>(out.size());
    decode_apart<std::uint16_t>(found.left, count, spans, left, context);
    decode_apart<U>(found.right, count, spans, as_unsigned(out), context);
    alprd::join<T>(found, left, out);
    const Places places(spans, context.arena);
    alprd::each_exception(found, count, [&](std::size_t position, std::uint16_t front) {
        const auto at = places.of(position);
        if (at != Places::none) alprd::set_front<T>(found, front, out[at]);
    });
}

}  // namespace detail

template <class T>
void decode_apart(Bytes section, std::size_t count, std::span<const Span> spans, std::span<T> out, Context& context) {
    const auto code = code_of(section);
    if constexpr (std::floating_point<T>) {
        if (code == alp::code || code == alprd::code) {
            const Deeper deeper(context);
            if (code == alp::code) return detail::apart_alp<T>(section, count, spans, out, context);
            return detail::apart_alprd<T>(section, count, spans, out, context);
        }
    } else {
        using U = unsigned_of<T>;
        if (code == ffor::code) {
            const Deeper deeper(context);
            return detail::apart_packed<U>(ffor::layout<T>(section, count), spans, as_unsigned(out).data());
        }
    }
    if constexpr (fl_bit_pack::accepts<T>) {
        if (code == fl_bit_pack::code) {
            const Deeper deeper(context);
            return detail::apart_packed<T>(fl_bit_pack::layout<T>(section, count), spans, out.data());
        }
    }
    // `decode_section` counts how deep sections are nested, so that this one must not be counted here.
    for (const auto& span : spans) {
        decode_section<T>(section, count, span.first, out.first(span.count), context);
        out = out.subspan(span.count);
    }
}

}  // namespace amudai::numeric
