// A hash of terms for in-memory tables. Its seeds are drawn at random for each process, so nobody can prepare terms
// that collide.
#pragma once
#include <array>
#include <random>

#include "base/checksum.hpp"

namespace amudai::text {

class TermHash {
public:
    // Hashes `term`. May read beyond the term, up to `end`.
    std::uint64_t operator()(Bytes term, const std::uint8_t* end) const {
        if (term.size() > 16) [[unlikely]] return XXH3_64bits_withSeed(term.data(), term.size(), seeds_[0]);
        std::uint64_t words[2] = {};
        if (end - term.data() >= 16) [[likely]] {
            const auto* const masks = kept.data() + 16 - term.size();
            words[0] = load<std::uint64_t>(term.data()) & load<std::uint64_t>(masks);
            words[1] = load<std::uint64_t>(term.data() + 8) & load<std::uint64_t>(masks + 8);
        } else if (!term.empty()) {
            std::memcpy(words, term.data(), term.size());
        }
        return folded(words[0] ^ seeds_[0], words[1] ^ (term.size() * 0x9e3779b97f4a7c15) ^ seeds_[1]);
    }

private:
    static std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
        const auto product = static_cast<unsigned __int128>(a) * b;
        const auto mixed = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
        return mixed * 0x9e3779b97f4a7c15 ^ mixed >> 29;
    }
    // Sixteen 0xff bytes, then sixteen zeros. The 16 bytes from index 16 - n on are a mask that keeps the first n
    // bytes.
    static constexpr std::array<std::uint8_t, 32> kept = [] {
        std::array<std::uint8_t, 32> bytes{};
        std::fill_n(bytes.begin(), 16, std::uint8_t{0xff});
        return bytes;
    }();
    static const std::array<std::uint64_t, 2>& process_seeds() {
        static const std::array<std::uint64_t, 2> seeds = [] {
            std::random_device source;
            const auto draw = [&] { return std::uint64_t{source()} << 32 | source(); };
            return std::array{draw() | 1, draw() | 1};
        }();
        return seeds;
    }

    std::array<std::uint64_t, 2> seeds_ = process_seeds();
};

}  // namespace amudai::text
