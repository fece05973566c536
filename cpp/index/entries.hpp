// The entries of a hash index while it is built: pairs of a hash and a position, sorted into groups and buckets.
#pragma once
#include <array>
#include <utility>
#include <vector>

#include "base/bytes.hpp"

namespace amudai::index {

struct Entry {
    std::uint64_t hash;
    std::uint64_t position;
};

// Writes the entries to `out`, ordered by the topmost `bits` bits of their hashes. Entries with equal bits keep their
// order. Writes to `counts` how many entries there are for each value of these bits.
inline void partition(std::span<const std::uint64_t> hashes, std::span<const std::uint64_t> positions, unsigned bits,
                      std::uint64_t* counts, Entry* out) {
    const auto parts = std::size_t{1} << bits;
    const auto shift = 64 - bits;
    std::fill_n(counts, parts, 0);
    for (const auto hash : hashes) ++counts[hash >> shift];
    std::vector<std::uint64_t> next(parts);
    for (std::size_t part = 1; part < parts; ++part) next[part] = next[part - 1] + counts[part - 1];
    for (std::size_t i = 0; i < hashes.size(); ++i) out[next[hashes[i] >> shift]++] = {hashes[i], positions[i]};
}

// Sorts by hash, digit by digit. Entries with the same hash keep their order. `other` is scratch of the same size. The
// result is in one of the two spans, and is returned.
inline std::span<Entry> sort_by_hash(std::span<Entry> entries, std::span<Entry> other) {
    constexpr unsigned digit_bits = 11;
    constexpr std::uint64_t mask = (1u << digit_bits) - 1;
    std::uint64_t all = ~std::uint64_t{0}, any = 0;
    for (const auto& entry : entries) all &= entry.hash, any |= entry.hash;
    std::vector<std::uint64_t> next(mask + 1);
    for (unsigned shift = 0; shift < 64; shift += digit_bits) {
        if (((any & ~all) >> shift & mask) == 0) continue;  // all entries have the same digit here
        std::ranges::fill(next, 0);
        for (const auto& entry : entries) ++next[entry.hash >> shift & mask];
        std::uint64_t sum = 0;
        for (auto& place : next) sum += std::exchange(place, sum);
        for (const auto& entry : entries) other[next[entry.hash >> shift & mask]++] = entry;
        std::swap(entries, other);
    }
    return entries;
}

// Distinct hashes and their positions. `ends[i]` is where the positions of hash i end in `positions`. The positions of
// each hash ascend and are distinct.
struct Groups {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint64_t> ends;
    std::vector<std::uint64_t> positions;
};

inline Groups group(std::span<const Entry> entries) {
    std::vector<Entry> copy(entries.begin(), entries.end()), scratch(entries.size());
    const auto sorted = sort_by_hash(copy, scratch);
    Groups groups;
    groups.positions.reserve(sorted.size());
    for (std::size_t first = 0; first < sorted.size();) {
        auto last = first + 1;
        bool ascending = true;
        for (; last < sorted.size() && sorted[last].hash == sorted[first].hash; ++last) {
            ascending &= sorted[last - 1].position <= sorted[last].position;
        }
        const auto mine = sorted.subspan(first, last - first);
        // Rows come in order, but several fields with the same keys may take turns.
        if (!ascending) std::ranges::sort(mine, {}, &Entry::position);
        for (std::size_t i = 0; i < mine.size(); ++i) {
            if (i == 0 || mine[i].position != mine[i - 1].position) groups.positions.push_back(mine[i].position);
        }
        groups.hashes.push_back(sorted[first].hash);
        groups.ends.push_back(groups.positions.size());
        first = last;
    }
    return groups;
}

// Sorts groups by bucket, which is the lowest bits of the hash. Groups of one bucket keep their order. `ends` must
// ascend to the number of positions, and `buckets` must be a power of two.
inline Groups order_by_bucket(std::span<const std::uint64_t> hashes, std::span<const std::uint64_t> ends,
                              std::span<const std::uint64_t> positions, std::uint64_t buckets) {
    const auto mask = buckets - 1;
    std::vector<std::uint64_t> next(buckets);
    for (const auto hash : hashes) ++next[hash & mask];
    std::uint64_t sum = 0;
    for (auto& place : next) sum += std::exchange(place, sum);
    std::vector<std::uint64_t> order(hashes.size());
    for (std::size_t i = 0; i < hashes.size(); ++i) order[next[hashes[i] & mask]++] = i;
    Groups groups;
    groups.hashes.reserve(hashes.size());
    groups.ends.reserve(hashes.size());
    groups.positions.reserve(positions.size());
    for (const auto i : order) {
        groups.hashes.push_back(hashes[i]);
        const auto mine = positions.subspan(i ? ends[i - 1] : 0, ends[i] - (i ? ends[i - 1] : 0));
        groups.positions.insert(groups.positions.end(), mine.begin(), mine.end());
        groups.ends.push_back(groups.positions.size());
    }
    return groups;
}

}  // namespace amudai::index
