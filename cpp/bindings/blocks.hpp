// Conversion of Python arguments to spans. There are no loops over values and no byte layouts here.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/block.hpp"
#include "base/zstd_frame.hpp"
#include "bits/ranges.hpp"

namespace amudai::bindings {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using In = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutAny = nb::ndarray<nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto span(const Array& array) {
    return std::span{array.data(), array.shape(0)};
}

// Lets other threads run Python for the rest of a scope that reads and writes about so many bytes. With little to do, the
// scope keeps the interpreter to itself: waking a thread and waiting for one's turn again would take longer than the work.
class Unlocked {
public:
    explicit Unlocked(std::size_t bytes) {
        if (bytes >= least_bytes) released_.emplace();
    }

private:
    static constexpr std::size_t least_bytes = 32 * 1024;
    std::optional<nb::gil_scoped_release> released_;
};

// Checks that the ranges ascend, that none is empty, and that none touches the next.
inline bits::Ranges ranges_of(const In<std::uint64_t>& starts, const In<std::uint64_t>& ends,
                              const char* refusal = "ranges: expected ascending ones that neither are empty nor touch") {
    const bits::Ranges ranges{span(starts), span(ends)};
    if (!bits::is_sound(ranges)) throw nb::value_error(refusal);
    return ranges;
}

// A Python buffer, held while its bytes are in use.
class Held {
public:
    explicit Held(nb::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    Held(Held&& other) noexcept : view_(other.view_) { other.view_.obj = nullptr; }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held& operator=(Held&&) = delete;
    ~Held() {
        if (view_.obj) PyBuffer_Release(&view_);
    }
    Bytes bytes() const { return {static_cast<const std::uint8_t*>(view_.buf), static_cast<std::size_t>(view_.len)}; }

private:
    Py_buffer view_{};
};

// Where a frame lies (buffer, start, end), how many bytes it decodes to, and the codec that inflates it.
using Frame = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::string>;

// A run of blocks whose envelopes and checksums have been checked, with what callers have inflated for them.
class Blocks {
public:
    Blocks(nb::list buffers, In<std::uint32_t> which, In<std::uint64_t> starts, In<std::uint64_t> sizes,
           In<std::uint64_t> counts, In<std::uint64_t> ordinals, bool checksums, bool verify);
    // Consecutive blocks that take up the whole buffer. `ordinal` is the number of the first one.
    Blocks(nb::handle buffer, std::uint64_t ordinal, std::span<const std::uint64_t> sizes,
           std::span<const std::uint64_t> counts, bool checksums, bool verify);
    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;

    std::span<const Block> blocks() const { return blocks_; }
    // Bytes of all blocks.
    std::size_t size_bytes() const { return size_bytes_; }
    const Inflated& inflated() const { return inflated_; }
    Frame locate(Bytes frame, std::size_t decoded, std::string_view codec) const;
    std::vector<bool> are_whole(const std::vector<Frame>& frames) const;
    void add_inflated(const std::vector<Frame>& frames, nb::list contents);
    void forget_inflated();
    void share(nb::handle dictionary, std::uint32_t checksum);

private:
    void open(Bytes bytes, std::uint64_t count, std::uint64_t ordinal, bool checksums, bool verify);

    std::vector<Held> buffers_;
    std::vector<Held> contents_;
    std::optional<Held> dictionary_;
    std::vector<Block> blocks_;
    std::size_t size_bytes_ = 0;
    Inflated inflated_;
    std::size_t last_inflated_ = 0;  // number of frames in the last batch
};

// The spans of a call. A vector would fill their memory with zeros first, or ask before each span whether it has room.
class Spans {
public:
    explicit Spans(std::size_t size) : spans_(std::make_unique_for_overwrite<Span[]>(size)), size_(size) {}
    Span* begin() { return spans_.get(); }
    std::size_t size() const { return size_; }
    operator std::span<const Span>() const { return {spans_.get(), size_}; }

private:
    std::unique_ptr<Span[]> spans_;
    std::size_t size_;
};

Spans spans_of(const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
               std::size_t unit, std::size_t at, std::size_t room);

// The size of a Zstandard frame limits what it can hold. Others may hold any number of equal values.
inline void require_frame_size(std::size_t frame, std::size_t decoded, std::string_view codec) {
    if (codec.starts_with("zstd")) require_range("bytes of a Zstandard frame", decoded, 0, zstd_most(frame));
}

// Calls use.operator()<T>() for the numpy type of an output array.
template <class Use>
decltype(auto) with_number(nb::dlpack::dtype type, Use&& use) {
    using Code = nb::dlpack::dtype_code;
    const auto is = [&](Code code, unsigned bits) { return type.code == std::uint8_t(code) && type.bits == bits && type.lanes == 1; };
    if (is(Code::UInt, 8)) return use.template operator()<std::uint8_t>();
    if (is(Code::UInt, 16)) return use.template operator()<std::uint16_t>();
    if (is(Code::UInt, 32)) return use.template operator()<std::uint32_t>();
    if (is(Code::UInt, 64)) return use.template operator()<std::uint64_t>();
    if (is(Code::Int, 8)) return use.template operator()<std::int8_t>();
    if (is(Code::Int, 16)) return use.template operator()<std::int16_t>();
    if (is(Code::Int, 32)) return use.template operator()<std::int32_t>();
    if (is(Code::Int, 64)) return use.template operator()<std::int64_t>();
    if (is(Code::Float, 32)) return use.template operator()<float>();
    if (is(Code::Float, 64)) return use.template operator()<double>();
    throw nb::type_error("expected an array of integers or floats");
}

// The same for numpy's name of the type, such as "u8" or "f4".
template <class Use>
decltype(auto) with_number(const std::string& name, Use&& use) {
    using Code = nb::dlpack::dtype_code;
    if (name.size() != 2 || name[1] < '1' || name[1] > '8') throw nb::value_error("expected a type such as 'i8'");
    const auto code = name[0] == 'u' ? Code::UInt : name[0] == 'i' ? Code::Int : Code::Float;
    return with_number(nb::dlpack::dtype{std::uint8_t(code), std::uint8_t(8 * (name[1] - '0')), 1}, std::forward<Use>(use));
}

}  // namespace amudai::bindings
