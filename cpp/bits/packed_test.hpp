// Which packed values lie in a range, told row by row as they are unpacked, without writing the values anywhere.
#pragma once
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "bits/fastlanes.hpp"

namespace amudai::bits {

// Sets bit i of `answers`, 128 bytes, to whether value i of a chunk is at most `length` above `low`; both wrap around.
// With `largest`, also raises it to the largest value.
template <class U>
void test_chunk(const std::uint8_t* packed, unsigned width, U low, U length, std::uint8_t* answers, U* largest = nullptr);

#ifdef __AVX2__

// Whether there is a `test_chunk` for the type.
template <class U>
inline constexpr bool tests_chunks = sizeof(U) == 4 || sizeof(U) == 8;

namespace detail {

// Four registers hold a row of 32-bit values or one of 64-bit values. A register holds words of U.
template <class U>
struct Words {
    static constexpr bool wide = sizeof(U) == 8;

    static __m256i all(U value) {
        if constexpr (wide) return _mm256_set1_epi64x(static_cast<long long>(value));
        else return _mm256_set1_epi32(static_cast<int>(value));
    }
    static __m256i right(__m256i words, __m128i count) {
        return wide ? _mm256_srl_epi64(words, count) : _mm256_srl_epi32(words, count);
    }
    static __m256i left(__m256i words, __m128i count) {
        return wide ? _mm256_sll_epi64(words, count) : _mm256_sll_epi32(words, count);
    }
    static __m256i minus(__m256i a, __m256i b) { return wide ? _mm256_sub_epi64(a, b) : _mm256_sub_epi32(a, b); }
    static __m256i is_greater(__m256i a, __m256i b) { return wide ? _mm256_cmpgt_epi64(a, b) : _mm256_cmpgt_epi32(a, b); }
    static U largest_of(__m256i words) {
        static_assert(!wide);
        auto most = _mm_max_epu32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0b01001110));
        most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0b10110001));
        return static_cast<U>(_mm_cvtsi128_si32(most));
    }
    // Writes a bit for each word of four registers, whose bits are all the same: the opposite of these.
    static void write_opposite(const __m256i (&row)[4], std::uint8_t* out) {
        if constexpr (wide) {
            unsigned found = 0;
            for (unsigned i = 0; i < 4; ++i) {
                found |= static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(row[i]))) << 4 * i;
            }
            store(out, static_cast<std::uint16_t>(~found));
        } else {
            const auto bytes = _mm256_packs_epi16(_mm256_packs_epi32(row[0], row[1]), _mm256_packs_epi32(row[2], row[3]));
            // Packing works on each half of a register alone.
            const auto order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            store(out, ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(bytes, order))));
        }
    }
};

template <class U, bool WantsLargest>
void test_chunk(const std::uint8_t* packed, unsigned width, U low, U length, std::uint8_t* answers, U* largest) {
    using W = Words<U>;
    constexpr unsigned bits = 8 * sizeof(U);
    // Processors compare signed words. Adding the highest bit to both sides makes an unsigned comparison of it.
    constexpr U highest = U{1} << (bits - 1);
    const auto mask = W::all(width_mask<U>(width));
    const auto least = W::all(static_cast<U>(low + highest)), most = W::all(static_cast<U>(length + highest));
    auto seen = _mm256_setzero_si256();
    for (unsigned row = 0; row < bits; ++row) {
        const unsigned shift = row * width % bits;
        const std::uint8_t* const at = packed + row * width / bits * 128;
        const auto right = _mm_cvtsi32_si128(static_cast<int>(shift)), left = _mm_cvtsi32_si128(static_cast<int>(bits - shift));
        __m256i outside[4];
        const auto test = [&](std::size_t i, __m256i word) {
            const auto value = _mm256_and_si256(word, mask);
            if constexpr (WantsLargest) seen = _mm256_max_epu32(seen, value);
            outside[i] = W::is_greater(W::minus(value, least), most);
        };
        if (shift + width <= bits) {
            for (std::size_t i = 0; i < 4; ++i) test(i, W::right(load<__m256i>(at + 32 * i), right));
        } else {
            for (std::size_t i = 0; i < 4; ++i) {
                const auto first = W::right(load<__m256i>(at + 32 * i), right);
                test(i, _mm256_or_si256(first, W::left(load<__m256i>(at + 128 + 32 * i), left)));
            }
        }
        W::write_opposite(outside, answers + row_begin(row) / 8);
    }
    if constexpr (WantsLargest) *largest = std::max(*largest, W::largest_of(seen));
}

}  // namespace detail

template <class U>
void test_chunk(const std::uint8_t* packed, unsigned width, U low, U length, std::uint8_t* answers, U* largest) {
    if constexpr (sizeof(U) == 4) {
        if (largest) return detail::test_chunk<U, true>(packed, width, low, length, answers, largest);
    }
    detail::test_chunk<U, false>(packed, width, low, length, answers, nullptr);
}

#else

template <class U>
inline constexpr bool tests_chunks = false;

#endif

}  // namespace amudai::bits
