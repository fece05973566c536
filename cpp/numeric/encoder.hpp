// What all numeric encoders share: the program they follow, the codecs that others run for them, the parts they write.
//
// A program says how a sequence is encoded: a code, then a program for each part of that encoding, or 0 for a part that
// stays raw. A code from 0x8000 on is one byte, too: 0x80 and its lowest seven bits. It is checked once (`parse_program` in section.hpp), and encoders rely on that. If values cannot be
// encoded as the program asks, the encoder writes another encoding that can hold them: no value is ever lost.
#pragma once
#include <bit>
#include <utility>
#include <vector>

#include "base/sink.hpp"
#include "numeric/nested.hpp"

namespace amudai::numeric {

// One encoding of a program, with its parameters.
struct Step {
    std::uint16_t code = 0;     // 0: raw
    std::uint8_t exponent = 0;  // exponent of ALP, or `searched`
    std::uint8_t factor = 0;
    bool outliers = false;  // ALP: far values become exceptions
    bool codecs = false;    // this step or a part of it uses a codec
    std::size_t steps = 1;  // number of steps, including those of its parts
};

inline constexpr std::uint8_t searched = 255;

// A position in a program.
class Plan {
public:
    explicit Plan(const Step* step) : step_(step) {}
    const Step* operator->() const { return step_; }
    bool raw() const { return step_->code == 0; }
    Plan part(std::size_t index) const {
        const auto* at = step_ + 1;
        for (; index; --index) at += at->steps;
        return Plan(at);
    }

private:
    const Step* step_;
};

// The leaves of a program: the values that its codecs compress. The caller compresses them. A first pass
// collects their raw bytes, and a second pass is given the compressed bytes in the same order. Which leaves there are
// must not depend on how well they compress.
class Leaves {
public:
    // Fewer bytes than this are not compressed: the overhead of a codec is larger than what it saves.
    static constexpr std::size_t least = 64;

    // The codec, the type of the values, and their bytes.
    struct Leaf {
        std::uint16_t code;
        std::string_view type;
        std::vector<std::uint8_t> raw;
    };

    enum class Pass { none, collect, supply };
    explicit Leaves(Pass pass = Pass::none, std::vector<Bytes> supplied = {})
        : pass_(pass), supplied_(std::move(supplied)) {}

    bool collecting() const { return pass_ == Pass::collect; }
    // The compressed form of `raw`; empty if it is not known yet.
    Bytes next(std::uint16_t code, std::string_view type, Bytes raw) {
        switch (pass_) {
            case Pass::collect:
                collected_.push_back({code, type, std::vector<std::uint8_t>(raw.begin(), raw.end())});
                return {};
            case Pass::supply:
                if (at_ == supplied_.size()) throw std::invalid_argument("compressed: fewer than the leaves of the program");
                return supplied_[at_++];
            case Pass::none: break;
        }
        throw std::invalid_argument("compressed: expected the leaves of a program with codecs, found none");
    }
    // The number of leaves so far, to which `rewind` can go back.
    std::size_t mark() const { return collecting() ? collected_.size() : at_; }
    void rewind(std::size_t mark) {
        if (collecting()) collected_.resize(mark);
        else at_ = mark;
    }
    void require_done() const {
        if (at_ != supplied_.size()) throw std::invalid_argument("compressed: more than the leaves of the program");
    }
    const std::vector<Leaf>& collected() const { return collected_; }

private:
    Pass pass_;
    std::vector<Bytes> supplied_;
    std::size_t at_ = 0;
    std::vector<Leaf> collected_;
};

struct EncodeContext {
    Arena& arena;
    Leaves& leaves;
    bool misaligned = false;  // a section that needs 8-byte alignment began unaligned

    void wants_alignment(const Sink& out) { misaligned |= out.size() % 8 != 0; }
};

// Runs `work`. Returns whether all sections it wrote are aligned as the reference implementation's reader requires.
// Blocks begin at multiples of 8.
template <class Work>
bool aligned(EncodeContext& context, Work&& work) {
    const bool before = std::exchange(context.misaligned, false);
    work();
    return !std::exchange(context.misaligned, before);
}

// Defined in section.hpp, once every encoding is known.
template <class T>
void encode_section(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context);

// Values are compared by their bits: 0.0 and -0.0 differ, and a NaN equals itself.
template <class T>
constexpr unsigned_of<T> bits_of(T value) {
    return std::bit_cast<unsigned_of<T>>(value);
}

// 0 if the values are equal.
template <class T>
constexpr unsigned_of<T> difference(T left, T right) {
    return static_cast<unsigned_of<T>>(bits_of(left) ^ bits_of(right));
}

template <class T>
std::span<const unsigned_of<T>> as_unsigned(std::span<const T> values) {
    static_assert(std::integral<T>);
    return {reinterpret_cast<const unsigned_of<T>*>(values.data()), values.size()};
}

template <class T>
Bytes bytes_of(std::span<const T> values) {
    return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

template <class T>
bool all_equal(std::span<const T> values) {
    constexpr std::size_t tile = 256 / sizeof(T);
    for (std::size_t at = 0; at < values.size(); at += tile) {
        unsigned_of<T> differences = 0;
        const auto part = values.subspan(at, std::min(tile, values.size() - at));
        for (const auto value : part) differences |= difference(value, values.front());
        if (differences) return false;
    }
    return true;
}

template <class T>
std::pair<T, T> min_max(std::span<const T> values) {
    T least = values.front();
    T most = values.front();
    for (const auto value : values) {
        least = std::min(least, value);
        most = std::max(most, value);
    }
    return {least, most};
}

// Writes a part as a section or raw. Returns the flag for the header: whether it is a section.
template <class T>
bool encode_part(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    const bool worth_a_section = values.size_bytes() > 2 + sizeof(T) && all_equal(values);
    if (plan.raw() && !worth_a_section) {
        out.append(values);
        return false;
    }
    encode_section<T>(values, plan, out, context);
    return true;
}

// Whether readers ignore bytes after this section, whose values are u16 or u32, as long as its parent counts these
// bytes as part of the section.
inline bool may_be_padded(Bytes section) {
    switch (load<std::uint16_t>(section, 0)) {
        case 3:                                          // FOR
        case 5: return may_be_padded(section.subspan(8));  // Delta
        case 6:                                          // RunLength
        case 19: return section[11] == 0;                // Sparse; the last part of both must be raw
        case 7: return true;                             // SingleValue
        case 14: return section[10] == 0;                // BlockDictionary
        default: return false;
    }
}

}  // namespace amudai::numeric
