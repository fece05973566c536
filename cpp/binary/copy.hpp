// Short copies that do not branch on the size. Gathering dictionary values spends most of its time here.
#pragma once
#include <vector>

#include "base/bytes.hpp"

namespace amudai::binary {

// The entries of a small dictionary, padded so that its last values can be copied without branches as well.
class Padded {
public:
    explicit Padded(Bytes entries) : entries_(entries) {
        if (entries.size() > most) return;
        copy_.resize(entries.size() + room);
        if (!entries.empty()) std::memcpy(copy_.data(), entries.data(), entries.size());
        entries_ = copy_;
    }

    const std::uint8_t* begin() const { return entries_.data(); }
    const std::uint8_t* end() const { return entries_.data() + entries_.size(); }

private:
    static constexpr std::size_t most = 1 << 14, room = 32;

    std::vector<std::uint8_t> copy_;
    Bytes entries_;
};

// Values stored back to back, copied one by one.
struct Entries {
    const std::uint8_t* data;
    const std::uint8_t* end;

    // Copies the value [start, start + size) to `at`, and may overwrite memory up to `limit`. Returns the place after
    // the value.
    std::uint8_t* copy(std::size_t start, std::size_t size, std::uint8_t* at, const std::uint8_t* limit) const {
        const auto* const from = data + start;
        // 32 bytes at once cover most values; a branch on smaller sizes would be mispredicted.
        if (size <= 32 && end - from >= 32 && limit - at >= 32) [[likely]] {
            std::memcpy(at, from, 32);
        } else {
            if (size > static_cast<std::size_t>(limit - at)) throw std::invalid_argument("out: too short");
            std::memcpy(at, from, size);
        }
        return at + size;
    }
};

}  // namespace amudai::binary
