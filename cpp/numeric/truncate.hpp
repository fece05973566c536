// Truncate (codes 8..11): signed values cut to 8, 16, 32 or 64 bits, sign-extended when read. Bytes:
// docs/format/numeric.md.
#pragma once
#include "numeric/plain.hpp"

namespace amudai::numeric::truncate {

inline constexpr std::size_t header_size = 8;

// `N` is the narrow unsigned type that is stored. `Wider` is the encoding to use instead if a value does not fit.
template <class N, std::uint16_t Code, class Wider>
struct To {
    static constexpr std::uint16_t code = Code;
    static constexpr std::string_view name = sizeof(N) == 1   ? "truncate_u8"
                                             : sizeof(N) == 2 ? "truncate_u16"
                                             : sizeof(N) == 4 ? "truncate_u32"
                                                              : "truncate_u64";
    template <class T>
    static constexpr bool accepts = std::signed_integral<T> && sizeof(T) >= sizeof(N) && sizeof(T) > 1;

    template <class T, class Visit>
    static void parts(Bytes section, std::size_t count, Visit&& visit) {
        const auto data = rest("truncate section bytes", section, header_size);
        if (section[2] != 0) visit.template operator()<N>(data, count);
    }

    template <class T>
    static void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
        const auto data = rest("truncate section bytes", section, header_size);
        const bool nested = section[2] != 0;
        if (!nested) require_equal("truncate section bytes", data.size(), count * sizeof(N));
        if constexpr (sizeof(N) == sizeof(T)) {
            decode_part<N>("truncate values", nested, data, count, first, as_unsigned(out), context);
        } else {
            const auto narrow = context.arena.take<N>(out.size());
            decode_part<N>("truncate values", nested, data, count, first, narrow, context);
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(static_cast<signed_of<N>>(narrow[i]));
        }
    }

    template <class T, class Visit>
    static void asks(Visit&& visit) {
        visit.template operator()<N>(true);
    }

    // `widened` says that a narrower encoding was asked for, but some value did not fit.
    template <class T>
    static void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context, bool widened = false) {
        if constexpr (sizeof(N) == sizeof(T)) {
            if (widened && plan.part(0).raw()) return plain::encode<T>(values, plan, out, context);
            write(as_unsigned(values), plan, out, context);
        } else {
            const auto [least, most] = min_max(values);
            using Limits = std::numeric_limits<signed_of<N>>;
            if (least < Limits::min() || most > Limits::max()) {
                return Wider::template encode<T>(values, plan, out, context, true);
            }
            const auto narrow = context.arena.take<N>(values.size());
            for (std::size_t i = 0; i < values.size(); ++i) narrow[i] = static_cast<N>(values[i]);
            write(narrow, plan, out, context);
        }
    }

private:
    static void write(std::span<const N> values, Plan plan, Sink& out, EncodeContext& context) {
        const auto at = out.header(code, header_size);
        out.set<std::uint8_t>(at + 2, encode_part<N>(values, plan.part(0), out, context));
    }
};

using U64 = To<std::uint64_t, 11, void>;
using U32 = To<std::uint32_t, 10, U64>;
using U16 = To<std::uint16_t, 9, U32>;
using U8 = To<std::uint8_t, 8, U16>;

}  // namespace amudai::numeric::truncate
