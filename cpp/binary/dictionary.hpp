// The dictionary of a stripe while it is written: it turns values into codes. Bytes: docs/format/buffers.md.
#pragma once
#include <optional>

#include "binary/interner.hpp"
#include "binary/values.hpp"

namespace amudai::binary {

// Codes are assigned in the order of first appearance. The first null gets the next code; its entry is empty or, for
// values of a fixed size, all zeros.
class Dictionary {
public:
    explicit Dictionary(std::optional<std::size_t> fixed_size) : fixed_size_(fixed_size) {}

    std::optional<std::size_t> fixed_size() const { return fixed_size_; }
    std::size_t size() const { return entries_.size(); }
    const Interner& entries() const { return entries_; }
    std::optional<std::uint32_t> null_code() const { return null_code_; }
    // How often each code was assigned to a slot.
    std::span<const std::uint64_t> counts() const { return counts_; }

    template <class Values>
    void encode(const Values& values, const Validity& validity, std::uint32_t* codes) {
        for (std::size_t first = 0; first < values.count(); first += 64) {
            const auto size = std::min<std::size_t>(64, values.count() - first);
            entries_.add(
                values, first, size, validity.word(first, size),
                [&](std::size_t slot, std::uint32_t code) { codes[slot] = counted(code); },
                [&](std::size_t slot) { codes[slot] = counted_null(); });
        }
    }

    // Like `encode`, for slots that hold codes of another dictionary, whose entries are `values`. Each entry is looked
    // up once, however many slots have it. The codes of null slots may be anything.
    template <class Values>
    void recode(const Values& values, std::span<const std::uint32_t> others, const Validity& validity, std::uint32_t* codes) {
        constexpr auto unknown = std::numeric_limits<std::uint32_t>::max();  // more than any code
        std::vector<std::uint32_t> known(values.count(), unknown);
        for_each_slot(
            others.size(), validity,
            [&](std::size_t slot) {
                const auto other = others[slot];
                if (other >= known.size()) throw std::invalid_argument("codes: expected them below the number of entries");
                auto& code = known[other];
                if (code == unknown) code = entries_.add(values[other], entries_.key(values[other], values.end()));
                codes[slot] = counted(code);
            },
            [&](std::size_t slot) { codes[slot] = counted_null(); });
    }

    // Writes the codes of all entries except the null entry to `out`, in the order of the entries' bytes. `out` must
    // have exactly the right size.
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
    std::uint32_t counted(std::uint32_t code) {
        if (code == counts_.size()) counts_.push_back(0);
        ++counts_[code];
        return code;
    }
    std::uint32_t counted_null() {
        if (!null_code_) null_code_ = entries_.append(std::vector<std::uint8_t>(fixed_size_.value_or(0)));
        return counted(*null_code_);
    }

    std::optional<std::size_t> fixed_size_;
    Interner entries_;
    std::optional<std::uint32_t> null_code_;
    std::vector<std::uint64_t> counts_;
};

}  // namespace amudai::binary
