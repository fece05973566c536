// The integers of ALP: which of them decode to exactly their value, and which of these are still better stored as
// exceptions.
#pragma once
#include "bits/fastlanes.hpp"
#include "numeric/alp_scale.hpp"

namespace amudai::numeric::alp {

// A bit for each value, in words: set if the value's integer decodes to exactly that value.
class Exact {
public:
    Exact(std::size_t count, Arena& arena) : words_(arena.take<std::uint64_t>((count + 63) / 64)) {}
    std::span<std::uint64_t> words() const { return words_; }
    std::size_t count() const {
        std::size_t found = 0;
        for (const auto word : words_) found += static_cast<std::size_t>(std::popcount(word));
        return found;
    }
    // Calls use(i) for each set bit, in order. Words without exceptions take a loop that vectorises.
    template <class Use>
    void each(Use&& use) const {
        for (std::size_t at = 0; at < words_.size(); ++at) {
            if (words_[at] == ~std::uint64_t{0}) {
                for (std::size_t i = 64 * at; i < 64 * at + 64; ++i) use(i);
            } else {
                for (auto word = words_[at]; word; word &= word - 1) {
                    use(64 * at + static_cast<std::size_t>(std::countr_zero(word)));
                }
            }
        }
    }

private:
    std::span<std::uint64_t> words_;
};

// Computes the integers of all values. Returns which of them decode to exactly their value.
template <class T>
Exact to_integers(std::span<const T> values, const Scale<T>& scale, std::span<signed_of<T>> integers, Arena& arena) {
    using U = unsigned_of<T>;
    const Exact exact(values.size(), arena);
    for (std::size_t word = 0; word < exact.words().size(); ++word) {
        const auto* const in = values.data() + 64 * word;
        auto* const out = integers.data() + 64 * word;
        const auto count = std::min<std::size_t>(64, values.size() - 64 * word);
        U masks[64];
        U all = ~U{0};
        U large = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const T integer = rounded(in[i], scale);
            masks[i] = exact_mask(in[i], integer, scale);
            all &= masks[i];
            // The low bits of the sum are the integer as long as the integer is small.
            const T sum = in[i] * scale.up * scale.down + magic<T>;
            out[i] = static_cast<signed_of<T>>(static_cast<U>(bits_of(sum) - bits_of(magic<T>)));
            large |= integer >= small<T> ? ~U{0} : U{0};
            large |= integer <= -small<T> ? ~U{0} : U{0};
        }
        auto bits = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
        if (!all) {
            bits = 0;
            for (std::size_t i = 0; i < count; ++i) bits |= static_cast<std::uint64_t>(masks[i] & 1) << i;
        }
        exact.words()[word] = bits;
        if (large) {
            for (; bits; bits &= bits - 1) {
                const auto i = static_cast<std::size_t>(std::countr_zero(bits));
                out[i] = static_cast<signed_of<T>>(rounded(in[i], scale));
            }
        }
    }
    return exact;
}

// A range of integers to keep. Integers outside of it become exceptions.
template <class I>
struct Window {
    I least, most;
    bool holds(I value) const { return (value >= least) & (value <= most); }
};

// The window inside `window` that takes the fewest bytes for packed integers and exceptions together. The candidates
// begin at the least integer, end at the greatest one, or lie around `middle`. How many integers a candidate keeps is
// known from counts of the bit widths of the distances.
template <class I>
Window<I> narrowed(std::span<const I> integers, const Exact& exact, Window<I> window, I middle) {
    using U = unsigned_of<I>;
    constexpr unsigned bits = 8 * sizeof(I);
    const auto distance = [](I from, I to) { return static_cast<U>(static_cast<U>(to) - static_cast<U>(from)); };
    const auto full = static_cast<unsigned>(std::bit_width(distance(window.least, window.most)));
    // Two sets of counts: neighbouring integers often increment the same count, and one increment would wait for the
    // other.
    struct Counts {
        std::uint32_t upwards[bits + 1], downwards[bits + 1], around[bits + 1];
    };
    Counts counts[2] = {};
    std::size_t inside = 0;
    exact.each([&](std::size_t i) {
        const auto value = integers[i];
        if (!window.holds(value)) return;
        auto& mine = counts[inside++ % 2];
        ++mine.upwards[std::bit_width(distance(window.least, value))];
        ++mine.downwards[std::bit_width(distance(value, window.most))];
        const auto beyond = distance(middle, value);
        const auto sign = static_cast<U>(U{0} - static_cast<U>(value < middle));  // no branch: the sign is random
        ++mine.around[std::bit_width(static_cast<U>((beyond ^ sign) - sign))];
    });
    // Where a window ends that reaches `width` bits to one side of `from`, but never outside of `window`.
    const auto reach = [](unsigned width) { return static_cast<U>(width ? ~U{0} >> (bits - width) : 0); };
    const auto up = [&](I from, unsigned width) {
        const auto room = distance(from, window.most);
        return static_cast<I>(static_cast<U>(static_cast<U>(from) + std::min(reach(width), room)));
    };
    const auto down = [&](I from, unsigned width) {
        const auto room = distance(window.least, from);
        return static_cast<I>(static_cast<U>(static_cast<U>(from) - std::min(reach(width), room)));
    };
    auto best = window;
    auto least_cost = bits::packed_bytes(integers.size(), full);
    const auto already = integers.size() - inside;
    std::size_t over = 0, under = 0, beside = 0;  // integers that do not fit into `width` bits
    for (auto width = full; width--;) {
        for (const auto& mine : counts) {
            over += mine.upwards[width + 1], under += mine.downwards[width + 1], beside += mine.around[width + 1];
        }
        const auto consider = [&](Window<I> candidate, std::size_t exceptions) {
            if (already + exceptions > exceptions_most) return;
            const auto needed = static_cast<unsigned>(std::bit_width(distance(candidate.least, candidate.most)));
            const auto total = bits::packed_bytes(integers.size(), needed) + exceptions * exception_bytes<I>;
            if (total < least_cost) least_cost = total, best = candidate;
        };
        consider({window.least, up(window.least, width)}, over);
        consider({down(window.most, width), window.most}, under);
        consider({down(middle, width), up(middle, width)}, beside);
    }
    return best;
}

// Turns outliers into exceptions: the integers without which all others would need fewer bits.
template <class I>
void move_outliers(std::span<const I> integers, const Exact& exact, Arena& arena) {
    // Shrinks a window to the integers inside of it, which may leave its ends unused.
    const auto tight = [&](Window<I> window) {
        Window<I> found{window.most, window.least};
        exact.each([&](std::size_t i) {
            const auto value = integers[i];
            const bool inside = window.holds(value);
            found.least = inside & (value < found.least) ? value : found.least;
            found.most = inside & (value > found.most) ? value : found.most;
        });
        return found;
    };
    const auto sample = arena.take<I>(64);
    std::size_t count = 0;
    for (std::size_t k = 0; k < sample.size(); ++k) {
        const auto i = k * integers.size() / sample.size();
        if (exact.words()[i / 64] >> i % 64 & 1) sample[count++] = integers[i];
    }
    const Window<I> everything = tight({std::numeric_limits<I>::min(), std::numeric_limits<I>::max()});
    auto window = everything;
    for (unsigned round = 0; round < 2; ++round) {
        const auto gone = std::ranges::remove_if(sample.first(count), [&](I value) { return !window.holds(value); });
        count -= gone.size();
        if (count) std::ranges::nth_element(sample.first(count), sample.begin() + static_cast<std::ptrdiff_t>(count / 2));
        const auto chosen = narrowed(integers, exact, window, count ? sample[count / 2] : window.least);
        if (chosen.least == window.least && chosen.most == window.most) break;
        window = tight(chosen);
    }
    if (window.least == everything.least && window.most == everything.most) return;
    for (std::size_t at = 0; at < exact.words().size(); ++at) {
        std::uint64_t outside = 0;
        for (std::size_t i = 64 * at; i < std::min(64 * at + 64, integers.size()); ++i) {
            outside |= static_cast<std::uint64_t>(!window.holds(integers[i])) << i % 64;
        }
        exact.words()[at] &= ~outside;
    }
}

}  // namespace amudai::numeric::alp
