// The module `_processor`: what this processor can do. It is imported before the kernels are loaded, so it is small, is
// compiled for any x86-64 processor, and uses the plain C interface of Python.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <cpuid.h>

#include <cstdint>

namespace {

struct Registers {
    std::uint32_t a, b, c, d;
};

Registers cpuid(std::uint32_t leaf) {
    Registers found{};
    // A leaf that the processor does not know is left as zeros, which means that nothing is supported.
    __get_cpuid_count(leaf, 0, &found.a, &found.b, &found.c, &found.d);
    return found;
}

bool has_all(std::uint32_t word, std::uint32_t bits) { return (word & bits) == bits; }

// The operating system must save the upper halves of vector registers when it switches tasks. Register XCR0 says
// whether it does.
bool system_saves_vectors() {
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return has_all(low, 0b110);
}

// All of x86-64-v3 beyond v2: the flag -march=x86-64-v3 lets the compiler use each of these.
bool runs_v3() {
    constexpr std::uint32_t fma = 1u << 12, movbe = 1u << 22, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
    constexpr std::uint32_t bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
    constexpr std::uint32_t lzcnt = 1u << 5;  // Linux calls it abm
    return has_all(cpuid(1).c, fma | movbe | osxsave | avx | f16c) && has_all(cpuid(7).b, bmi1 | avx2 | bmi2) &&
           has_all(cpuid(0x80000001).c, lzcnt) && system_saves_vectors();
}

PyObject* py_runs_v3(PyObject*, PyObject*) { return PyBool_FromLong(runs_v3()); }

PyMethodDef functions[] = {
    {"runs_v3", py_runs_v3, METH_NOARGS, "Whether this processor and system can run x86-64-v3 code."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_processor", "What this processor can do.", 0, functions, nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit__processor() { return PyModuleDef_Init(&definition); }
