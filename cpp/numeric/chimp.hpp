// Chimp (code 0x8002): the bits in which each float differs from the one before it. Bytes: docs/format/numeric.md.
#pragma once
#include "bits/sequence.hpp"
#include "numeric/plain.hpp"

namespace amudai::numeric::chimp {

inline constexpr std::uint16_t code = 0x8002;
inline constexpr std::string_view name = "chimp";
inline constexpr std::size_t header_size = 8;
template <class T>
inline constexpr bool accepts = std::floating_point<T>;

// How a difference is stored. Each begins with its number in two bits.
enum Kind : unsigned { same, centered, as_before, anew };
// The numbers of leading zeros that can be stated, in three bits.
inline constexpr unsigned leading_zeros[] = {0, 8, 12, 16, 18, 20, 22, 24};
inline constexpr unsigned none = 8;          // no number of leading zeros is known from the difference before
inline constexpr unsigned few_trailing = 6;  // more trailing zeros are left out
template <class T>
inline constexpr unsigned width = 8 * sizeof(T);
template <class T>
inline constexpr unsigned size_bits = sizeof(T) == 4 ? 5 : 6;

template <class T, class Visit>
void parts(Bytes, std::size_t, Visit&&) {}

// Reads numbers of any size from the stream, and refuses to read beyond its end.
class Stream {
public:
    explicit Stream(Bytes bytes) : bytes_(bytes) {}
    unsigned small(unsigned bits) { return static_cast<unsigned>(take(bits)); }
    std::uint64_t take(unsigned bits) {
        if (bits > 8 * bytes_.size() - at_) throw Corrupted("chimp stream: ends before its values do");
        return bits::bits_at(bytes_, std::exchange(at_, at_ + bits), bits);
    }
    bool is_done() const { return (at_ + 7) / 8 == bytes_.size(); }

private:
    Bytes bytes_;
    std::size_t at_ = 0;
};

// The next difference, without the kind `same`. `leading` is the index of the leading zeros that the difference before
// has stated, or `none`.
template <class T>
unsigned_of<T> difference_of(Stream& in, unsigned kind, unsigned& leading) {
    using U = unsigned_of<T>;
    if (kind == centered) {
        const auto zeros = leading_zeros[in.small(3)];
        const auto size = in.small(size_bits<T>);
        require_range("chimp bits of a difference", size, 1, width<T> - zeros);
        leading = none;
        return static_cast<U>(in.take(size) << (width<T> - zeros - size));
    }
    if (kind == anew) leading = in.small(3);
    if (leading == none) throw Corrupted("chimp stream: leading zeros as before, but there are none before");
    return static_cast<U>(in.take(width<T> - leading_zeros[leading]));
}

template <class T>
void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context&) {
    using U = unsigned_of<T>;
    Stream in(rest("chimp section bytes", section, header_size));
    auto value = static_cast<U>(in.take(width<T>));
    unsigned leading = none;
    const auto end = first + out.size();
    for (std::size_t i = 0;; ++i) {
        if (i >= first) out[i - first] = std::bit_cast<T>(value);
        if (i + 1 == end) break;
        const auto kind = in.small(2);
        if (kind == same) leading = none;
        else value ^= difference_of<T>(in, kind, leading);
    }
    if (end == count && !in.is_done()) throw Corrupted("chimp stream: goes on behind its values");
}

template <class T, class Visit>
void asks(Visit&&) {}

template <class T>
void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    const auto at = out.header(code, header_size);
    bits::SequenceSink stream(out);
    stream.put(bits_of(values.front()), width<T>);
    unsigned leading = none;
    for (std::size_t i = 1; i < values.size(); ++i) {
        const auto changed = difference(values[i], values[i - 1]);
        if (changed == 0) {
            stream.put(same, 2);
            leading = none;
            continue;
        }
        const auto zeros = static_cast<unsigned>(std::countl_zero(changed));
        unsigned index = std::size(leading_zeros) - 1;
        while (leading_zeros[index] > zeros) --index;
        const auto kept = width<T> - leading_zeros[index];
        const auto trailing = static_cast<unsigned>(std::countr_zero(changed));
        if (trailing > few_trailing) {
            stream.put(centered | index << 2, 5);
            stream.put(kept - trailing, size_bits<T>);
            stream.put(changed >> trailing, kept - trailing);
            leading = none;
        } else if (index == leading) {
            stream.put(as_before, 2);
            stream.put(changed, kept);
        } else {
            stream.put(anew | index << 2, 5);
            stream.put(changed, kept);
            leading = index;
        }
    }
    stream.finish();
    if (out.size() - at < plain::header_size + values.size_bytes()) return;
    out.cut(at);
    plain::encode<T>(values, plan, out, context);
}

}  // namespace amudai::numeric::chimp
