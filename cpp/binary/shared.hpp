// Regions whose payload was compressed with a dictionary that all blocks of the buffer share. Bytes:
// docs/format/binary.md.
#pragma once
#include <optional>

#include "binary/nested.hpp"

namespace amudai::binary::shared {

inline constexpr std::uint16_t zstd_code = 0x8005;
inline constexpr std::uint16_t lz4_code = 0x8006;
inline constexpr std::string_view zstd_name = "zstd_shared";
inline constexpr std::string_view lz4_name = "lz4_shared";

inline bool uses_dictionary(std::uint16_t code) { return code == zstd_code || code == lz4_code; }

}  // namespace amudai::binary::shared
