// Encoding of a run of values in one call. The values are cut into blocks, and one program encodes all blocks.
#pragma once
#include "base/block.hpp"
#include "numeric/section.hpp"
#include "presence/presence.hpp"

namespace amudai::numeric {

// Which values are not null: bit `at + i` of `bitmap` belongs to value i. Without a bitmap no value is null.
struct Validity {
    const std::uint8_t* bitmap = nullptr;
    std::size_t at = 0;

    // Bit i of the result belongs to value `first + i`. `count` is at most 64.
    std::uint64_t word(std::size_t first, std::size_t count) const { return bits::word(bitmap, at + first, count); }
    std::size_t nulls(std::size_t first, std::size_t count) const {
        return bitmap ? count - bits::count_set(bitmap, at + first, count) : 0;
    }
};

// Copies values [first, first + out.size()) to `out`, with each null replaced by the value before it. `last` is the
// value before the first one, and becomes the last value written.
template <class T>
void fill_nulls(std::span<const T> values, Validity validity, std::size_t first, T& last, std::span<T> out) {
    using U = unsigned_of<T>;
    for (std::size_t done = 0; done < out.size(); done += 64) {
        const auto count = std::min<std::size_t>(64, out.size() - done);
        const auto in = values.subspan(first + done, count);
        auto present = validity.word(first + done, count);
        if (present == ~std::uint64_t{0}) {
            std::ranges::copy(in, out.begin() + static_cast<std::ptrdiff_t>(done));
            last = in.back();
            continue;
        }
        // Choose by masks, for which no compiler emits a branch.
        auto kept = bits_of(last);
        for (std::size_t i = 0; i < count; ++i, present >>= 1) {
            const auto mask = static_cast<U>(U{0} - static_cast<U>(present & 1));
            kept = static_cast<U>((bits_of(in[i]) & mask) | (kept & static_cast<U>(~mask)));
            out[done + i] = std::bit_cast<T>(kept);
        }
        last = std::bit_cast<T>(kept);
    }
}

// What replaces nulls that have no value before them: the first value that is not null, or zero.
template <class T>
T first_valid(std::span<const T> values, Validity validity, std::size_t first, std::size_t count) {
    for (std::size_t done = 0; done < count; done += 64) {
        const auto present = validity.word(first + done, std::min<std::size_t>(64, count - done));
        if (present) return values[first + done + static_cast<std::size_t>(std::countr_zero(present))];
    }
    return T{};
}

// Calls block(values, first) for each block, with the nulls of the block replaced. The values are valid until the next
// call.
template <class T, class Block>
void for_each_filled(std::span<const T> values, Validity validity, std::size_t block_values, Arena& arena, Block&& block) {
    for (std::size_t first = 0; first < values.size(); first += block_values) {
        arena.reset();
        const auto count = std::min(block_values, values.size() - first);
        if (validity.nulls(first, count) == 0) {
            block(values.subspan(first, count), first);
            continue;
        }
        const auto filled = arena.take<T>(count);
        auto last = first_valid(values, validity, first, count);
        fill_nulls(values, validity, first, last, filled);
        block(std::span<const T>(filled), first);
    }
}

// Appends the blocks to `out` and calls done(size in bytes) for each of them.
template <class T, class Done>
void encode_run(std::span<const T> values, Validity validity, Plan plan, std::size_t block_values, Leaves& leaves,
                bool checksums, Sink& out, Done&& done) {
    Arena arena;
    EncodeContext context{arena, leaves};
    for_each_filled(values, validity, block_values, arena, [&](std::span<const T> filled, std::size_t first) {
        done(write_block(
            out, checksums,
            [&] {
                if (validity.bitmap) presence::encode(validity.bitmap, validity.at + first, filled.size(), out, arena);
            },
            [&] { encode_section<T>(filled, plan, out, context); }));
    });
    leaves.require_done();
}

// Collects in `leaves` what the codecs of the program have to compress.
template <class T>
void collect_leaves(std::span<const T> values, Validity validity, Plan plan, std::size_t block_values, Leaves& leaves) {
    if (!plan->codecs) return;
    Arena arena;
    EncodeContext context{arena, leaves};
    Sink unused;
    for_each_filled(values, validity, block_values, arena, [&](std::span<const T> filled, std::size_t) {
        unused.cut(0);
        encode_section<T>(filled, plan, unused, context);
    });
}

}  // namespace amudai::numeric
