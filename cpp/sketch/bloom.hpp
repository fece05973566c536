// Collection of the distinct hashes for a Bloom filter, as long as there are few. Bytes: docs/format/statistics.md.
#pragma once
#include <bit>
#include <vector>

#include "base/bytes.hpp"

namespace amudai::sketch {

// Keeps up to `limit` distinct hashes in the order of first appearance. With one more, the set is full and forgets them
// all.
class HashSet {
public:
    explicit HashSet(std::size_t limit)
        : limit_(limit), slots_(16), mask_(slots_.size() - 1) {
        if (limit > most) throw std::invalid_argument("limit: expected at most 16777216, found " + std::to_string(limit));
    }

    bool full() const { return full_; }
    std::span<const std::uint64_t> values() const { return values_; }

    // Adds hashes. Returns whether the set still holds everything that was added.
    bool add(std::span<const std::uint64_t> hashes) {
        for (const auto hash : hashes) {
            if (full_) break;
            insert(hash);
        }
        return !full_;
    }

private:
    static constexpr std::size_t most = 1 << 24;

    // The values are hashes already and need no further hashing. Zero marks a free slot, so the hash 0 is noted
    // separately.
    void insert(std::uint64_t hash) {
        if (hash == 0) [[unlikely]] {
            if (has_zero_) return;
            has_zero_ = true;
            return keep(hash);
        }
        for (auto at = hash & mask_;; at = (at + 1) & mask_) {
            if (slots_[at] == hash) return;
            if (slots_[at] == 0) {
                slots_[at] = hash;
                keep(hash);
                if (2 * values_.size() > slots_.size()) grow();
                return;
            }
        }
    }
    void grow() {
        slots_.assign(2 * slots_.size(), 0);
        mask_ = slots_.size() - 1;
        for (const auto hash : values_) {
            if (hash == 0) continue;
            auto at = hash & mask_;
            while (slots_[at]) at = (at + 1) & mask_;
            slots_[at] = hash;
        }
    }
    void keep(std::uint64_t hash) {
        if (values_.size() == limit_) {
            full_ = true;
            values_.clear();
        } else {
            values_.push_back(hash);
        }
    }

    std::size_t limit_;
    std::vector<std::uint64_t> slots_;
    std::size_t mask_;
    std::vector<std::uint64_t> values_;
    bool has_zero_ = false;
    bool full_ = false;
};

}  // namespace amudai::sketch
