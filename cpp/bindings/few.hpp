// What the slots of a single block take to be decoded: used where Python asks for few values, and where a look-up does.
#pragma once
#include "binary/run.hpp"

#include "bindings/blocks.hpp"

namespace amudai::bindings {

// What of blocks of bytes must be inflated and is known before any offsets are decoded.
inline std::vector<Frame> binary_frames(const Blocks& blocks, std::optional<std::size_t> fixed_size) {
    std::vector<Frame> list;
    const auto found = [&](Bytes frame, std::size_t decoded, std::string_view codec) {
        require_frame_size(frame.size(), decoded, codec);
        list.push_back(blocks.locate(frame, decoded, codec));
    };
    for (const auto& block : blocks.blocks()) {
        at_block(block.ordinal, [&] {
            const binary::Slots slots{block.count, fixed_size.value_or(0), fixed_size.has_value(), nullptr};
            binary::with_layout(block.values, slots, [&]<class L>(const L& layout) {
                frames(layout, slots, found);
                if constexpr (std::is_same_v<L, binary::zstd::Layout>) {
                    if (layout.dictionary) blocks.inflated().dictionary(*layout.dictionary);
                    if (slots.is_fixed && !binary::zstd::holds_records(layout, slots)) found(layout.payload, slots.count * slots.fixed_size, layout.codec());
                }
            });
        });
    }
    return list;
}

// The Zstandard frames of the values of blocks [first, last), whose decoded sizes come from the decoded offsets.
inline std::vector<Frame> payload_frames(const Blocks& blocks, std::span<const std::uint64_t> sizes, std::size_t first,
                                         std::size_t last) {
    std::vector<Frame> frames;
    for (std::size_t i = first; i < std::min(last, blocks.blocks().size()); ++i) {
        const auto& block = blocks.blocks()[i];
        at_block(block.ordinal, [&] {
            const binary::Slots slots{block.count, 0, false, nullptr};
            if (!binary::zstd::holds_frame(numeric::code_of(block.values))) return;
            const auto layout = binary::zstd::layout(block.values, slots);
            require_frame_size(layout.payload.size(), sizes[i], layout.codec());
            frames.push_back(blocks.locate(layout.payload, sizes[i], layout.codec()));
        });
    }
    return frames;
}

// What of blocks of numbers must be inflated.
template <class T>
std::vector<Frame> numeric_frames(const Blocks& blocks) {
    std::vector<Frame> frames;
    const auto found = [&](Bytes frame, std::size_t decoded, std::string_view codec) {
        require_frame_size(frame.size(), decoded, codec);
        frames.push_back(blocks.locate(frame, decoded, codec));
    };
    for (const auto& block : blocks.blocks()) {
        at_block(block.ordinal, [&] { numeric::find_frames<T>(block.values, block.count, found); });
    }
    return frames;
}

}  // namespace amudai::bindings
