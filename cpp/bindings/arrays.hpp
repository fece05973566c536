// Checked values from numpy arrays, and memory that becomes a numpy array.
#pragma once
#include <memory>

#include "base/reuse.hpp"
#include "binary/values.hpp"

#include "bindings/blocks.hpp"

namespace amudai::bindings {

using InAny = nb::ndarray<nb::ro, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bitmap = std::optional<In<std::uint8_t>>;
template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// Memory that becomes a numpy array once it is full.
template <class T>
class NumpyMemory {
public:
    explicit NumpyMemory(std::size_t size) : memory_(new Piece(size)) {}
    T* data() { return memory_->data; }
    std::span<T> span() { return {memory_->data, memory_->size}; }
    Array<T> array() && {
        const auto size = memory_->size;
        return std::move(*this).first(size);
    }
    Array<T> first(std::size_t size) && {
        auto* const memory = memory_.release();
        return {memory->data, {size}, nb::capsule(memory, [](void* owned) noexcept { delete static_cast<Piece*>(owned); })};
    }

private:
    struct Piece {
        explicit Piece(std::size_t count) : data(Reusing<T>().allocate(count)), size(count) {}
        ~Piece() { Reusing<T>().deallocate(data, size); }
        Piece(const Piece&) = delete;
        Piece& operator=(const Piece&) = delete;
        T* data;
        std::size_t size;
    };
    std::unique_ptr<Piece> memory_;
};

template <class T>
Array<T> copied(std::span<const T> values) {
    NumpyMemory<T> made(values.size());
    std::ranges::copy(values, made.data());
    return std::move(made).array();
}

template <class Use>
decltype(auto) with_offsets(const InAny& offsets, Use&& use) {
    return with_number(offsets.dtype(), [&]<class T>() -> decltype(auto) {
        if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) {
            return use(std::span<const T>{static_cast<const T*>(offsets.data()), offsets.shape(0)});
        } else {
            throw nb::type_error("offsets: expected int32 or int64");
            return use(std::span<const std::int32_t>{});
        }
    });
}

// Calls use(values) with values whose bounds have been checked.
template <class Use>
decltype(auto) with_values(const std::optional<InAny>& offsets, const In<std::uint8_t>& data,
                           std::optional<std::size_t> fixed_size, std::size_t count, Use&& use) {
    if (offsets.has_value() == fixed_size.has_value()) throw nb::value_error("values: expected either offsets or a fixed size");
    if (!offsets) return use(binary::FixedValues::checked(*fixed_size, count, span(data)));
    if (offsets->shape(0) != count + 1) throw nb::value_error("offsets: expected one more than there are values");
    return with_offsets(*offsets, [&](auto list) {
        using Offset = std::remove_const_t<typename decltype(list)::element_type>;
        return use(binary::VariableValues<Offset>::checked(list, span(data)));
    });
}

inline Validity validity_of(const Bitmap& bitmap, std::size_t at, std::size_t count) {
    if (!bitmap) return {};
    const auto bits = 8 * bitmap->shape(0);
    if (at > bits || count > bits - at) throw nb::value_error("validity: too short");
    return {bitmap->data(), at};
}

}  // namespace amudai::bindings
