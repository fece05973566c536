// A tournament between sources: the one whose next term comes first is on top.
#pragma once
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace amudai::text {

// Each inner node of the tree keeps the loser of its match. When the source on top gets another key, it plays only the
// matches on its way up, one on each level, while in a heap two are compared on each.
class Tournament {
public:
    explicit Tournament(std::size_t sources) : heads_(sources), losers_(sources) {
        for (std::uint32_t i = 0; i < sources; ++i) heads_[i] = {nothing, i | absent};
    }

    bool empty() const { return present_ == 0; }
    std::uint32_t top() const { return static_cast<std::uint32_t>(losers_[0].source); }

    // Lets a source take part that has not so far. The matches are played when `play` is called.
    void enter(std::uint32_t source, std::uint64_t key) {
        heads_[source] = {key, source};
        ++present_;
        is_played_ = false;
    }

    // Plays all matches if sources have entered. `is_before(a, b)` compares two sources whose keys are the same.
    template <class IsBefore>
    void play(const IsBefore& is_before) {
        if (std::exchange(is_played_, true) || heads_.empty()) return;
        const auto count = heads_.size();
        std::vector<Head> winners(2 * count);
        for (std::size_t i = 0; i < count; ++i) winners[count + i] = heads_[i];
        for (auto at = count - 1; at > 0; --at) {
            const auto &one = winners[2 * at], &other = winners[2 * at + 1];
            const bool is_other = wins(other, one, is_before);
            winners[at] = is_other ? other : one;
            losers_[at] = is_other ? one : other;
        }
        losers_[0] = winners[1];
    }

    // Gives the source on top another key.
    template <class IsBefore>
    void replace(std::uint64_t key, const IsBefore& is_before) {
        auto& mine = heads_[top()];
        mine.key = key;
        climb(mine, is_before);
    }

    // Takes the source on top out.
    template <class IsBefore>
    void leave(const IsBefore& is_before) {
        auto& mine = heads_[top()];
        mine = {nothing, mine.source | absent};
        --present_;
        climb(mine, is_before);
    }

private:
    static constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::uint64_t absent = std::uint64_t{1} << 32;  // beside the number of a source

    struct Head {
        std::uint64_t key;
        std::uint64_t source;
    };

    template <class IsBefore>
    static bool wins(const Head& one, const Head& other, const IsBefore& is_before) {
        return one.key != other.key ? one.key < other.key : wins_tie(one, other, is_before);
    }

    template <class IsBefore>
    [[gnu::noinline]] static bool wins_tie(const Head& one, const Head& other, const IsBefore& is_before) {
        if ((one.source | other.source) & absent) return other.source & absent;
        return is_before(static_cast<std::uint32_t>(one.source), static_cast<std::uint32_t>(other.source));
    }

    template <class IsBefore>
    void climb(Head head, const IsBefore& is_before) {
        auto* const losers = losers_.data();
        for (auto at = (heads_.size() + static_cast<std::uint32_t>(head.source)) / 2; at > 0; at /= 2) {
            auto& loser = losers[at];
            // Who wins is unpredictable, so the two are exchanged without a branch.
            const auto swaps = -std::uint64_t{wins(loser, head, is_before)};
            const auto key = (loser.key ^ head.key) & swaps, source = (loser.source ^ head.source) & swaps;
            loser.key ^= key, head.key ^= key;
            loser.source ^= source, head.source ^= source;
        }
        losers[0] = head;
    }

    std::vector<Head> heads_;   // the next key of each source
    std::vector<Head> losers_;  // of the match at each node; the first is the winner of all
    std::size_t present_ = 0;
    bool is_played_ = false;
};

}  // namespace amudai::text
