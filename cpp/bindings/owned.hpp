// Vectors that become numpy arrays without a copy.
#pragma once
#include <vector>

#include "bindings/arrays.hpp"

namespace amudai::bindings {

template <class T>
Array<T> owned(std::vector<T>&& values) {
    using Kept = std::vector<T>;
    auto* const kept = new Kept(std::move(values));
    return {kept->data(), {kept->size()}, nb::capsule(kept, [](void* p) noexcept { delete static_cast<Kept*>(p); })};
}

}  // namespace amudai::bindings
