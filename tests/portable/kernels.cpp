// Do the kernels give the same bytes and the same values on another processor? `make aarch64` runs this program natively
// and under qemu, and compares what both print. Every line has the checksum of what was encoded from fixed pseudo-random
// data; a value that does not come back ends the program. The Python tests compare the native kernels with the oracle.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "base/checksum.hpp"
#include "binary/fsst.hpp"
#include "binary/lz4_block.hpp"
#include "binary/lz4_search.hpp"
#include "numeric/run.hpp"
#include "sketch/hll.hpp"
#include "text/tokenize.hpp"

using namespace amudai;

namespace {

struct Random {
    std::uint64_t state;
    std::uint64_t next() {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return state;
    }
};

void require(bool holds, const char* what) {
    if (holds) return;
    std::printf("%s: other values came back\n", what);
    std::exit(1);
}

void show(const std::string& what, Bytes bytes) {
    std::printf("%s %zu %08x\n", what.c_str(), bytes.size(), checksum(bytes));
}

template <class T>
T made(Random& random, int shape, std::size_t i) {
    const auto bits = random.next();
    if constexpr (std::floating_point<T>) {
        if (shape == 0) return static_cast<T>(static_cast<std::int64_t>(bits % 2'000'001) - 1'000'000) / 100;
        if (shape == 1) return static_cast<T>(i / 37);
        if (bits % 97 == 0) return bits % 2 ? std::numeric_limits<T>::quiet_NaN() : -T{0};
        return static_cast<T>(bits >> 11) * static_cast<T>(0x1p-53) - static_cast<T>(0.5);
    } else {
        if (shape == 0) return static_cast<T>(bits % 100);
        if (shape == 1) return static_cast<T>(i / 37 * 5);
        return static_cast<T>(bits);
    }
}

template <class T>
void round_trip(const std::string& type, const std::string& name, std::vector<std::uint8_t> program) {
    if (!numeric::Encodings::accepts<T>(program[0] < 0x80 ? program[0] : 0x8000 | (program[0] & 0x7f))) return;
    const auto steps = numeric::parse_program<T>(program);
    for (int shape = 0; shape < 3; ++shape) {
        for (const std::size_t count : {1, 2, 63, 1024, 1025, 5000}) {
            Random random{0x9e3779b97f4a7c15 + count + static_cast<std::uint64_t>(shape)};
            std::vector<T> values(count);
            for (std::size_t i = 0; i < count; ++i) values[i] = made<T>(random, shape, i);
            Arena arena;
            numeric::Leaves leaves;
            numeric::EncodeContext encoding{arena, leaves};
            arena.reset();
            Sink sink;
            numeric::encode_section<T>(values, numeric::Plan(steps.data()), sink, encoding);
            const auto section = sink.bytes();
            const Inflated inflated;
            for (const std::size_t first : {std::size_t{0}, count / 3, count - 1}) {
                arena.reset(section);
                Context context{inflated, arena, section.data()};
                std::vector<T> out(count - first + 64);
                numeric::decode_section<T>(section, count, first, std::span(out).first(count - first), context);
                require(std::memcmp(out.data(), values.data() + first, (count - first) * sizeof(T)) == 0, name.c_str());
            }
            show(type + " " + name + " " + std::to_string(shape) + " " + std::to_string(count), section);
        }
    }
}

template <class T>
void integers(const std::string& type) {
    round_trip<T>(type, "plain", {1});
    round_trip<T>(type, "fl_bit_pack", {2});
    round_trip<T>(type, "frame_of_reference", {3, 2});
    round_trip<T>(type, "ffor", {4});
    round_trip<T>(type, "delta", {5, 4});
    round_trip<T>(type, "run_length", {6, 4, 4});
    round_trip<T>(type, "block_dictionary", {14, 4, 0});
    round_trip<T>(type, "patched", {0x81});
}

template <class T>
void floats(const std::string& type) {
    round_trip<T>(type, "plain", {1});
    round_trip<T>(type, "alp", {12, numeric::searched, numeric::searched, 1, 4});
    round_trip<T>(type, "alprd", {13, 4, 4});
    round_trip<T>(type, "run_length", {6, 0, 4});
    round_trip<T>(type, "block_dictionary", {14, 4, 0});
}

std::vector<std::uint8_t> made_text(std::size_t size, bool wide) {
    static const std::vector<std::string> words{"connection", "closed", "10.0.0.17", "by", "gateway-v2", "after", " ", "ms,"};
    Random random{size + 1};
    std::vector<std::uint8_t> out;
    while (out.size() < size) {
        const auto bits = random.next();
        if (wide && bits % 9 == 0) {
            out.push_back(0xc3);
            out.push_back(static_cast<std::uint8_t>(0x80 | (bits >> 8 & 0x3f)));
            continue;
        }
        for (const auto each : words[bits % words.size()]) out.push_back(static_cast<std::uint8_t>(each));
        out.push_back(bits % 31 ? ' ' : '\n');
    }
    out.resize(size);
    if (out.back() == 0xc3) out.back() = ' ';  // a letter of two bytes was cut
    return out;
}

void texts() {
    for (const std::size_t size : {1, 13, 100, 4096, 70'000}) {
        for (const bool wide : {false, true}) {
            const auto source = made_text(size, wide);
            const auto label = std::to_string(size) + (wide ? " with letters of two bytes" : "");
            std::vector<std::uint8_t> packed(2 * size + 64), out(size + 256);
            packed.resize(lz4_block::compress<true>(source, packed.data()));
            lz4_block::decode(packed, std::span(out).first(size), size, true);
            require(std::memcmp(out.data(), source.data(), size) == 0, "lz4");
            show("lz4 " + label, packed);
            const auto encoded = binary::fsst::compress(source);
            const binary::fsst::Layout layout{encoded.symbols, encoded.lengths, encoded.codes, {}};
            const binary::fsst::Table table(layout);
            binary::fsst::Stream stream(table, layout.codes);
            std::fill(out.begin(), out.end(), std::uint8_t{0});
            binary::fsst::read(stream, 0, std::span(out).first(size), out.size());
            require(std::memcmp(out.data(), source.data(), size) == 0, "fsst");
            show("fsst " + label, encoded.codes);
            std::vector<std::uint8_t> found;
            const auto add = [&](Bytes word) {
                found.insert(found.end(), word.begin(), word.end());
                found.push_back(0);
            };
            text::tokenize(text::Tokenizer::log, source, false, add, add);
            show("words " + label, found);
        }
    }
}

}  // namespace

int main() {
    integers<std::int8_t>("i8"), integers<std::uint16_t>("u16"), integers<std::int32_t>("i32");
    integers<std::uint32_t>("u32"), integers<std::int64_t>("i64"), integers<std::uint64_t>("u64");
    floats<float>("f32"), floats<double>("f64");
    texts();
}
