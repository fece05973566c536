// Writer of a region, from front to back, into memory of exactly its size.
#pragma once
#include "base/bytes.hpp"

namespace amudai::binary {

// A size that the format stores in 32 bits.
inline std::uint32_t size32(std::string_view what, std::size_t size) {
    if (size > std::numeric_limits<std::uint32_t>::max()) {
        throw std::invalid_argument(std::string(what) + ": expected less than 2^32 bytes, found " + std::to_string(size));
    }
    return static_cast<std::uint32_t>(size);
}

class Fill {
public:
    explicit Fill(MutableBytes out) : out_(out) {}

    template <class T>
    Fill& number(T value) {
        store(out_.data() + at_, value);
        at_ += sizeof(T);
        return *this;
    }
    Fill& bytes(Bytes bytes) {
        if (!bytes.empty()) std::memcpy(out_.data() + at_, bytes.data(), bytes.size());
        at_ += bytes.size();
        return *this;
    }
    // Writes zeros up to the next multiple of eight.
    Fill& pad() {
        const auto end = align8(at_);
        std::memset(out_.data() + at_, 0, end - at_);
        at_ = end;
        return *this;
    }
    MutableBytes rest() const { return out_.subspan(at_); }

private:
    MutableBytes out_;
    std::size_t at_ = 0;
};

}  // namespace amudai::binary
