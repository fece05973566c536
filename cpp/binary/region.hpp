// The catalog of all binary encodings. The code at the start of a region says which encoding reads it.
#pragma once
#include "binary/block_dictionary.hpp"
#include "binary/fsst.hpp"
#include "binary/lz4.hpp"
#include "binary/plain.hpp"
#include "binary/single_value.hpp"
#include "binary/snappy.hpp"
#include "binary/zstd.hpp"

namespace amudai::binary {

// Calls use(layout) with the layout of the encoding that the region's code names.
template <class Use>
decltype(auto) with_layout(Bytes region, const Slots& slots, Use&& use) {
    switch (const auto code = numeric::code_of(region)) {
        case plain::code: return use(plain::layout(region, slots));
        case single_value::code: return use(single_value::layout(region, slots));
        case block_dictionary::code: return use(block_dictionary::layout(region, slots));
        case fsst::code: return use(fsst::layout(region, slots));
        case zstd::code:
        case shared::zstd_code: return use(zstd::layout(region, slots));
        case lz4::code:
        case shared::lz4_code: return use(lz4::layout(region, slots));
        case snappy::code: return use(snappy::layout(region, slots));
        default:
            if ((code >= 1 && code <= 19) || (code > 0x8000 && code <= shared::lz4_code)) throw Corrupted("encoding code " + std::to_string(code) + ": not an encoding of this type");
            throw Unsupported("encoding code " + std::to_string(code) + ": unknown to this version");
    }
}

template <class Use>
void each_encoding(Use&& use) {
    use(plain::code, plain::name), use(single_value::code, single_value::name);
    use(block_dictionary::code, block_dictionary::name), use(fsst::code, fsst::name);
    use(zstd::code, zstd::name), use(lz4::code, lz4::name), use(snappy::code, snappy::name);
    use(shared::zstd_code, shared::zstd_name), use(shared::lz4_code, shared::lz4_name);
}

inline std::string_view name_of(Bytes region) {
    std::string_view found;
    each_encoding([&, code = numeric::code_of(region)](std::uint16_t each, std::string_view name) {
        if (each == code) found = name;
    });
    return found;
}

}  // namespace amudai::binary
