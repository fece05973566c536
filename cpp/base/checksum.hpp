// The format's checksum: the exclusive or of the two halves of XXH3-64 without a seed.
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
