// The format's checksum: XXH3-64 without seed, its halves folded by exclusive or.
#pragma once
#define XXH_INLINE_ALL
#include <arrow/vendored/xxhash/xxhash.h>

#include "base/bytes.hpp"

namespace amudai {

inline std::uint32_t checksum(Bytes bytes) {
    const std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
    return static_cast<std::uint32_t>(hash) ^ static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace amudai
