// What decoding a block needs besides its bytes: working memory, what callers inflate, the current nesting depth.
#pragma once
#include <memory>
#include <vector>

#include "base/bytes.hpp"

namespace amudai {

// Working memory for one block at a time. `reset` keeps the allocated memory for the next block.
//
// Counts come from the file, and a few bytes may claim billions of values. So there is a limit: the most that any codec
// could decode the block's bytes to, plus memory for cascades over several million values.
class Arena {
public:
    template <class T>
    std::span<T> take(std::size_t count) {
        require_memory(count <= limit_ / sizeof(T));
        const auto bytes = align8(count * sizeof(T)) + slack;
        total_ += bytes;
        require_memory(total_ <= limit_);
        if (used_ == chunks_.size()) chunks_.emplace_back();
        if (chunks_[used_].size < bytes) chunks_[used_] = {std::make_unique_for_overwrite<std::uint8_t[]>(bytes), bytes};
        return {reinterpret_cast<T*>(chunks_[used_++].memory.get()), count};
    }
    // Encoders have no limit: their values are already in memory, and they need working memory in proportion.
    void reset() { used_ = 0, total_ = 0, limit_ = std::numeric_limits<std::size_t>::max(); }
    void reset(Bytes values) { used_ = 0, total_ = 0, limit_ = least_limit + 256 * values.size(); }

    // Decoders may write this many bytes past the end of what they requested.
    static constexpr std::size_t slack = 64;

private:
    static constexpr std::size_t least_limit = std::size_t{192} << 20;
    void require_memory(bool enough) const {
        if (!enough) throw Unsupported("working memory of a block: expected at most " + std::to_string(limit_) + " bytes, found more");
    }
    struct Chunk {
        std::unique_ptr<std::uint8_t[]> memory;
        std::size_t size = 0;
    };
    std::vector<Chunk> chunks_;
    std::size_t used_ = 0;
    std::size_t total_ = 0;
    std::size_t limit_ = least_limit;
};

// The most bytes that Zstandard frames of this size can hold: a block of 128 KiB costs at least three bytes.
constexpr std::uint64_t zstd_most(std::size_t frames) { return (frames / 3 + 1) * (std::uint64_t{128} << 10); }

// What the caller has inflated, found by the address of the frame, and the dictionary that frames share.
class Inflated {
public:
    // `checksum` is that of the dictionary, by which blocks name it.
    void share(Bytes dictionary, std::uint32_t checksum) { dictionary_ = dictionary, checksum_ = checksum; }
    Bytes dictionary(std::uint32_t checksum) const {
        if (!dictionary_.data()) throw Corrupted("shared dictionary: expected one for this block, found none");
        require_equal("checksum of the shared dictionary", checksum_, checksum);
        return dictionary_;
    }
    void begin_batch() { ++batch_; }
    void add(const std::uint8_t* frame, Bytes content) { entries_.push_back({frame, content, batch_}); }
    // Forgets what was added since the last batch began.
    void forget_batch() {
        std::erase_if(entries_, [this](const Entry& entry) { return entry.batch == batch_; });
    }
    void sort() { std::ranges::sort(entries_, {}, &Entry::frame); }
    Bytes find(const std::uint8_t* frame, std::size_t expected) const {
        const auto content = find_any(frame);
        require_equal("bytes of an inflated frame", content.size(), expected);
        return content;
    }
    Bytes find_any(const std::uint8_t* frame) const {
        const auto at = std::ranges::lower_bound(entries_, frame, {}, &Entry::frame);
        if (at == entries_.end() || at->frame != frame) throw std::logic_error("a frame was not inflated");
        return at->content;
    }

private:
    struct Entry {
        const std::uint8_t* frame;
        Bytes content;
        std::size_t batch;
    };
    std::vector<Entry> entries_;
    std::size_t batch_ = 0;
    Bytes dictionary_;
    std::uint32_t checksum_ = 0;
};

struct Context {
    const Inflated& inflated;
    Arena& arena;
    const std::uint8_t* block = nullptr;  // where the block being decoded begins
    unsigned depth = 0;
};

// Cascades are at most four levels deep in valid files. A hostile file could recurse forever.
inline constexpr unsigned max_depth = 16;

class Deeper {
public:
    explicit Deeper(Context& context) : context_(context) {
        require_range("nested sections", ++context_.depth, 0, max_depth);
    }
    ~Deeper() { --context_.depth; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

private:
    Context& context_;
};

}  // namespace amudai
