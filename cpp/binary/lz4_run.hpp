// Encoding of a run of blocks of texts in one call: LZ4 blocks of the kernels' own search, with offsets and presence.
#pragma once
#include "binary/lz4.hpp"
#include "binary/lz4_search.hpp"
#include "binary/values.hpp"

namespace amudai::binary {

// The size of a block, and of its values within the block. Both are 0 if LZ4 does not make the values smaller.
struct BlockSizes {
    std::uint32_t block = 0, values = 0;
};

// Writes blocks one after the other. A program for offsets is one of `numeric/`, without codecs.
template <bool thorough>
class Lz4Run {
public:
    explicit Lz4Run(std::span<const std::vector<numeric::Step>> programs) : programs_(programs) {}

    Bytes blocks() const { return out_.bytes(); }

    // Bit `validity.at` belongs to the first value.
    BlockSizes write(const VariableValues<std::int64_t>& values, const Validity& validity) {
        arena_.reset();
        const auto text = values.all();
        const auto room = arena_.take<std::uint8_t>(lz4_block::encoded_most(text.size()));
        const auto compressed = room.first(lz4_block::compress<thorough>(text, room.data()));
        if (compressed.size() >= text.size()) return {};
        const auto offsets = shortest(values.offsets);
        const auto size = size32("region", lz4::encoded_size(compressed.size(), offsets));
        const auto block = write_block(
            out_, true,
            [&] {
                if (validity.bitmap) presence::encode(validity.bitmap, validity.at, values.count(), out_, arena_);
            },
            [&] { lz4::encode(compressed, text.size(), offsets, {}, {out_.extend(size), size}); });
        return {static_cast<std::uint32_t>(block), size};
    }

private:
    // The offsets from 0 on, by the program that makes least of them, or raw.
    OffsetsPart shortest(std::span<const std::int64_t> offsets) {
        const auto rebased = arena_.take<std::uint64_t>(offsets.size());
        for (std::size_t i = 0; i < offsets.size(); ++i) rebased[i] = static_cast<std::uint64_t>(offsets[i] - offsets[0]);
        numeric::Leaves none;
        numeric::EncodeContext context{arena_, none};
        bool nested = false;
        for (const auto& program : programs_) {
            other_.cut(0);
            numeric::encode_section<std::uint64_t>(rebased, numeric::Plan(program.data()), other_, context);
            if (other_.size() >= (nested ? section_.size() : rebased.size_bytes())) continue;
            std::swap(section_, other_);
            nested = true;
        }
        return {false, nested, nested ? section_.bytes() : Bytes{reinterpret_cast<const std::uint8_t*>(rebased.data()), rebased.size_bytes()}};
    }

    std::span<const std::vector<numeric::Step>> programs_;
    Sink out_, section_, other_;
    Arena arena_;
};

}  // namespace amudai::binary
