// Keys of a hash index: XXH3 of a prefix, which names the field, and the bytes of a value. Bytes:
// docs/format/hash-index.md.
#pragma once
#include <vector>

#include "base/checksum.hpp"
#include "binary/values.hpp"

namespace amudai::index {

// Writes the hash of each slot's key to `out`. The key of a null has no bytes after the prefix.
template <class Values>
void hash_keys(Bytes prefix, const Values& values, const Validity& validity, std::uint64_t* out) {
    constexpr std::size_t longest = 4096;  // values up to this size are copied behind the prefix; others are not copied
    std::vector<std::uint8_t> key(prefix.begin(), prefix.end());
    key.resize(prefix.size() + longest);
    auto* const value = key.data() + prefix.size();
    const auto null_hash = XXH3_64bits(key.data(), prefix.size());
    const auto hashed = [&](std::size_t slot) {
        const auto bytes = values[slot];
        if (bytes.size() <= longest) [[likely]] {
            if (!bytes.empty()) std::memcpy(value, bytes.data(), bytes.size());
            return XXH3_64bits(key.data(), prefix.size() + bytes.size());
        }
        XXH3_state_t state;
        XXH3_64bits_reset(&state);
        XXH3_64bits_update(&state, key.data(), prefix.size());
        XXH3_64bits_update(&state, bytes.data(), bytes.size());
        return XXH3_64bits_digest(&state);
    };
    for_each_slot(values.count(), validity, [&](std::size_t slot) { out[slot] = hashed(slot); },
                  [&](std::size_t slot) { out[slot] = null_hash; });
}

}  // namespace amudai::index
