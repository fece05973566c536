// Bindings for building a hash index.
#include <bit>

#include "index/entries.hpp"
#include "index/keys.hpp"

#include "bindings/arrays.hpp"

namespace amudai::bindings {

namespace {

using Numbers = In<std::uint64_t>;

nb::tuple arrays_of(index::Groups groups) {
    const auto array = [](std::vector<std::uint64_t> values) {
        auto* const held = new std::vector<std::uint64_t>(std::move(values));
        const nb::capsule owner(held, [](void* owned) noexcept { delete static_cast<std::vector<std::uint64_t>*>(owned); });
        return Array<std::uint64_t>(held->data(), {held->size()}, owner);
    };
    return nb::make_tuple(array(std::move(groups.hashes)), array(std::move(groups.ends)), array(std::move(groups.positions)));
}

}  // namespace

void bind_hash_index(nb::module_& m) {
    m.def("hash_keys", [](nb::bytes prefix, std::optional<InAny> offsets, In<std::uint8_t> data,
                          std::optional<std::size_t> fixed_size, Bitmap validity, std::size_t validity_at, std::size_t count) {
        const auto present = validity_of(validity, validity_at, count);
        const Bytes name{reinterpret_cast<const std::uint8_t*>(prefix.c_str()), prefix.size()};
        return with_values(offsets, data, fixed_size, count, [&](const auto& values) {
            NumpyMemory<std::uint64_t> hashes(count);
            {
                const nb::gil_scoped_release unlocked;
                index::hash_keys(name, values, present, hashes.data());
            }
            return std::move(hashes).array();
        });
    }, "prefix"_a, "offsets"_a.noconvert().none(), "data"_a.noconvert(), "fixed_size"_a.none(),
    "validity"_a.noconvert().none(), "validity_at"_a, "count"_a,
    nb::sig("def hash_keys(prefix: bytes, offsets: NDArray[Any] | None, data: NDArray[np.uint8], fixed_size: int | None, "
            "validity: NDArray[np.uint8] | None, validity_at: int, count: int) -> NDArray[np.uint64]"),
    "XXH3 of the prefix and the bytes of each value. A null has no bytes.");

    m.def("partition_entries", [](Numbers hashes, Numbers positions, unsigned bits) {
        if (bits < 1 || bits > 16) throw nb::value_error("bits: expected 1..16");
        const auto count = hashes.shape(0);
        if (positions.shape(0) != count) throw nb::value_error("positions: expected one for each hash");
        NumpyMemory<std::uint64_t> counts(std::size_t{1} << bits), entries(2 * count);
        static_assert(sizeof(index::Entry) == 2 * sizeof(std::uint64_t));
        {
            const nb::gil_scoped_release unlocked;
            index::partition(span(hashes), span(positions), bits, counts.data(), reinterpret_cast<index::Entry*>(entries.data()));
        }
        return nb::make_tuple(std::move(entries).array(), std::move(counts).array());
    }, "hashes"_a.noconvert(), "positions"_a.noconvert(), "bits"_a,
    nb::sig("def partition_entries(hashes: NDArray[np.uint64], positions: NDArray[np.uint64], bits: int) "
            "-> tuple[NDArray[np.uint64], NDArray[np.uint64]]"),
    "Pairs of a hash and a position, ordered by the topmost bits of the hash, and the number of pairs for each "
    "value of these bits.");

    m.def("group_entries", [](Numbers entries) {
        if (entries.shape(0) % 2) throw nb::value_error("entries: expected pairs");
        index::Groups groups;
        {
            const nb::gil_scoped_release unlocked;
            groups = index::group({reinterpret_cast<const index::Entry*>(entries.data()), entries.shape(0) / 2});
        }
        return arrays_of(std::move(groups));
    }, "entries"_a.noconvert(),
    nb::sig("def group_entries(entries: NDArray[np.uint64]) "
            "-> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]"),
    "The distinct hashes, ascending; where the positions of each hash end; the positions, which ascend and are "
    "distinct for each hash.");

    m.def("order_by_bucket", [](Numbers hashes, Numbers ends, Numbers positions, std::uint64_t buckets) {
        const auto groups = hashes.shape(0);
        if (!std::has_single_bit(buckets) || buckets > std::uint64_t{1} << 40) throw nb::value_error("buckets: expected a power of two");
        if (ends.shape(0) != groups) throw nb::value_error("ends: expected one for each hash");
        std::uint64_t last = 0;
        for (const auto end : span(ends)) {
            if (end < last || end > positions.shape(0)) throw nb::value_error("ends: expected to ascend up to the positions");
            last = end;
        }
        index::Groups ordered;
        {
            const nb::gil_scoped_release unlocked;
            ordered = index::order_by_bucket(span(hashes), span(ends), span(positions), buckets);
        }
        return arrays_of(std::move(ordered));
    }, "hashes"_a.noconvert(), "ends"_a.noconvert(), "positions"_a.noconvert(), "buckets"_a,
    nb::sig("def order_by_bucket(hashes: NDArray[np.uint64], ends: NDArray[np.uint64], positions: NDArray[np.uint64], "
            "buckets: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]"),
    "The result of `group_entries`, reordered by bucket. The bucket of a hash is its lowest bits.");
}

}  // namespace amudai::bindings
