#include "bindings/blocks.hpp"

#include <numeric>

namespace amudai::bindings {

Blocks::Blocks(nb::list buffers, In<std::uint32_t> which, In<std::uint64_t> starts, In<std::uint64_t> sizes,
               In<std::uint64_t> counts, In<std::uint64_t> ordinals, bool checksums, bool verify) {
    const auto n = which.shape(0);
    if (starts.shape(0) != n || sizes.shape(0) != n || counts.shape(0) != n || ordinals.shape(0) != n) {
        throw nb::value_error("blocks: the arrays differ in length");
    }
    buffers_.reserve(buffers.size());
    for (const auto buffer : buffers) buffers_.emplace_back(buffer);
    blocks_.reserve(n);
    const Unlocked unlocked(std::accumulate(sizes.data(), sizes.data() + n, std::size_t{0}));
    for (std::size_t i = 0; i < n; ++i) {
        at_block(span(ordinals)[i], [&] {
            if (span(which)[i] >= buffers_.size()) throw nb::value_error("blocks: expected one of the buffers");
            const auto bytes = part("block bytes", buffers_[span(which)[i]].bytes(), span(starts)[i], span(sizes)[i]);
            open(bytes, span(counts)[i], span(ordinals)[i], checksums, verify);
        });
    }
}

Blocks::Blocks(nb::handle buffer, std::uint64_t ordinal, std::span<const std::uint64_t> sizes,
               std::span<const std::uint64_t> counts, bool checksums, bool verify) {
    if (sizes.size() != counts.size()) throw nb::value_error("blocks: the arrays differ in length");
    buffers_.emplace_back(buffer);
    blocks_.reserve(sizes.size());
    const auto bytes = buffers_[0].bytes();
    const Unlocked unlocked(bytes.size());
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        at_block(ordinal + i, [&] { open(part("block bytes", bytes, at, sizes[i]), counts[i], ordinal + i, checksums, verify); });
        at += sizes[i];
    }
}

void Blocks::open(Bytes bytes, std::uint64_t count, std::uint64_t ordinal, bool checksums, bool verify) {
    require_range("values of a block", count, 1, std::numeric_limits<std::uint32_t>::max());
    blocks_.push_back(open_block(bytes, count, ordinal, checksums, verify));
    size_bytes_ += bytes.size();
}

Frame Blocks::locate(Bytes frame, std::size_t decoded, std::string_view codec) const {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const auto bytes = buffers_[i].bytes();
        if (frame.data() >= bytes.data() && frame.data() + frame.size() <= bytes.data() + bytes.size()) {
            const auto start = static_cast<std::size_t>(frame.data() - bytes.data());
            return {i, start, start + frame.size(), decoded, std::string(codec)};
        }
    }
    throw std::logic_error("a frame outside of all buffers");
}

void Blocks::add_inflated(const std::vector<Frame>& frames, nb::list contents) {
    if (frames.size() != contents.size()) throw nb::value_error("frames and contents differ in number");
    inflated_.begin_batch();
    last_inflated_ = frames.size();
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto& [buffer, start, end, size, codec] = frames[i];
        contents_.emplace_back(contents[i]);
        inflated_.add(buffers_.at(buffer).bytes().data() + start, contents_.back().bytes());
    }
    inflated_.sort();
}

void Blocks::share(nb::handle dictionary, std::uint32_t checksum) {
    dictionary_.emplace(dictionary);
    inflated_.share(dictionary_->bytes(), checksum);
}

void Blocks::forget_inflated() {
    inflated_.forget_batch();
    for (; last_inflated_ > 0; --last_inflated_) contents_.pop_back();
}

std::vector<bool> Blocks::are_whole(const std::vector<Frame>& frames) const {
    std::vector<bool> found;
    found.reserve(frames.size());
    for (const auto& [buffer, start, end, size, codec] : frames) {
        if (buffer >= buffers_.size() || start > end) throw nb::value_error("frames: expected those of the run");
        found.push_back(is_zstd_frame_of(part("frame bytes", buffers_[buffer].bytes(), start, end - start), size));
    }
    return found;
}

Spans spans_of(const Blocks& blocks, In<std::uint32_t> block, In<std::uint32_t> first, In<std::uint32_t> count,
               std::size_t unit, std::size_t at, std::size_t room) {
    const auto n = block.shape(0);
    if (first.shape(0) != n || count.shape(0) != n) throw nb::value_error("spans: the arrays differ in length");
    Spans spans(n);
    const auto *const of = block.data(), *const firsts = first.data(), *const counts = count.data();
    std::size_t total = 0;
    for (std::size_t i = 0; i < n;) {
        const std::size_t mine = of[i];
        if (mine >= blocks.blocks().size() || (i && mine < of[i - 1])) {
            throw nb::value_error("spans: expected blocks of the run, in order");
        }
        const auto slots = blocks.blocks()[mine].count * unit;
        std::uint64_t end = 0;
        bool ascending = true, filled = true;
        for (; i < n && of[i] == mine; ++i) {
            const std::uint64_t from = firsts[i], size = counts[i];
            spans.begin()[i] = {mine, from, size};
            ascending &= from >= end;
            filled &= size != 0;
            end = from + size;
            total += size;
        }
        if (!filled || end > slots) throw nb::value_error("spans: expected slots of the block");
        if (!ascending) throw nb::value_error("spans: expected ascending slots that do not overlap");
    }
    if (at > room || total > room - at) throw nb::value_error("spans: more slots than the output has");
    return spans;
}

void bind_blocks(nb::module_& m) {
    nb::class_<Blocks>(m, "Blocks", "A run of blocks, opened: envelopes and checksums have been checked.")
        .def(nb::init<nb::list, In<std::uint32_t>, In<std::uint64_t>, In<std::uint64_t>, In<std::uint64_t>,
                      In<std::uint64_t>, bool, bool>(),
             "buffers"_a, "which"_a.noconvert(), "starts"_a.noconvert(), "sizes"_a.noconvert(), "counts"_a.noconvert(),
             "ordinals"_a.noconvert(), "checksums"_a, "verify"_a,
             nb::sig("def __init__(self, buffers: list[memoryview], which: NDArray[np.uint32], starts: NDArray[np.uint64], "
                     "sizes: NDArray[np.uint64], counts: NDArray[np.uint64], ordinals: NDArray[np.uint64], "
                     "checksums: bool, verify: bool) -> None"))
        .def_static("one", [](nb::handle buffer, std::uint64_t count, bool checksums, bool verify, std::uint64_t ordinal) {
            const std::uint64_t size = Held(buffer).bytes().size();
            return new Blocks(buffer, ordinal, {&size, 1}, {&count, 1}, checksums, verify);  // Python owns it
        }, "buffer"_a, "count"_a, "checksums"_a, "verify"_a, "ordinal"_a = 0,
        nb::sig("def one(buffer: memoryview, count: int, checksums: bool, verify: bool, ordinal: int = 0) -> Blocks"),
        "A single block that takes up the whole buffer. `ordinal` is its number in errors.")
        .def_static("stretch", [](nb::handle buffer, std::uint64_t ordinal, In<std::uint64_t> sizes, In<std::uint64_t> counts,
                                  bool checksums, bool verify) {
            return new Blocks(buffer, ordinal, span(sizes), span(counts), checksums, verify);
        }, "buffer"_a, "ordinal"_a, "sizes"_a.noconvert(), "counts"_a.noconvert(), "checksums"_a, "verify"_a,
        nb::sig("def stretch(buffer: memoryview, ordinal: int, sizes: NDArray[np.uint64], counts: NDArray[np.uint64], "
                "checksums: bool, verify: bool) -> Blocks"),
        "Consecutive blocks that take up the whole buffer. `ordinal` is the number of the first one.")
        .def("__len__", [](const Blocks& self) { return self.blocks().size(); })
        .def("are_whole", &Blocks::are_whole, "frames"_a,
             nb::sig("def are_whole(self, frames: list[tuple[int, int, int, int, str]]) -> list[bool]"),
             "Whether each of these is exactly one Zstandard frame that states the expected decoded size.")
        .def("forget_inflated", &Blocks::forget_inflated,
             "Release the contents that were handed over in the last call of `add_inflated`.")
        .def("add_inflated", &Blocks::add_inflated, "frames"_a, "contents"_a,
             nb::sig("def add_inflated(self, frames: list[tuple[int, int, int, int, str]], contents: list[Any]) -> None"),
             "Hand over the decoded contents of frames of the run.")
        .def("share", &Blocks::share, "dictionary"_a, "checksum"_a,
             nb::sig("def share(self, dictionary: bytes | memoryview, checksum: int) -> None"),
             "Hand over the dictionary that blocks of the run share. They name it by its checksum.");
}

}  // namespace amudai::bindings
