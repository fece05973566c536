// The way of one term through an index that this library wrote: from the root to the leaf that has it, and to the list of
// its rows. Python reads and inflates what the way asks for.
#include <mutex>
#include <unordered_map>

#include "base/block_map.hpp"
#include "text/term_search.hpp"

#include "bindings/arrays.hpp"
#include "bindings/few.hpp"

namespace amudai::bindings {

namespace {

// Something on the way is not as this way expects it. The long way in Python finds the term all the same, or says what is
// wrong with the file.
struct Unusual {};

void expect(bool usual) {
    if (!usual) throw Unusual{};
}

// Where a buffer and its block map begin, where both end, its values and blocks, and what lies behind it.
using Place = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::optional<nb::bytes>>;

// A buffer of blocks. Its map is read when it is first needed, and kept.
class BlockSource {
public:
    BlockSource(nb::callable read, const Place& place, bool verify)
        : read_(std::move(read)), start_(std::get<0>(place)), map_(std::get<1>(place)), end_(std::get<2>(place)),
          values_(std::get<3>(place)), blocks_(std::get<4>(place)), verify_(verify) {
        const auto& identity = std::get<5>(place);
        if (identity) identity_.assign(identity->c_str(), identity->size());
    }

    std::uint64_t size() const { return end_ - start_; }
    std::uint64_t values() const { return values_; }
    std::uint64_t blocks() const { return blocks_; }

    bool is_known() {
        const std::lock_guard held(lock_);
        return known_ != nullptr;
    }

    // Calls use(map). Parts of the map are read on demand, so only one thread may use it at a time.
    template <class Use>
    auto with_map(Use&& use) {
        std::unique_lock held(lock_);
        if (!known_) {
            held.unlock();  // Python is called, and may run other threads
            auto made = opened();
            held.lock();
            if (!known_) known_ = std::move(made);
        }
        return use(known_->map);
    }

    nb::object bytes(std::uint64_t begin, std::uint64_t end) const { return read(start_ + begin, start_ + end); }

    // Blocks that take up all of `bytes`.
    std::unique_ptr<Blocks> opened(nb::handle bytes, std::uint64_t ordinal, std::span<const std::uint64_t> sizes,
                                   std::span<const std::uint64_t> counts) const {
        return std::make_unique<Blocks>(bytes, ordinal, sizes, counts, true, verify_);
    }

private:
    struct Known {
        explicit Known(Bytes content, std::uint64_t room) : payload(content.begin(), content.end()), map(payload, room) {}
        std::vector<std::uint8_t> payload;  // a copy: a mapped file may change
        BlockMap map;
    };

    nb::object read(std::uint64_t start, std::uint64_t end) const { return read_(start, end); }

    std::unique_ptr<Known> opened() const {
        expect(start_ <= map_ && map_ < end_ && (end_ - map_) % 8 == 0);
        const auto found = read(map_, end_ + identity_.size());
        const Held held(found);
        const auto size = end_ - map_;
        expect(held.bytes().size() == size + identity_.size());
        expect(std::memcmp(held.bytes().data() + size, identity_.data(), identity_.size()) == 0);
        auto made = std::make_unique<Known>(held.bytes().first(size), map_ - start_);
        expect(made->map.values() == values_ && made->map.blocks() == blocks_);
        return made;
    }

    nb::callable read_;
    std::uint64_t start_, map_, end_, values_, blocks_;
    std::string identity_;
    bool verify_;
    std::mutex lock_;
    std::unique_ptr<Known> known_;
};

// The terms of a page, and the number of the first.
struct Page {
    std::uint64_t first;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint8_t> data;

    text::Terms terms() const { return text::Terms::checked(offsets, data); }
};

// Where the pages of each level begin, the leaves' first, and the number of all pages. The last level is the root alone.
std::vector<std::uint64_t> levels_of(std::uint64_t leaf_pages, std::uint64_t fan_out) {
    if (leaf_pages == 0 || fan_out < 2) throw nb::value_error("layout: expected leaves, and pages with several children");
    std::vector<std::uint64_t> starts{0, leaf_pages};
    for (auto size = leaf_pages; starts.size() < 3 || size > 1;) {
        size = size / fan_out + (size % fan_out != 0);
        starts.push_back(starts.back() + size);
    }
    return starts;
}

class TermLookup {
public:
    TermLookup(const nb::callable& read, nb::callable inflate, const Place& pages, const Place& ends, std::uint64_t leaf_pages,
               std::uint64_t fan_out, bool verify, std::size_t most_memory, std::size_t most_block)
        : pages_(read, pages, verify), ends_(read, ends, verify), inflate_(std::move(inflate)),
          levels_(levels_of(leaf_pages, fan_out)), fan_out_(fan_out), most_memory_(most_memory), most_block_(most_block) {}

    std::optional<nb::tuple> find(const nb::bytes& text, bool folded, bool words) {
        try {
            return lists_of({static_cast<const std::uint8_t*>(text.data()), text.size()}, folded, words);
        } catch (const Unusual&) {
        } catch (const Corrupted&) {
        } catch (const Unsupported&) {
        }
        return {};
    }

private:
    static constexpr std::size_t kept = 64;                         // pages that stay in memory for the next question
    static constexpr std::uint64_t read_whole = 8 * 1024 * 1024;    // smaller buffers are read at once if most is wanted
    static constexpr std::uint64_t blocks_most = 2 * 1024 * 1024;  // bytes of the blocks that have the ends of lists

    // Where the lists of all spellings of a term begin and end.
    nb::tuple lists_of(Bytes text, bool folded, bool words) {
        std::vector<std::uint64_t> found;  // the numbers of the terms in the index
        text::Matcher matcher(text, text::Match::equal, folded, words);
        for (auto record = leaf_of(text); record < levels_[1]; ++record) {
            const auto leaf = page(record);
            const auto terms = leaf->terms();
            const auto [low, high] = text::range_of(terms, text, false);
            text::Matches matches;
            matcher.add(terms, low, high, matches);
            expect(matches.maybe.empty());
            for (const auto at : matches.yes) found.push_back(leaf->first + at);
            if (high < terms.count()) break;  // otherwise the next leaf may have more spellings
        }
        NumpyMemory<std::uint64_t> starts(found.size()), stops(found.size());
        if (!found.empty()) {
            // Each term has one list, which begins where the list before it ends.
            expect(found.front() != 0);
            const auto ends = numbers(found.front() - 1, found.back() + 1);
            for (std::size_t i = 0; i < found.size(); ++i) {
                const auto at = found[i] - found.front();
                expect(ends[at] < ends[at + 1]);
                starts.data()[i] = ends[at];
                stops.data()[i] = ends[at + 1];
            }
        }
        return nb::make_tuple(std::move(starts).array(), std::move(stops).array());
    }

    // The leaf that would hold a term.
    std::uint64_t leaf_of(Bytes text) {
        expect(levels_.back() == pages_.blocks());
        auto record = levels_.back() - 1;
        for (auto level = levels_.size() - 2; level > 0; --level) {
            const auto above = page(record);
            const auto terms = above->terms();
            expect(terms.count() != 0);
            const auto entry = std::min(text::lower_bound(terms, text), terms.count() - 1);
            record = levels_[level - 1] + (record - levels_[level]) * fan_out_ + entry;
            expect(record < levels_[level]);
        }
        return record;
    }

    std::shared_ptr<const Page> page(std::uint64_t record) {
        {
            const std::lock_guard held(lock_);
            const auto found = known_.find(record);
            if (found != known_.end()) return found->second;
        }
        std::shared_ptr<const Page> made = read_page(record);
        const std::lock_guard held(lock_);
        if (known_.size() >= kept) known_.clear();
        known_[record] = made;
        return made;
    }

    std::shared_ptr<const Page> read_page(std::uint64_t record) {
        const auto [first, count, begin, end] = pages_.with_map([&](BlockMap& map) {
            expect(record < map.blocks());  // the numbers of the layout may have wrapped around
            const auto values = map.value_ends(), bytes = map.byte_ends();
            return std::array{values[record], values[record + 1] - values[record], bytes[record], bytes[record + 1]};
        });
        expect(count <= most_memory_ / sizeof(std::int64_t));
        const auto content = pages_.bytes(begin, end);
        const auto size = end - begin;
        const auto blocks = pages_.opened(content, record, {&size, 1}, {&count, 1});
        inflate(*blocks, content, binary_frames(*blocks, {}));
        auto made = std::make_shared<Page>(Page{first, std::vector<std::int64_t>(count + 1), {}});
        const std::array wanted{Span{0, 0, static_cast<std::size_t>(count)}};
        std::vector<std::uint8_t> validity(count / 8 + 2);
        std::uint64_t origin = 0, decoded = 0;
        expect(binary::decode_offsets<std::int64_t>(blocks->blocks(), std::span{wanted}, blocks->inflated(), made->offsets,
                                                    validity.data(), 0, {&origin, 1}, {&decoded, 1}) == 0);
        const auto total = static_cast<std::uint64_t>(made->offsets.back());
        expect(origin + total <= std::max<std::uint64_t>(size, most_block_) && total <= most_memory_);
        inflate(*blocks, content, payload_frames(*blocks, {&decoded, 1}, 0, 1));
        made->data.resize(total + Arena::slack);
        binary::decode_bytes<std::int64_t>(blocks->blocks(), std::span{wanted}, blocks->inflated(), {&origin, 1},
                                           made->offsets, 0, false, made->data);
        made->data.resize(total);
        return made;
    }

    // The ends of lists first .. last.
    std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t last) {
        expect(last <= ends_.values());
        expect(ends_.is_known() || ends_.size() > read_whole || 2 * (last - first) < ends_.values());
        std::vector<std::uint64_t> sizes, counts;
        const auto begin = ends_.with_map([&](BlockMap& map) {
            const auto from = map.find(first);
            for (auto place = from;; place = map.next(place.block)) {
                sizes.push_back(place.byte_end - place.byte);
                counts.push_back(place.value_end - place.value);
                if (place.value_end >= last) return from;
            }
        });
        std::uint64_t size = 0;
        for (const auto each : sizes) size += each;
        const auto slot = first - begin.value;
        expect(size <= blocks_most && (slot + last - first) * sizeof(std::uint64_t) <= most_block_);
        const auto content = ends_.bytes(begin.byte, begin.byte + size);
        const auto blocks = ends_.opened(content, begin.block, sizes, counts);
        inflate(*blocks, content, numeric_frames<std::uint64_t>(*blocks));
        std::vector<Span> wanted;
        auto from = slot, left = last - first;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const auto mine = std::min(left, counts[i] - from);
            wanted.push_back({i, static_cast<std::size_t>(from), static_cast<std::size_t>(mine)});
            from = 0;
            left -= mine;
        }
        std::vector<std::uint64_t> found(last - first);
        numeric::decode_run<std::uint64_t>(blocks->blocks(), wanted, blocks->inflated(), std::span{found}, nullptr, 0);
        return found;
    }

    // Python inflates frames of blocks whose bytes are `content`.
    void inflate(Blocks& blocks, nb::handle content, const std::vector<Frame>& frames) const {
        if (frames.empty()) return;
        nb::list inflated;
        for (const auto& [buffer, start, end, size, codec] : frames) {
            expect(size <= most_block_);
            inflated.append(inflate_(content[nb::slice(nb::int_(start), nb::int_(end), nb::none())], size, codec));
        }
        blocks.add_inflated(frames, inflated);
    }

    BlockSource pages_, ends_;
    nb::callable inflate_;
    std::vector<std::uint64_t> levels_;
    std::uint64_t fan_out_;
    std::size_t most_memory_, most_block_;
    std::mutex lock_;
    std::unordered_map<std::uint64_t, std::shared_ptr<const Page>> known_;
};

}  // namespace

void bind_term_lookup(nb::module_& m) {
    nb::class_<TermLookup>(m, "TermLookup",
        "Finds terms in an index that this library wrote, in which each term has one list. Pages and block maps that were "
        "read stay in memory. `read(start, end)` returns bytes of the file, `inflate(frame, size, codec)` the content of a "
        "frame. `pages` are the terms, one block for each page, and `ends` the ends of their lists.")
        .def(nb::init<const nb::callable&, nb::callable, const Place&, const Place&, std::uint64_t, std::uint64_t, bool,
                      std::size_t, std::size_t>(),
             "read"_a, "inflate"_a, "pages"_a, "ends"_a, "leaf_pages"_a, "fan_out"_a, "verify"_a, "most_memory"_a,
             "most_block"_a,
             nb::sig("def __init__(self, read: Any, "
                     "inflate: Any, "
                     "pages: tuple[int, int, int, int, int, bytes | None], "
                     "ends: tuple[int, int, int, int, int, bytes | None], leaf_pages: int, fan_out: int, verify: bool, "
                     "most_memory: int, most_block: int) -> None"))
        .def("find", &TermLookup::find, "text"_a, "folded"_a, "words"_a,
             nb::sig("def find(self, text: bytes, folded: bool, words: bool) "
                     "-> tuple[NDArray[np.uint64], NDArray[np.uint64]] | None"),
             "Where the lists of all terms that equal `text` begin and end, by which they ascend. None if something is not "
             "as expected, or more than expected is needed: then the term must be looked up in another way.");
}

}  // namespace amudai::bindings
