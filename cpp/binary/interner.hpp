// Distinct values, numbered in the order in which they first appear.
#pragma once
#include <array>
#include <random>
#include <vector>

#include "base/checksum.hpp"

namespace amudai::binary {

class Interner {
public:
    static constexpr std::uint32_t max_size = std::numeric_limits<std::uint32_t>::max() - 1;

    // The key of a value. Up to 16 bytes, it is the value itself, padded with zeros. For a longer value, it is the
    // value's hash and its last eight bytes.
    struct Key {
        std::uint64_t low = 0, high = 0;
        std::uint32_t length = 0;

        bool operator==(const Key&) const = default;
    };

    std::size_t size() const { return starts_.size() - 1; }
    std::span<const std::uint64_t> starts() const { return starts_; }
    Bytes bytes() const { return bytes_; }
    Bytes operator[](std::size_t number) const {
        return {bytes_.data() + starts_[number], static_cast<std::size_t>(starts_[number + 1] - starts_[number])};
    }

    // May read beyond the value, up to `end`.
    Key key(Bytes value, const std::uint8_t* end) const {
        const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(value.size(), none));
        if (value.size() > 16) [[unlikely]] {
            return {XXH3_64bits_withSeed(value.data(), value.size(), seeds_[0]), load<std::uint64_t>(value, value.size() - 8), length};
        }
        if (end - value.data() >= 16) [[likely]] {
            const auto* const masks = kept_bytes.data() + 16 - length;
            return {load<std::uint64_t>(value.data()) & load<std::uint64_t>(masks),
                    load<std::uint64_t>(value.data() + 8) & load<std::uint64_t>(masks + 8), length};
        }
        std::uint64_t words[2] = {};
        if (length) std::memcpy(words, value.data(), length);
        return {words[0], words[1], length};
    }

    // The number of `value`. It equals the former size() if the value is new.
    std::uint32_t add(Bytes value, const Key& key) {
        for (auto at = place(key);; at = (at + 1) & mask_) {
            auto& slot = slots_[at];
            if (slot.number == none) {
                slot = {key, append(value)};
                if (2 * size() > slots_.size()) grow();
                return static_cast<std::uint32_t>(size() - 1);
            }
            if (slot.key == key && (key.length <= 16 || same(slot.number, value))) return slot.number;
        }
    }

    // Adds those of slots [first, first + count), at most 64, whose bit in `valid` is set. Calls value(slot, number)
    // for them and null(slot) for the other slots, in order.
    template <class Values, class Value, class Null>
    void add(const Values& values, std::size_t first, std::size_t count, std::uint64_t valid, Value&& value, Null&& null) {
        // If the table does not fit into the caches, compute all keys first and prefetch their places: the lookups then
        // overlap.
        std::array<Key, 64> keys;
        const bool ahead = slots_.size() > 16384;
        for (std::size_t i = 0; ahead && i < count; ++i) {
            keys[i] = key(values[first + i], values.end());
            __builtin_prefetch(&slots_[place(keys[i])]);
        }
        Bytes latest;  // the latest long value: a run of the same is hashed once
        std::uint32_t number = none;
        for (std::size_t i = 0; i < count; ++i) {
            if (!(valid >> i & 1)) {
                null(first + i);
                continue;
            }
            const auto bytes = values[first + i];
            const bool is_long = bytes.size() > 16;
            if (!is_long || number == none || !std::ranges::equal(bytes, latest)) {
                number = add(bytes, ahead ? keys[i] : key(bytes, values.end()));
                latest = is_long ? bytes : Bytes{};
            }
            value(first + i, number);
        }
    }

    // Appends an entry that no lookup finds, such as the placeholder of a null.
    std::uint32_t append(Bytes value) {
        if (size() > max_size) throw std::length_error("dictionary: more than 2^32 - 1 entries");
        bytes_.insert(bytes_.end(), value.begin(), value.end());
        starts_.push_back(bytes_.size());
        return static_cast<std::uint32_t>(size() - 1);
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    // Sixteen 0xff bytes, then sixteen zeros. The 16 bytes from index 16 - n on are a mask that keeps the first n
    // bytes.
    static constexpr std::array<std::uint8_t, 32> kept_bytes = [] {
        std::array<std::uint8_t, 32> bytes{};
        std::fill_n(bytes.begin(), 16, std::uint8_t{0xff});
        return bytes;
    }();

    struct Slot {
        Key key;
        std::uint32_t number = none;
    };

    // The seeds differ from one process to the next, so nobody can prepare values that collide.
    std::size_t place(const Key& key) const {
        const auto high = key.high ^ (key.length * 0x9e3779b97f4a7c15) ^ seeds_[1];
        const auto product = static_cast<unsigned __int128>(key.low ^ seeds_[0]) * high;
        return (static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64)) & mask_;
    }
    bool same(std::uint32_t number, Bytes value) const {
        const auto known = (*this)[number];
        return known.size() == value.size() && std::memcmp(known.data(), value.data(), value.size()) == 0;
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (const auto& slot : old) {
            if (slot.number == none) continue;
            auto at = place(slot.key);
            while (slots_[at].number != none) at = (at + 1) & mask_;
            slots_[at] = slot;
        }
    }
    static const std::array<std::uint64_t, 2>& seeds() {
        static const std::array<std::uint64_t, 2> drawn = [] {
            std::random_device source;
            const auto draw = [&] { return std::uint64_t{source()} << 32 | source(); };
            return std::array{draw(), draw()};
        }();
        return drawn;
    }

    std::vector<Slot> slots_ = std::vector<Slot>(32);  // small, since a shard may have thousands of dictionaries
    std::size_t mask_ = 31;
    std::vector<std::uint64_t> starts_{0};
    std::vector<std::uint8_t> bytes_;
    std::array<std::uint64_t, 2> seeds_ = seeds();
};

}  // namespace amudai::binary
