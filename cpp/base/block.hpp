// Blocks in a buffer, and the spans of their slots that a reader wants. Bytes: docs/format/buffers.md.
#pragma once
#include <vector>

#include "base/checksum.hpp"
#include "base/context.hpp"
#include "base/sink.hpp"

namespace amudai {

inline constexpr std::size_t envelope_size = 8;
inline constexpr std::size_t checksum_size = 4;

// A block whose envelope has been checked.
struct Block {
    const std::uint8_t* begin;
    Bytes presence;
    Bytes values;
    std::size_t count;
    std::uint64_t ordinal;  // its number in the buffer, for error messages
};

// `count` slots of block `block` (an index into the run), beginning with slot `first`. Spans come in block order.
struct Span {
    std::size_t block;
    std::size_t first;
    std::size_t count;
};

inline Block open_block(Bytes bytes, std::size_t count, std::uint64_t ordinal, bool checksums, bool verify) {
    if (checksums) {
        require_at_least("block bytes", bytes.size(), envelope_size + checksum_size);
        const auto content = bytes.first(bytes.size() - checksum_size);
        if (verify) {
            const auto stored = load<std::uint32_t>(bytes, content.size());
            const auto found = checksum(content);
            if (stored != found) {
                throw Corrupted("block checksum: expected " + std::to_string(stored) + ", found " + std::to_string(found));
            }
        }
        bytes = content;
    }
    require_at_least("block bytes", bytes.size(), envelope_size);
    const std::size_t presence_size = load<std::uint32_t>(bytes, 0);
    const std::size_t values_size = load<std::uint32_t>(bytes, 4);
    const auto values_at = envelope_size + align8(presence_size);
    require_at_least("block bytes", bytes.size(), values_at + values_size);
    return {bytes.data(), bytes.subspan(envelope_size, presence_size), bytes.subspan(values_at, values_size), count, ordinal};
}

// Runs `work`, and adds the block's ordinal to its errors.
template <class Work>
decltype(auto) at_block(std::uint64_t ordinal, Work&& work) {
    try {
        return work();
    } catch (const Corrupted& error) {
        throw AtBlock<Corrupted>(error, ordinal);
    } catch (const Unsupported& error) {
        throw AtBlock<Unsupported>(error, ordinal);
    }
}

// Calls work(block, its spans) for each block that has spans.
template <class Work>
void for_each_block(std::span<const Block> blocks, std::span<const Span> spans, Work&& work) {
    for (std::size_t i = 0; i < spans.size();) {
        auto end = i + 1;
        while (end < spans.size() && spans[end].block == spans[i].block) ++end;
        const auto& block = blocks[spans[i].block];
        at_block(block.ordinal, [&] { work(block, spans.subspan(i, end - i)); });
        i = end;
    }
}

// Writes a block whose sections `presence()` and `values()` append to `out`. Returns the size of the block.
template <class Presence, class Values>
std::size_t write_block(Sink& out, bool checksums, Presence&& presence, Values&& values) {
    const auto start = out.size();
    out.zeros(envelope_size);
    presence();
    const auto presence_size = out.size() - start - envelope_size;
    out.pad8(start);
    const auto values_at = out.size();
    values();
    const auto values_size = out.size() - values_at;
    out.set<std::uint32_t>(start, static_cast<std::uint32_t>(presence_size));
    out.set<std::uint32_t>(start + 4, static_cast<std::uint32_t>(values_size));
    if (checksums) {
        out.pad8(start + checksum_size);  // so that the size of the block, checksum included, is a multiple of 8
        out.put<std::uint32_t>(checksum(out.bytes().subspan(start)));
    } else {
        out.pad8(start);
    }
    const auto size = out.size() - start;
    if (size >= std::numeric_limits<std::uint32_t>::max()) throw std::invalid_argument("block: expected less than 4 GiB");
    return size;
}

}  // namespace amudai
