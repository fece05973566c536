// What this processor can do. CMake asks it, too, if only the level of this processor is built.
#pragma once
#include <cpuid.h>

#include <cstdint>

namespace amudai {

struct Registers {
    std::uint32_t a, b, c, d;
};

inline Registers cpuid(std::uint32_t leaf) {
    Registers found{};
    // A leaf that the processor does not know is left as zeros, which means that nothing is supported.
    __get_cpuid_count(leaf, 0, &found.a, &found.b, &found.c, &found.d);
    return found;
}

inline bool has_all(std::uint32_t word, std::uint32_t bits) { return (word & bits) == bits; }

// The operating system must save the upper halves of vector registers when it switches tasks. Register XCR0 says
// whether it does.
inline bool system_saves_vectors() {
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return has_all(low, 0b110);
}

// All of x86-64-v3 beyond v2: the flag -march=x86-64-v3 lets the compiler use each of these.
inline bool runs_v3() {
    constexpr std::uint32_t fma = 1u << 12, movbe = 1u << 22, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
    constexpr std::uint32_t bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
    constexpr std::uint32_t lzcnt = 1u << 5;  // Linux calls it abm
    return has_all(cpuid(1).c, fma | movbe | osxsave | avx | f16c) && has_all(cpuid(7).b, bmi1 | avx2 | bmi2) &&
           has_all(cpuid(0x80000001).c, lzcnt) && system_saves_vectors();
}

}  // namespace amudai
