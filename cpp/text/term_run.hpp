// Collects terms and the rows that hold them, and writes them as a run. A run is a sorted stream that is never stored
// in a shard.
//
// A run has an entry for each term, in the order of the index. An entry begins with the term's length (u8) and bytes.
// Then come varints: the number of rows, and the number of ranges that these rows form. If there is only one row, that
// row follows. Otherwise the size of the distances in bytes follows, then the first row and the distance from each row
// to the next.
#pragma once
#include <bit>
#include <vector>

#include "base/sink.hpp"
#include "binary/values.hpp"
#include "text/collate.hpp"
#include "text/term_hash.hpp"
#include "text/tokenize.hpp"
#include "text/varint.hpp"

namespace amudai::text {

class TermRun {
public:
    explicit TermRun(Tokenizer tokenizer) : tokenizer_(tokenizer) {}

    std::size_t terms() const { return terms_; }
    // The working memory in use, in bytes.
    std::size_t scratch() const {
        return 4 * (memory_.size() + tokens_.size()) + 8 * slots_.size() + 8 * spans_.size();
    }

    // Adds the values from slot `first` on, until all are added or the scratch exceeds `limit`. Adds at least one
    // value. Returns the slot after the last one that was added. `row_of(slot)` must never decrease, neither within a
    // call nor from one call to the next.
    template <class Values, class RowOf>
    std::size_t add(const Values& values, Validity validity, std::size_t first, std::size_t limit, RowOf&& row_of) {
        auto slot = first;
        bool ascii = false;
        while (slot < values.count()) {
            // Testing many short values for ASCII at once is faster than testing them one by one.
            if ((slot - first) % 64 == 0) {
                const auto last = values[std::min(slot + 63, values.count() - 1)];
                ascii = utf8::is_ascii({values[slot].data(), last.data() + last.size()});
            }
            if (validity.at_slot(slot)) {
                const auto row = static_cast<std::uint32_t>(row_of(slot));
                const auto take = [&](Bytes term) { post(find(term, values.end()), row); };
                tokenize(tokenizer_, values[slot], ascii, take, take);
            }
            ++slot;
            if (scratch() > limit) break;
        }
        return slot;
    }

    // Like `add`, for dictionary-coded values: slot i holds entry codes[i]. Each entry is tokenized once.
    template <class Values, class Code, class RowOf>
    std::size_t add_coded(const Values& entries, std::span<const Code> codes, Validity validity, std::size_t first,
                          std::size_t limit, RowOf&& row_of) {
        spans_.assign(entries.count(), Tokens{});
        tokens_.clear();
        auto slot = first;
        while (slot < codes.size()) {
            if (validity.at_slot(slot)) {
                const auto code = static_cast<std::size_t>(codes[slot]);
                if (code >= entries.count()) throw std::invalid_argument("codes: expected less than the number of entries");
                auto& span = spans_[code];
                if (span.begin == unknown) {
                    span.begin = static_cast<std::uint32_t>(tokens_.size());
                    const auto take = [&](Bytes term) { tokens_.push_back(find(term, entries.end())); };
                    tokenize(tokenizer_, entries[code], false, take, take);
                    span.end = static_cast<std::uint32_t>(tokens_.size());
                }
                const auto row = static_cast<std::uint32_t>(row_of(slot));
                for (auto at = span.begin; at < span.end; ++at) post(tokens_[at], row);
            }
            ++slot;
            if (scratch() > limit) break;
        }
        spans_.clear();
        tokens_.clear();
        return slot;
    }

    // Writes the run to `out` and forgets all terms.
    void finish(Sink& out) {
        out.reserve(out.size() + scratch() / 2 + 64);
        for (const auto& each : sorted()) write(each.record, out);
        // The next run will probably need as much memory, so keep it. But shrink the hash table if it takes more than a
        // quarter of the scratch.
        if (4 * 8 * slots_.size() > scratch()) {
            slot_bits_ = least_slots;
            slots_ = std::vector<std::uint64_t>(std::size_t{1} << least_slots);
        } else {
            std::ranges::fill(slots_, 0);
        }
        memory_.resize(1);
        terms_ = 0;
    }

private:
    // All memory is one array of 32-bit words, and everything is addressed by its index there. A record holds the first
    // row, the index of its list or 0, then the length and the bytes of the term. A list is a `List`. A chunk holds the
    // index of the next chunk, then bytes of distances.
    enum : std::size_t { first_row, list_of, term_at };
    struct List {
        std::uint32_t last_row, rows, ranges, bytes;
        std::uint32_t first_chunk, last_chunk;
        std::uint32_t next_byte, room;  // byte offset of the next byte in `memory_`; bytes left in the chunk
        std::uint32_t chunks;
    };
    static constexpr std::uint32_t unknown = ~std::uint32_t{0};
    static constexpr std::uint32_t no_row = ~std::uint32_t{0};
    static constexpr unsigned least_slots = 12;  // log2 of the number of slots

    struct Tokens {
        std::uint32_t begin = unknown, end = 0;
    };
    struct Keyed {
        std::uint64_t key;
        std::uint32_t record;
    };

    static constexpr std::uint32_t chunk_bytes(std::uint32_t number) { return 12u << std::min(number, 8u); }

    Bytes term(std::size_t record) const {
        const auto* const at = reinterpret_cast<const std::uint8_t*>(memory_.data() + record + term_at);
        return {at + 1, *at};
    }
    // The reference is valid until `memory_` grows.
    List& list(std::size_t at) { return *reinterpret_cast<List*>(memory_.data() + at); }
    std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(memory_.data()); }

    std::uint32_t grow(std::size_t words) {
        const auto at = memory_.size();
        if (at + words > std::numeric_limits<std::uint32_t>::max() / 4) throw std::length_error("run: more than 4 GiB");
        memory_.resize(at + words);
        return static_cast<std::uint32_t>(at);
    }

    // Finds the record of a term, or creates it. A slot holds the upper half of the term's hash and the index of its
    // record. The highest bits of the hash are also the slot's position. No record has index 0, so a slot of 0 is
    // empty.
    std::uint32_t find(Bytes bytes, const std::uint8_t* end) {
        const auto tag = hash_(bytes, end) >> 32;
        const auto mask = slots_.size() - 1;
        for (auto at = tag >> (32 - slot_bits_);; at = (at + 1) & mask) {
            const auto slot = slots_[at];
            if (slot == 0) break;
            if (slot >> 32 != tag) continue;
            // Different terms can have equal hashes.
            const auto record = static_cast<std::uint32_t>(slot);
            const auto known = term(record);
            if (known.size() == bytes.size() && std::memcmp(known.data(), bytes.data(), bytes.size()) == 0) return record;
        }
        const auto record = grow(term_at + (1 + bytes.size() + 3) / 4);
        memory_[record + first_row] = no_row;
        memory_[record + list_of] = 0;
        auto* const to = reinterpret_cast<std::uint8_t*>(memory_.data() + record + term_at);
        *to = static_cast<std::uint8_t>(bytes.size());
        std::memcpy(to + 1, bytes.data(), bytes.size());
        if (10 * ++terms_ > 7 * slots_.size()) {
            std::vector<std::uint64_t> old(2 * slots_.size());
            old.swap(slots_);
            ++slot_bits_;
            for (const auto slot : old) {
                if (slot) place(slot);
            }
        }
        place(tag << 32 | record);
        return record;
    }

    void place(std::uint64_t slot) {
        auto at = slot >> 32 >> (32 - slot_bits_);
        while (slots_[at]) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = slot;
    }

    void post(std::size_t record, std::uint32_t row) {
        auto at = memory_[record + list_of];
        if (at == 0) {
            const auto first = memory_[record + first_row];
            if (first == row) return;
            if (first == no_row) {
                memory_[record + first_row] = row;
                return;
            }
            at = grow(sizeof(List) / 4);
            memory_[record + list_of] = at;
            list(at) = {.last_row = first, .rows = 1, .ranges = 1, .bytes = 0, .first_chunk = 0, .last_chunk = 0,
                        .next_byte = 0, .room = 0, .chunks = 0};
        } else {
            // The term occurs again in the same row.
            if (list(at).last_row == row) return;
        }
        auto& known = list(at);
        const auto distance = row - known.last_row;
        known.last_row = row;
        ++known.rows;
        known.ranges += distance != 1;
        if (known.room >= max_varint) [[likely]] {
            auto* const to = bytes() + known.next_byte;
            const auto size = static_cast<std::uint32_t>(put_varint(to, distance) - to);
            known.next_byte += size, known.room -= size, known.bytes += size;
            return;
        }
        std::uint8_t encoded[max_varint];
        const auto* const end = put_varint(encoded, distance);
        for (const auto* from = encoded; from < end; ++from) put(at, *from);
    }

    void put(std::uint32_t at, std::uint8_t byte) {
        if (list(at).room == 0) {
            const auto size = chunk_bytes(list(at).chunks);
            const auto chunk = grow(1 + size / 4);
            memory_[chunk] = 0;
            auto& known = list(at);
            if (known.chunks++ == 0) known.first_chunk = chunk;
            else memory_[known.last_chunk] = chunk;
            known.last_chunk = chunk;
            known.next_byte = 4 * (chunk + 1);
            known.room = size;
        }
        auto& known = list(at);
        bytes()[known.next_byte++] = byte;
        --known.room, ++known.bytes;
    }

    // The records in the order of their terms. They are distributed to buckets by their first two folded bytes. Each
    // bucket is sorted by the first eight folded bytes, and ties by the whole term.
    std::vector<Keyed> sorted() const {
        std::vector<Keyed> found;
        found.reserve(terms_);
        std::vector<std::uint32_t> starts(65537);
        for (const auto slot : slots_) {
            if (!slot) continue;
            const auto record = static_cast<std::uint32_t>(slot);
            found.push_back({fold_key(term(record)), record});
            ++starts[(found.back().key >> 48) + 1];
        }
        for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
        std::vector<Keyed> records(terms_);
        for (const auto& each : found) records[starts[each.key >> 48]++] = each;
        const auto before = [&](const Keyed& a, const Keyed& b) {
            return a.key != b.key ? a.key < b.key : compare_terms(term(a.record), term(b.record)) < 0;
        };
        // Each start has moved to the end of its bucket by now.
        std::size_t begin = 0;
        for (std::size_t i = 0; i < starts.size() - 1; ++i) {
            if (starts[i] - begin > 1) {
                std::sort(records.begin() + static_cast<std::ptrdiff_t>(begin), records.begin() + starts[i], before);
            }
            begin = starts[i];
        }
        return records;
    }

    void write(std::size_t record, Sink& out) {
        const auto name = term(record);
        const auto at = memory_[record + list_of];
        auto* to = out.extend(1 + name.size() + 3 * max_varint + max_varint);
        const auto* const from = to;
        const auto reserved = out.size();
        *to++ = static_cast<std::uint8_t>(name.size());
        std::memcpy(to, name.data(), name.size());
        to += name.size();
        if (at == 0) {
            to = put_varint(put_varint(put_varint(to, 1u), 1u), memory_[record + first_row]);
        } else {
            const auto& known = list(at);
            to = put_varint(put_varint(put_varint(to, known.rows), known.ranges), known.bytes);
            to = put_varint(to, memory_[record + first_row]);
        }
        out.cut(reserved - (1 + name.size() + 4 * max_varint) + static_cast<std::size_t>(to - from));
        if (at == 0) return;
        const auto& known = list(at);
        auto left = known.bytes;
        auto chunk = known.first_chunk;
        for (std::uint32_t number = 0; left; ++number) {
            const auto size = std::min(left, chunk_bytes(number));
            out.append(Bytes{bytes() + 4 * (std::size_t{chunk} + 1), size});
            left -= size;
            chunk = memory_[chunk];
        }
    }

    Tokenizer tokenizer_;
    TermHash hash_;
    unsigned slot_bits_ = least_slots;
    std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(std::size_t{1} << least_slots);
    std::vector<std::uint32_t> memory_ = std::vector<std::uint32_t>(1);  // word 0 is unused: no record has index 0
    std::vector<std::uint32_t> tokens_;
    std::vector<Tokens> spans_;
    std::size_t terms_ = 0;
};

}  // namespace amudai::text
