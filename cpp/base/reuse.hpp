// Large memory that is used again. Fresh pages of the operating system take longer than filling them.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

namespace amudai {

// Keeps some large pieces of memory that were given back, for arrays of about that size. Any thread may use it.
class ReusedMemory {
public:
    static ReusedMemory& shared() {
        static auto& memory = *new ReusedMemory;  // never destroyed: arrays may outlive everything else
        return memory;
    }

    // Not under AddressSanitizer, which notices what is read behind the end of memory of its exact size alone.
#ifdef AMUDAI_SANITIZE
    static constexpr bool is_reused(std::size_t) { return false; }
#else
    static constexpr bool is_reused(std::size_t size) { return size > least && size <= most; }
#endif

    void* take(std::size_t size) {
        const auto number = class_of(size);
        // A lock that is held, perhaps by a thread that does not exist after a fork, is not waited for.
        if (const std::unique_lock lock(mutex_, std::try_to_lock); lock && !kept_[number].empty()) {
            auto* const found = kept_[number].back();
            kept_[number].pop_back();
            bytes_ -= least << number;
            return found;
        }
        return ::operator new(least << number);
    }

    void give(void* memory, std::size_t size) noexcept {
        const auto number = class_of(size);
        {
            const std::unique_lock lock(mutex_, std::try_to_lock);
            auto& kept = kept_[number];
            if (lock && kept.size() < kept.capacity() && bytes_ + (least << number) <= most_kept) {
                kept.push_back(memory);
                bytes_ += least << number;
                return;
            }
        }
        ::operator delete(memory);
    }

private:
    static constexpr std::size_t least = std::size_t{64} << 10, most = std::size_t{16} << 20;
    static constexpr std::size_t most_kept = std::size_t{32} << 20;
    static constexpr std::size_t classes = std::bit_width(most / least);

    // Sizes are rounded up to 2^n * least.
    static std::size_t class_of(std::size_t size) { return std::bit_width((size - 1) / least); }

    ReusedMemory() {
        for (auto& each : kept_) each.reserve(16);
    }

    std::mutex mutex_;
    std::array<std::vector<void*>, classes> kept_;
    std::size_t bytes_ = 0;
};

// An allocator of vectors that takes large memory from there.
template <class T>
struct Reusing {
    using value_type = T;

    Reusing() = default;
    template <class U>
    Reusing(const Reusing<U>&) {}

    T* allocate(std::size_t count) {
        if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
        const auto size = count * sizeof(T);
        return static_cast<T*>(ReusedMemory::is_reused(size) ? ReusedMemory::shared().take(size) : ::operator new(size));
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        const auto size = count * sizeof(T);
        if (ReusedMemory::is_reused(size)) ReusedMemory::shared().give(memory, size);
        else ::operator delete(memory);
    }
    friend bool operator==(const Reusing&, const Reusing&) { return true; }
};

template <class T>
using ReusedVector = std::vector<T, Reusing<T>>;

}  // namespace amudai
