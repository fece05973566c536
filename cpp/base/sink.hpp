// The output of an encoder: a growing buffer, with fields that are filled in once they are known.
#pragma once
#include <cstdlib>
#include <memory>
#include <new>

#include "base/bytes.hpp"

namespace amudai {

class Sink {
public:
    std::size_t size() const { return size_; }
    Bytes bytes() const { return {memory_.get(), size_}; }

    void reserve(std::size_t capacity) {
        if (capacity <= capacity_) return;
        // realloc moves large buffers by remapping their pages instead of copying their bytes.
        auto* const memory = static_cast<std::uint8_t*>(std::realloc(memory_.get(), capacity));
        if (!memory) throw std::bad_alloc();
        static_cast<void>(memory_.release());
        memory_.reset(memory);
        capacity_ = capacity;
    }

    // Memory for `count` more bytes, all of which the caller writes.
    std::uint8_t* extend(std::size_t count) {
        if (count > capacity_ - size_) reserve(std::max(size_ + count, 2 * capacity_));
        auto* const at = memory_.get() + size_;
        size_ += count;
        return at;
    }
    void zeros(std::size_t count) {
        if (count) std::memset(extend(count), 0, count);
    }
    void append(Bytes bytes) {
        if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
    }
    template <class T>
    void append(std::span<const T> values) {
        if (!values.empty()) std::memcpy(extend(values.size_bytes()), values.data(), values.size_bytes());
    }
    template <class T>
    void put(T value) {
        store<T>(extend(sizeof(T)), value);
    }

    // Overwrites a field that was written before.
    template <class T>
    void set(std::size_t at, T value) {
        store<T>(memory_.get() + at, value);
    }
    // Writes a header of `size` bytes: the section's code, then zeros. Returns where the section begins.
    std::size_t header(std::uint16_t code, std::size_t size) {
        const auto at = size_;
        zeros(size);
        set<std::uint16_t>(at, code);
        return at;
    }
    // Appends zeros up to a multiple of 8 bytes, counted from `start`.
    void pad8(std::size_t start) { zeros(align8(size_ - start) - (size_ - start)); }
    // Drops everything from `size` on.
    void cut(std::size_t size) { size_ = size; }

private:
    struct Free {
        void operator()(std::uint8_t* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::uint8_t[], Free> memory_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace amudai
