// Spans of bytes, unaligned loads, and the two kinds of errors that a block can cause.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace amudai {

using Bytes = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

// Bytes that violate the format. The binding turns it into CorruptedData.
struct Corrupted : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Valid bytes in an encoding that this version does not know. The binding turns it into UnsupportedFeature.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An error together with the block in which it occurred. what() is the message of the inner error.
template <class Error>
struct AtBlock : Error {
    AtBlock(const Error& error, std::uint64_t ordinal) : Error(error), block(ordinal) {}
    std::uint64_t block;
};

[[noreturn]] inline void refuse(std::string_view what, const std::string& expected, std::uint64_t found) {
    throw Corrupted(std::string(what) + ": expected " + expected + ", found " + std::to_string(found));
}

inline void require_range(std::string_view what, std::uint64_t found, std::uint64_t least, std::uint64_t most) {
    if (found >= least && found <= most) [[likely]] return;
    if (least == most) refuse(what, std::to_string(least), found);
    if (most == std::numeric_limits<std::uint64_t>::max()) refuse(what, "at least " + std::to_string(least), found);
    refuse(what, std::to_string(least) + ".." + std::to_string(most), found);
}

inline void require_equal(std::string_view what, std::uint64_t found, std::uint64_t expected) {
    require_range(what, found, expected, expected);
}

inline void require_at_least(std::string_view what, std::uint64_t found, std::uint64_t least) {
    require_range(what, found, least, std::numeric_limits<std::uint64_t>::max());
}

// The caller has checked that all `sizeof(T)` bytes lie inside the buffer.
template <class T>
inline T load(const std::uint8_t* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

template <class T>
inline T load(Bytes bytes, std::size_t offset) {
    return load<T>(bytes.data() + offset);
}

template <class T>
inline void store(std::uint8_t* at, T value) {
    std::memcpy(at, &value, sizeof(T));
}

constexpr std::size_t align8(std::size_t size) { return (size + 7) & ~std::size_t{7}; }

// A part of `bytes` whose bounds come from the file.
inline Bytes part(std::string_view what, Bytes bytes, std::size_t offset, std::size_t size) {
    require_range(what, size, 0, offset <= bytes.size() ? bytes.size() - offset : 0);
    if (offset > bytes.size()) refuse(what, "an offset up to " + std::to_string(bytes.size()), offset);
    return bytes.subspan(offset, size);
}

inline Bytes rest(std::string_view what, Bytes bytes, std::size_t offset) {
    require_at_least(what, bytes.size(), offset);
    return bytes.subspan(offset);
}

}  // namespace amudai
