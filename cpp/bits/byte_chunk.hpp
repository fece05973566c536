// Which of 64 bytes are equal to some byte, as bits of a word.
#pragma once
#include <array>
#include <bit>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "base/bytes.hpp"

namespace amudai::bits {

// Bit i of an answer is that of byte i.
class ByteChunk {
public:
    static constexpr std::size_t size = 64;

#ifdef __AVX2__
    // Whether an answer takes a few instructions, not a few for each byte.
    static constexpr bool is_quick = true;

    explicit ByteChunk(const std::uint8_t* bytes) : low_(load<__m256i>(bytes)), high_(load<__m256i>(bytes + size / 2)) {}

    std::uint64_t equal(std::uint8_t byte) const {
        const auto wanted = _mm256_set1_epi8(static_cast<char>(byte));
        return mask(_mm256_cmpeq_epi8(low_, wanted), _mm256_cmpeq_epi8(high_, wanted));
    }
    std::uint64_t either(std::uint8_t one, std::uint8_t other) const {
        const auto a = _mm256_set1_epi8(static_cast<char>(one)), b = _mm256_set1_epi8(static_cast<char>(other));
        return mask(_mm256_or_si256(_mm256_cmpeq_epi8(low_, a), _mm256_cmpeq_epi8(low_, b)),
                    _mm256_or_si256(_mm256_cmpeq_epi8(high_, a), _mm256_cmpeq_epi8(high_, b)));
    }
    std::uint64_t at_least(std::uint8_t byte) const {
        const auto wanted = _mm256_set1_epi8(static_cast<char>(byte));
        return mask(_mm256_cmpeq_epi8(_mm256_max_epu8(low_, wanted), low_), _mm256_cmpeq_epi8(_mm256_max_epu8(high_, wanted), high_));
    }
    // Which bytes are 1, where all are 0 or 1.
    std::uint64_t ones() const { return mask(_mm256_slli_epi16(low_, 7), _mm256_slli_epi16(high_, 7)); }
    // Whether no byte has its highest bit.
    bool is_ascii() const { return _mm256_movemask_epi8(_mm256_or_si256(low_, high_)) == 0; }

private:
    static std::uint64_t mask(__m256i low, __m256i high) {
        const auto first = static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
        return first | std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(high))} << 32;
    }

    __m256i low_, high_;
#else
    static constexpr bool is_quick = false;

    explicit ByteChunk(const std::uint8_t* bytes) { std::memcpy(bytes_.data(), bytes, size); }

    std::uint64_t equal(std::uint8_t byte) const { return either(byte, byte); }
    std::uint64_t either(std::uint8_t one, std::uint8_t other) const {
        return mask([=](std::uint8_t byte) { return (byte == one) | (byte == other); });
    }
    std::uint64_t at_least(std::uint8_t byte) const {
        return mask([=](std::uint8_t each) { return each >= byte; });
    }
    std::uint64_t ones() const { return ones(bytes_); }
    bool is_ascii() const {
        std::uint64_t all = 0;
        for (const auto word : std::bit_cast<std::array<std::uint64_t, size / 8>>(bytes_)) all |= word;
        return (all & 0x8080808080808080) == 0;
    }

private:
    template <class Test>
    std::uint64_t mask(Test test) const {
        std::array<std::uint8_t, size> found;
        for (std::size_t i = 0; i < size; ++i) found[i] = static_cast<std::uint8_t>(test(bytes_[i]));
        return ones(found);
    }

    static std::uint64_t ones(const std::array<std::uint8_t, size>& bytes) {
        const auto words = std::bit_cast<std::array<std::uint64_t, size / 8>>(bytes);
        std::uint64_t answer = 0;
        // The product moves the bits of all bytes into the last one.
        for (std::size_t i = 0; i < words.size(); ++i) answer |= (words[i] * 0x0102040810204080 >> 56) << 8 * i;
        return answer;
    }

    std::array<std::uint8_t, size> bytes_;
#endif
};

}  // namespace amudai::bits
