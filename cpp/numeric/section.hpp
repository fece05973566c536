// The catalog of all numeric encodings. The code at the start of a section says which encoding reads it.
#pragma once
#include "numeric/alp.hpp"
#include "numeric/alprd.hpp"
#include "numeric/block_dictionary.hpp"
#include "numeric/chimp.hpp"
#include "numeric/delta.hpp"
#include "numeric/ffor.hpp"
#include "numeric/fl_bit_pack.hpp"
#include "numeric/frame_of_reference.hpp"
#include "numeric/lz4.hpp"
#include "numeric/patched.hpp"
#include "numeric/pco.hpp"
#include "numeric/plain.hpp"
#include "numeric/run_length.hpp"
#include "numeric/single_value.hpp"
#include "numeric/snappy.hpp"
#include "numeric/sparse.hpp"
#include "numeric/truncate.hpp"
#include "numeric/zig_zag.hpp"
#include "numeric/zstd.hpp"

namespace amudai::numeric {

// A namespace cannot be a template argument, but these structs can.
#define AMUDAI_ENCODING(encoding)                                                                                   \
    struct encoding##_encoding {                                                                                    \
        static constexpr std::uint16_t code = encoding::code;                                                       \
        static constexpr std::string_view name = encoding::name;                                                    \
        template <class T>                                                                                          \
        static constexpr bool accepts = encoding::accepts<T>;                                                       \
        template <class T, class Visit>                                                                             \
        static void parts(Bytes section, std::size_t count, Visit&& visit) {                                        \
            encoding::parts<T>(section, count, visit);                                                              \
        }                                                                                                           \
        template <class T>                                                                                          \
        static void decode(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) { \
            encoding::decode<T>(section, count, first, out, context);                                               \
        }                                                                                                           \
        template <class T, class Visit>                                                                             \
        static void asks(Visit&& visit) {                                                                           \
            encoding::asks<T>(visit);                                                                               \
        }                                                                                                           \
        template <class T>                                                                                          \
        static void encode(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {               \
            encoding::encode<T>(values, plan, out, context);                                                        \
        }                                                                                                           \
    };
AMUDAI_ENCODING(plain)
AMUDAI_ENCODING(fl_bit_pack)
AMUDAI_ENCODING(frame_of_reference)
AMUDAI_ENCODING(ffor)
AMUDAI_ENCODING(delta)
AMUDAI_ENCODING(run_length)
AMUDAI_ENCODING(single_value)
AMUDAI_ENCODING(alp)
AMUDAI_ENCODING(alprd)
AMUDAI_ENCODING(block_dictionary)
AMUDAI_ENCODING(zstd)
AMUDAI_ENCODING(lz4)
AMUDAI_ENCODING(zig_zag)
AMUDAI_ENCODING(sparse)
AMUDAI_ENCODING(patched)
AMUDAI_ENCODING(chimp)
AMUDAI_ENCODING(pco)
AMUDAI_ENCODING(snappy)
#undef AMUDAI_ENCODING

template <class... E>
struct Catalog {
    // Calls use.operator()<Encoding>() for the encoding with this code. Throws if there is none or if it does not
    // accept T.
    template <class T, class Use>
    static void with(std::uint16_t code, Use&& use) {
        const bool found = ([&] {
            if constexpr (E::template accepts<T>) {
                if (E::code == code) return use.template operator()<E>(), true;
            }
            return false;
        }() || ...);
        if (found) return;
        const bool known = ((E::code == code) || ...);
        const auto message = "encoding code " + std::to_string(code);
        if (known) throw Corrupted(message + ": not an encoding of this type");
        throw Unsupported(message + ": unknown to this version");
    }
    template <class Use>
    static void each(Use&& use) {
        (use.template operator()<E>(), ...);
    }
    template <class T>
    static bool accepts(std::uint16_t code) {
        return ((E::code == code && E::template accepts<T>) || ...);
    }
};

using Encodings =
    Catalog<plain_encoding, fl_bit_pack_encoding, frame_of_reference_encoding, ffor_encoding, delta_encoding,
            run_length_encoding, single_value_encoding, truncate::U8, truncate::U16, truncate::U32, truncate::U64,
            alp_encoding, alprd_encoding, block_dictionary_encoding, zstd_encoding, lz4_encoding, zig_zag_encoding,
            sparse_encoding, patched_encoding, chimp_encoding, pco_encoding, snappy_encoding>;

inline std::uint16_t code_of(Bytes section) {
    require_at_least("section bytes", section.size(), 2);
    return load<std::uint16_t>(section, 0);
}

template <class T>
void decode_section(Bytes section, std::size_t count, std::size_t first, std::span<T> out, Context& context) {
    if (out.empty()) return;
    const Deeper deeper(context);
    Encodings::with<T>(code_of(section),
                       [&]<class E>() { E::template decode<T>(section, count, first, out, context); });
}

// Whether decoding a few values costs less than decoding all of them: every encoding of the cascade must be able to
// find a value by its position.
template <class T>
bool seekable(Bytes section, std::size_t count, unsigned depth = 0) {
    if (count == 0) return true;
    require_range("nested sections", depth, 0, max_depth);
    bool result = true;
    const auto code = code_of(section);
    if (code == delta::code || code == run_length::code || code == lz4::code || code == sparse::code) return false;
    if (code == chimp::code || code == snappy::code) return false;
    if (code == block_dictionary::code) return false;  // all of its entries are decoded first
    Encodings::with<T>(code, [&]<class E>() {
        E::template parts<T>(section, count, [&]<class N>(Bytes bytes, std::size_t n) {
            result = result && seekable<N>(bytes, n, depth + 1);
        });
    });
    return result;
}

// Appends the cascade in readable form, such as "delta(ffor)".
template <class T>
void describe(Bytes section, std::size_t count, std::string& out, unsigned depth = 0) {
    if (count == 0) {
        out += "empty";
        return;
    }
    require_range("nested sections", depth, 0, max_depth);
    Encodings::with<T>(code_of(section), [&]<class E>() {
        out += E::name;
        bool any = false;
        E::template parts<T>(section, count, [&]<class N>(Bytes bytes, std::size_t n) {
            out += any ? ", " : "(";
            any = true;
            describe<N>(bytes, n, out, depth + 1);
        });
        if (any) out += ")";
    });
}

// Calls found(frame, decoded bytes, codec) for everything in the cascade that the caller must inflate.
template <class T, class Found>
void find_frames(Bytes section, std::size_t count, Found& found, unsigned depth = 0) {
    if (count == 0) return;
    require_range("nested sections", depth, 0, max_depth);
    const auto code = code_of(section);
    if (code == zstd::code) return found(zstd::frame(section), count * sizeof(T), zstd::codec);
    if constexpr (pco::accepts<T>) {
        if (code == pco::code) return found(pco::payload(section), count * sizeof(T), pco::codec<T>());
    }
    Encodings::with<T>(code, [&]<class E>() {
        E::template parts<T>(section, count,
                             [&]<class N>(Bytes bytes, std::size_t n) { find_frames<N>(bytes, n, found, depth + 1); });
    });
}

// Parses the program at `at` into steps, and moves `at` past the program.
template <class T>
void parse_step(Bytes program, std::size_t& at, bool may_be_raw, std::vector<Step>& steps, unsigned depth) {
    const auto refused = [&](const std::string& what) { throw std::invalid_argument("program: " + what); };
    const auto next = [&] {
        if (at == program.size()) refused("ends before it is complete");
        return program[at++];
    };
    if (depth > max_depth) refused("nested more than " + std::to_string(max_depth) + " deep");
    const auto mine = steps.size();
    const std::uint16_t step = next();
    const auto code = static_cast<std::uint16_t>(step < 0x80 ? step : 0x8000 | (step & 0x7f));
    steps.push_back({.code = code});
    if (code == 0) {
        if (!may_be_raw) refused("byte " + std::to_string(at - 1) + " is 0, but that part cannot be raw");
        return;
    }
    if (!Encodings::accepts<T>(code)) refused("code " + std::to_string(code) + " is not an encoding of these values");
    if constexpr (alp::accepts<T>) {
        if (code == alp::code) {
            const auto exponent = next(), factor = next(), outliers = next();
            const auto most = alp::powers<T>().size() - 1;
            if (!(exponent == searched && factor == searched) && (exponent > most || factor > most)) {
                refused("expected an exponent and a factor up to " + std::to_string(most) + ", or 255 for both");
            }
            if (outliers > 1) refused("expected 0 or 1 for outliers, found " + std::to_string(outliers));
            steps[mine].exponent = exponent, steps[mine].factor = factor, steps[mine].outliers = outliers != 0;
        }
    }
    bool codecs = code == lz4::code || code == zstd::code || code == pco::code || code == snappy::code;
    Encodings::with<T>(code, [&]<class E>() {
        E::template asks<T>([&]<class N>(bool raw) {
            const auto part = steps.size();
            parse_step<N>(program, at, raw, steps, depth + 1);
            codecs |= steps[part].codecs;
            // The reference implementation computes the padding there in two ways, and reads runs only if both agree.
            const bool left = code == alprd::code && part == mine + 1;
            if (left && steps[part].code == run_length::code) refused("run_length as the left part of alprd");
        });
    });
    steps[mine].codecs = codecs;
    steps[mine].steps = steps.size() - mine;
}

// Parses a program for values of T. Throws std::invalid_argument if it is not valid.
template <class T>
std::vector<Step> parse_program(Bytes program) {
    std::vector<Step> steps;
    std::size_t at = 0;
    parse_step<T>(program, at, false, steps, 1);
    const auto surplus = program.size() - at;
    if (surplus) throw std::invalid_argument("program: " + std::to_string(surplus) + " bytes behind its end");
    return steps;
}

// Writes a section of one or more values.
template <class T>
void encode_section(std::span<const T> values, Plan plan, Sink& out, EncodeContext& context) {
    if (all_equal(values)) return single_value::encode<T>(values, plan, out, context);
    if (context.leaves.collecting() && !plan->codecs) return plain::encode<T>(values.first(1), plan, out, context);
    if (plan->code == single_value::code) return plain::encode<T>(values, plan, out, context);
    Encodings::with<T>(plan->code, [&]<class E>() { E::template encode<T>(values, plan, out, context); });
}

}  // namespace amudai::numeric
