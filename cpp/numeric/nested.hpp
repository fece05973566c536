// What all numeric encodings share: access to the sections nested inside a section.
//
// Each encoding is a namespace with the same names:
//   code, name      the number of the encoding in the format, and its readable name
//   accepts<T>      whether a section of T may have this code
//   parts<T>        the nested sections: visit.operator()<Nested>(bytes, count) for each
//   decode<T>       values [first, first + out.size()) of a section that holds `count` values
//   asks<T>         the parts that a program must describe: visit.operator()<Nested>(may be raw) for each
//   encode<T>       a section of two or more values that are not all equal (encode_section handles the other cases)
// Sizes, counts and widths are checked before a loop over values, so the loop can rely on them.
#pragma once
#include <bit>
#include <concepts>

#include "base/context.hpp"

namespace amudai::numeric {

// Defined in section.hpp, once every encoding is known.
template <class T>
void decode_section(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context);

template <class T>
using unsigned_of = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
template <class T>
using signed_of = std::make_signed_t<unsigned_of<T>>;

// The name of the type in numpy.
template <class T>
constexpr std::string_view type_name() {
    constexpr std::string_view names[3][4] = {{"u1", "u2", "u4", "u8"}, {"i1", "i2", "i4", "i8"}, {"", "", "f4", "f8"}};
    return names[std::floating_point<T> ? 2 : std::signed_integral<T>][std::countr_zero(sizeof(T))];
}

template <class T>
std::span<unsigned_of<T>> as_unsigned(std::span<T> values) {
    return {reinterpret_cast<unsigned_of<T>*>(values.data()), values.size()};
}

template <class T>
Bytes raw_values(std::string_view what, Bytes bytes, std::size_t count) {
    require_at_least(what, bytes.size() / sizeof(T), count);
    return bytes.first(count * sizeof(T));
}

// Decodes a part, which is either a section or plain little-endian values. A flag byte of the header says which.
template <class T>
void decode_part(std::string_view what, bool nested, Bytes bytes, std::size_t count, std::size_t first, std::span<T> out,
                 Context& context) {
    if (nested) return decode_section<T>(bytes, count, first, out, context);
    const auto values = raw_values<T>(what, bytes, count);
    std::memcpy(out.data(), values.data() + first * sizeof(T), out.size_bytes());
}

template <class T>
std::span<T> decode_all(std::string_view what, bool nested, Bytes bytes, std::size_t count, Context& context) {
    const auto values = context.arena.take<T>(count);
    decode_part<T>(what, nested, bytes, count, 0, values, context);
    return values;
}

}  // namespace amudai::numeric
