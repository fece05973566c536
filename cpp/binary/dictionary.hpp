// The dictionary of a stripe while it grows: values become codes. Bytes: docs/format/buffers.md.
#pragma once
#include <optional>

#include "binary/interner.hpp"
#include "binary/values.hpp"

namespace amudai::binary {

// Codes are given in the order of first appearance. The first null takes the next code; its entry is empty, or zeros.
class Dictionary {
public:
    explicit Dictionary(std::optional<std::size_t> fixed_size) : fixed_size_(fixed_size) {}

    std::optional<std::size_t> fixed_size() const { return fixed_size_; }
    std::size_t size() const { return entries_.size(); }
    const Interner& entries() const { return entries_; }
    std::optional<std::uint32_t> null_code() const { return null_code_; }
    // How often each code was given.
    std::span<const std::uint64_t> counts() const { return counts_; }

    template <class Values>
    void encode(const Values& values, const Validity& validity, std::uint32_t* codes) {
        const auto note = [&](std::uint32_t code) {
            if (code == counts_.size()) counts_.push_back(0);
            ++counts_[code];
            return code;
        };
        for (std::size_t first = 0; first < values.count(); first += 64) {
            const auto size = std::min<std::size_t>(64, values.count() - first);
            entries_.add(
                values, first, size, validity.word(first, size),
                [&](std::size_t slot, std::uint32_t code) { codes[slot] = note(code); },
                [&](std::size_t slot) {
                    if (!null_code_) null_code_ = entries_.append(std::vector<std::uint8_t>(fixed_size_.value_or(0)));
                    codes[slot] = note(*null_code_);
                });
        }
    }

    // The codes of all entries but null's, in the order of their bytes. `out` has room for them.
    void sort(std::span<std::uint32_t> out) const {
        // The first eight bytes, most significant first, decide most comparisons.
        struct Sorted {
            std::uint64_t prefix;
            std::uint32_t code;
        };
        std::vector<Sorted> sorted;
        sorted.reserve(size());
        for (std::size_t code = 0; code < size(); ++code) {
            if (code == null_code_) continue;
            const auto value = entries_[code];
            std::uint64_t prefix = 0;
            if (!value.empty()) std::memcpy(&prefix, value.data(), std::min<std::size_t>(8, value.size()));
            sorted.push_back({__builtin_bswap64(prefix), static_cast<std::uint32_t>(code)});
        }
        std::ranges::sort(sorted, [&](const Sorted& a, const Sorted& b) {
            if (a.prefix != b.prefix) return a.prefix < b.prefix;
            const auto left = entries_[a.code], right = entries_[b.code];
            return std::ranges::lexicographical_compare(left, right);
        });
        std::ranges::transform(sorted, out.begin(), &Sorted::code);
    }

private:
    std::optional<std::size_t> fixed_size_;
    Interner entries_;
    std::optional<std::uint32_t> null_code_;
    std::vector<std::uint64_t> counts_;
};

}  // namespace amudai::binary
