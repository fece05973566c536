// Bitmaps of answers: many values are tested in one loop, and eight answers are stored in a byte.
#pragma once
#include "bits/bitmap.hpp"
#include "bits/byte_chunk.hpp"

namespace amudai::bits {

// Bytes of a bitmap of `count` answers. It is written in whole words, so the caller must provide whole words.
constexpr std::size_t answer_bytes(std::size_t count) { return (count + 63) / 64 * 8; }

// Sets bit i of `out` to answer(i), for each i below `count`. Bits after the last answer are undefined.
template <class Answer>
void test_each(std::size_t count, std::uint8_t* out, Answer&& answer) {
    for (std::size_t at = 0; at < count; at += 64, out += 8) {
        // Write the answers as bytes first, in a loop that compilers vectorise.
        std::uint8_t answers[ByteChunk::size];
        if (count - at >= 64) [[likely]] {
            for (std::size_t i = 0; i < 64; ++i) answers[i] = answer(at + i);
        } else {
            for (std::size_t i = 0; i < 64; ++i) answers[i] = i < count - at && answer(at + i);
        }
        store(out, ByteChunk(answers).ones());
    }
}

// Writes a bitmap in which many neighbouring answers are the same.
class Stretches {
public:
    explicit Stretches(std::uint8_t* out) : out_(out) {}

    void add(bool answer, std::size_t count) {
        while (count) {
            const auto size = std::min(count, 64 - size_);
            if (answer) word_ |= ~std::uint64_t{0} >> (64 - size) << size_;
            size_ += size, count -= size;
            if (size_ < 64) return;
            finish();
        }
    }
    // Writes the last answers.
    void finish() {
        if (size_) store(out_, word_), out_ += 8;
        word_ = 0, size_ = 0;
    }

private:
    std::uint8_t* out_;
    std::uint64_t word_ = 0;
    std::size_t size_ = 0;
};

}  // namespace amudai::bits
