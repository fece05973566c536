// An array that grows at its end. Appending a value is a comparison and a write, where std::vector calls a function, and
// what is appended is not zero before.
#pragma once
#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "base/reuse.hpp"

namespace amudai {

template <class T>
    requires std::is_trivially_copyable_v<T>
class Grown {
public:
    using value_type = T;

    Grown() = default;
    Grown(Grown&& other) noexcept { swap(other); }
    Grown& operator=(Grown&& other) noexcept {
        swap(other);
        return *this;
    }
    Grown(const Grown&) = delete;
    Grown& operator=(const Grown&) = delete;
    ~Grown() {
        if (begin_) Reusing<T>().deallocate(begin_, capacity());
    }

    T* data() { return begin_; }
    const T* data() const { return begin_; }
    std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
    T& back() { return end_[-1]; }
    operator std::span<const T>() const { return {begin_, size()}; }

    void push_back(T value) {
        if (end_ == limit_) [[unlikely]] grow(1);
        *end_++ = value;
    }
    void pop_back() { --end_; }
    // Makes room for so many more values at the end, and returns where they begin. The caller writes them.
    T* extend(std::size_t count) {
        if (static_cast<std::size_t>(limit_ - end_) < count) [[unlikely]] grow(count);
        end_ += count;
        return end_ - count;
    }
    void append(std::span<const T> values) {
        auto* const at = extend(values.size());
        if (!values.empty()) std::memcpy(at, values.data(), values.size_bytes());
    }
    void reserve(std::size_t count) {
        if (count > capacity()) grow(count - size());
    }

private:
    std::size_t capacity() const { return static_cast<std::size_t>(limit_ - begin_); }

    void grow(std::size_t count) {
        const auto used = size(), room = std::max({used + count, 2 * used, std::size_t{16}});
        auto* const memory = Reusing<T>().allocate(room);
        if (used) std::memcpy(memory, begin_, used * sizeof(T));
        if (begin_) Reusing<T>().deallocate(begin_, capacity());
        begin_ = memory, end_ = memory + used, limit_ = memory + room;
    }

    void swap(Grown& other) noexcept {
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        std::swap(limit_, other.limit_);
    }

    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* limit_ = nullptr;
};

}  // namespace amudai
