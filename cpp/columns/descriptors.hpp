// Descriptors of columns that are stored in the simplest way, read from their protobuf messages without building them.
// A message that is not as expected in any way is left out, and the caller parses it: that succeeds, or says what is
// wrong. Messages: proto/amudai.proto.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "base/block.hpp"
#include "binary/utf8.hpp"

namespace amudai::columns {

// Thrown for a message that this reader leaves to others.
struct NotPlain {};

struct Message;

// How a field of a message is stored.
enum class Form : std::uint8_t { flag, number, word32, word64, bytes, text, message };

struct Field {
    std::uint32_t number;
    Form form;
    const Message* message = nullptr;
    bool repeated = false;
};

// The fields that a message may have. Others are those of a later version.
struct Message {
    std::vector<Field> fields;
};

// A value of a field: the number, or the bytes.
struct Found {
    std::uint64_t number = 0;
    Bytes bytes;
};

class MessageReader {
public:
    explicit MessageReader(Bytes payload) : at_(payload.data()), end_(payload.data() + payload.size()) {}

    bool done() const { return at_ == end_; }

    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (at_ == end_) throw NotPlain{};
            const std::uint64_t byte = *at_++;
            if (shift == 63 && byte > 1) throw NotPlain{};
            value |= (byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        throw NotPlain{};
    }
    std::uint64_t word(std::size_t size) {
        const auto bytes = take(size);
        return size == 4 ? load<std::uint32_t>(bytes.data()) : load<std::uint64_t>(bytes.data());
    }
    Bytes counted() { return take(varint()); }

private:
    Bytes take(std::uint64_t size) {
        if (size > static_cast<std::uint64_t>(end_ - at_)) throw NotPlain{};
        const auto* const from = at_;
        at_ += size;
        return {from, static_cast<std::size_t>(size)};
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

// Calls found(field, value) for each field of a message. Submessages are not read: that is left to `found`.
template <class OnField>
void read_message(Bytes payload, const Message& message, OnField&& found) {
    MessageReader reader(payload);
    std::uint64_t seen = 0;
    while (!reader.done()) {
        const auto tag = reader.varint();
        const auto at = std::ranges::find(message.fields, tag >> 3, &Field::number);
        if (at == message.fields.end()) throw NotPlain{};
        const auto bit = std::uint64_t{1} << (at - message.fields.begin());
        // Parsers merge what occurs twice.
        if ((seen & bit) && !at->repeated) throw NotPlain{};
        seen |= bit;
        constexpr unsigned varint = 0, word64 = 1, counted = 2, word32 = 5;
        const auto wire = static_cast<unsigned>(tag & 7);
        const auto require = [&](unsigned wanted) {
            if (wire != wanted) throw NotPlain{};
        };
        Found value;
        switch (at->form) {
            case Form::flag:
                require(varint);
                value.number = reader.varint();
                if (value.number > 1) throw NotPlain{};
                break;
            case Form::number: require(varint), value.number = reader.varint(); break;
            case Form::word32: require(word32), value.number = reader.word(4); break;
            case Form::word64: require(word64), value.number = reader.word(8); break;
            case Form::text:
                require(counted), value.bytes = reader.counted();
                if (!utf8::is_valid(value.bytes)) throw NotPlain{};
                break;
            case Form::bytes:
            case Form::message: require(counted), value.bytes = reader.counted(); break;
        }
        found(*at, value);
    }
}

// Checks a message of which no value is needed, and all messages below it. No message of the table contains itself.
inline void check_message(Bytes payload, const Message& message) {
    read_message(payload, message, [](const Field& field, const Found& value) {
        if (field.form == Form::message) check_message(value.bytes, *field.message);
    });
}

// ---- the messages ----

inline const Message empty_message{{}};
inline const Message ticks{{{1, Form::word64}}};
inline const Message range{{{1, Form::word64}, {2, Form::word64}}};
inline const Message reference{{{1, Form::text}, {2, Form::message, &range}}};
// Lists, structs and references are left out.
inline const Message any_value{{{1, Form::message, &empty_message}, {2, Form::flag}, {3, Form::number}, {4, Form::number},
                                {5, Form::word64}, {6, Form::message, &ticks}, {7, Form::message, &ticks},
                                {8, Form::text}, {9, Form::bytes}, {10, Form::bytes}, {30, Form::text}}};
inline const Message property{{{1, Form::text}, {2, Form::message, &any_value}}};
inline const Message bounds{{{1, Form::message, &any_value}, {2, Form::flag}, {3, Form::message, &any_value}, {4, Form::flag}}};
inline const Message sketch{{{1, Form::text}, {2, Form::word64}, {3, Form::word32}, {4, Form::bytes}}};
inline const Message cardinality{{{1, Form::word64}, {2, Form::flag}, {3, Form::message, &sketch}}};
inline const Message bloom{{{1, Form::word64}, {2, Form::word64}, {3, Form::word64}, {4, Form::text}, {5, Form::word64}, {6, Form::bytes}}};
inline const Message filters{{{1, Form::message, &bloom}}};
inline const Message counts{{{1, Form::word64}, {2, Form::word64}, {3, Form::word64}, {4, Form::word64}}};
inline const Message lengths{{{1, Form::word64}, {2, Form::word64}, {3, Form::word64}}};
inline const Message two_counts{{{1, Form::word64}, {2, Form::word64}}};
inline const Message floats{{{1, Form::word64}, {2, Form::word64}, {3, Form::word64}, {4, Form::word64}, {5, Form::word64}, {6, Form::word64}}};
// A constant, a dictionary and indexes are left out.
inline const Message statistics{{{1, Form::word64}, {2, Form::word64}, {6, Form::message, &bounds},
                                 {7, Form::message, &cardinality}, {8, Form::message, &filters},
                                 {10, Form::message, &property, true}, {20, Form::message, &counts},
                                 {21, Form::message, &lengths}, {22, Form::message, &two_counts},
                                 {23, Form::message, &counts}, {24, Form::message, &floats}, {25, Form::message, &lengths},
                                 {40, Form::message, &property, true}, {41, Form::word64}}};
inline const Message buffer{{{1, Form::number}, {2, Form::message, &reference}, {3, Form::message, &reference},
                             {4, Form::word64}, {5, Form::flag}, {6, Form::flag}, {7, Form::flag}, {20, Form::word32},
                             {21, Form::word32}, {1001, Form::word64}, {1002, Form::word64}}};
inline const Message native{{{1, Form::message, &buffer, true}, {10, Form::flag}}};
inline const Message encoding{{{1, Form::message, &native}}};
inline const Message descriptor{{{1, Form::message, &statistics}, {2, Form::message, &encoding, true}}};

// ---- what they say ----

struct Reference {
    Bytes url;
    std::uint64_t start = 0, end = 0;
};

inline Reference read_reference(Bytes payload) {
    Reference found;
    read_message(payload, reference, [&](const Field& field, const Found& value) {
        if (field.number == 1) {
            found.url = value.bytes;
            return;
        }
        read_message(value.bytes, range, [&](const Field& end, const Found& number) {
            (end.number == 1 ? found.start : found.end) = number.number;
        });
    });
    if (found.end < found.start) throw NotPlain{};
    return found;
}

inline constexpr std::uint64_t unknown_blocks = std::numeric_limits<std::uint64_t>::max();

// Where the blocks of a column are, and their map. The numbers are, in this order: the start and the end of the buffer,
// those of its block map, the number of blocks, 1 if blocks have checksums, 1 if an identity is behind the buffer, and the
// two halves of this identity.
struct PlainBuffer {
    Bytes url;
    std::array<std::uint64_t, 9> numbers{};
};

struct ReadBuffer {
    std::uint64_t kind = 0;
    Reference blocks, map;
    std::uint64_t count = unknown_blocks;
    bool has_checksums = false, has_identity = false, is_packed = false;
    std::uint64_t identity[2] = {};
};

inline ReadBuffer read_buffer(Bytes payload) {
    ReadBuffer found;
    read_message(payload, buffer, [&](const Field& field, const Found& value) {
        switch (field.number) {
            case 1: found.kind = value.number; break;
            case 2: found.blocks = read_reference(value.bytes); break;
            case 3: found.map = read_reference(value.bytes); break;
            case 4: found.count = value.number; break;
            case 5: found.has_checksums = value.number != 0; break;
            case 21: found.is_packed = true; break;
            case 1001: found.identity[0] = value.number, found.has_identity = true; break;
            case 1002: found.identity[1] = value.number; break;
            default: break;
        }
    });
    return found;
}

inline void check_statistics(Bytes payload, std::uint64_t positions) {
    std::uint64_t count = 0, nulls = 0;
    read_message(payload, statistics, [&](const Field& field, const Found& value) {
        if (field.number == 1) count = value.number;
        if (field.number == 2) nulls = value.number;
        if (field.form == Form::message) check_message(value.bytes, *field.message);
    });
    if (count != positions || nulls >= positions) throw NotPlain{};
}

// The only buffer with values of a column of `positions` positions, given the payload of its descriptor. Nothing if the
// column has other buffers with values, a constant or a dictionary, an index of its own, or several encodings.
inline std::optional<PlainBuffer> plain_buffer(Bytes payload, std::uint64_t positions) {
    constexpr std::uint64_t data = 0, range_index = 5;
    try {
        std::optional<ReadBuffer> values;
        bool has_statistics = false, has_encoding = false;
        const auto on_buffer = [&](const Field& field, const Found& value) {
            if (field.form != Form::message) {
                if (value.number) throw NotPlain{};  // a packed group
                return;
            }
            auto read = read_buffer(value.bytes);
            // A range index is not read for values.
            if (read.kind == range_index) return;
            if (read.kind != data || values || read.is_packed) throw NotPlain{};
            values = read;
        };
        read_message(payload, descriptor, [&](const Field& field, const Found& value) {
            if (field.number == 1) {
                has_statistics = true;
                return check_statistics(value.bytes, positions);
            }
            if (has_encoding) throw NotPlain{};
            read_message(value.bytes, encoding, [&](const Field&, const Found& of) {
                has_encoding = true;
                read_message(of.bytes, native, on_buffer);
            });
            if (!has_encoding) throw NotPlain{};
        });
        if (!has_statistics || !values) return {};
        const auto& [kind, blocks, map, count, has_checksums, has_identity, is_packed, identity] = *values;
        if (!(blocks.start <= map.start && map.start <= map.end && map.end <= blocks.end)) return {};
        return PlainBuffer{blocks.url, {blocks.start, blocks.end, map.start, map.end, count, has_checksums, has_identity,
                                        identity[0], identity[1]}};
    } catch (const NotPlain&) {
        return {};
    }
}

// The payload of a frame; nothing if the frame is not sound.
inline std::optional<Bytes> unframe(Bytes bytes, std::uint64_t start, std::uint64_t end, bool verify) {
    constexpr std::uint64_t word = 4;
    if (start > end || end > bytes.size() || end - start < 2 * word) return {};
    const std::uint64_t size = load<std::uint32_t>(bytes, start);
    if (size + 2 * word > end - start) return {};
    const auto payload = bytes.subspan(start + word, size);
    if (verify && load<std::uint32_t>(bytes, start + word + size) != checksum(payload)) return {};
    return payload;
}

}  // namespace amudai::columns
