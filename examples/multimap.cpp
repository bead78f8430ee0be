// SPDX-License-Identifier: Apache-2.0
// Multimap: a key of 64 bits may have several rows. A set of 128-bit keys has each key in the high word and the number
// of the row in the low word. The task counts, lists, erases and joins rows by key.
#include "example.hpp"

#include <numeric>
#include <utility>

namespace {

using words = std::vector<std::uint64_t>;

struct entry { // has type ORDO_U128, whose low word comes first
    std::uint64_t row, key;
    bool          operator==(const entry &other) const
    {
        return row == other.row && key == other.key;
    }
};
using entries = std::vector<entry>;

// Key i has the entries from lo[i] to hi[i].
struct bounds {
    entries lo, hi;
};

bounds bounds_of(const words &keys)
{
    bounds of;
    for (const std::uint64_t key : keys) {
        of.lo.push_back({ 0, key });
        of.hi.push_back({ UINT64_MAX, key });
    }
    return of;
}

struct answers {
    std::vector<std::uint32_t> counts; // the number of rows of each asked key
    entries                    joined; // all rows of each asked key, one key after the other
    bool                       operator==(const answers &other) const
    {
        return counts == other.counts && joined == other.joined;
    }
};

answers ask(ordo_dict *map, const words &keys)
{
    const bounds of = bounds_of(keys);
    words        offsets(keys.size() + 1); // joined[offsets[i]] is the first row of key i
    answers      got;
    got.counts.resize(keys.size());
    must(ordo_dict_count_host(map, of.lo.data(), of.hi.data(), keys.size(), got.counts.data()));
    got.joined.resize(std::accumulate(got.counts.begin(), got.counts.end(), std::size_t(0)));
    must(ordo_dict_range_host(map, of.lo.data(), of.hi.data(), keys.size(), offsets.data(), got.joined.data(), nullptr,
                              got.joined.size(), nullptr));
    return got;
}

// Answers by binary search. It suffices for a table that does not change.
answers search(ordo_device *device, entries table, const words &keys)
{
    const bounds               of = bounds_of(keys);
    std::vector<std::uint32_t> lower(keys.size()), upper(keys.size());
    ordo_sort_params           sort = {};
    ordo_search_params         bound = {};
    sort.key = bound.key = ORDO_U128;
    must(ordo_sort_host(device, &sort, table.data(), nullptr, table.size()));
    must(ordo_search_host(device, &bound, table.data(), table.size(), of.lo.data(), keys.size(), lower.data()));
    bound.upper = true;
    must(ordo_search_host(device, &bound, table.data(), table.size(), of.hi.data(), keys.size(), upper.data()));

    answers got;
    for (std::size_t i = 0; i < keys.size(); i++) {
        got.counts.push_back(upper[i] - lower[i]);
        got.joined.insert(got.joined.end(), table.begin() + lower[i], table.begin() + upper[i]);
    }
    return got;
}

using plain_map = plain::multimap<std::uint64_t, std::uint64_t>;

void erase_plain(plain_map &map, const entry &gone)
{
    auto at = map.lower_bound(gone.key);
    while (at->second != gone.row)
        ++at;
    map.erase(at);
}

answers ask_plain(const plain_map &map, const words &keys)
{
    answers wanted;
    for (const std::uint64_t key : keys) {
        const auto of = map.equal_range(key);
        wanted.counts.push_back(static_cast<std::uint32_t>(std::distance(of.first, of.second)));
        for (auto at = of.first; at != of.second; ++at)
            wanted.joined.push_back({ at->second, at->first });
    }
    return wanted;
}

outcome multimap(ordo_device *device, std::size_t rows)
{
    const std::size_t customers = rows / 4 + 1;
    entries           all(rows), erased, kept;
    words             asked(rows / 2 + 1);
    for (std::size_t i = 0; i < rows; i++) {
        all[i] = { i, random_number(1, random_number(2, i) % customers) };
        (i % 8 == 3 ? erased : kept).push_back(all[i]);
    }
    for (std::size_t i = 0; i < asked.size(); i++) // a fifth is unknown, and some keys are asked twice
        asked[i] = random_number(1, random_number(3, i) % (customers + customers / 4));

    stopwatch         clock;
    const dict_handle map = make_tree(device, ORDO_U128, 0);
    must(ordo_dict_upsert_host(map.get(), all.data(), nullptr, all.size()));
    const answers before = ask(map.get(), { asked[0] });
    must(ordo_dict_erase_host(map.get(), erased.data(), erased.size()));
    const answers after = ask(map.get(), asked);
    const double  ordo_ms = clock.lap();

    plain_map tree;
    for (const entry &one : all)
        tree.insert({ one.key, one.row });
    const answers plain_before = ask_plain(tree, { asked[0] });
    for (const entry &gone : erased)
        erase_plain(tree, gone);
    const answers plain_after = ask_plain(tree, asked);
    const double  plain_ms = clock.lap();
    const bool    same = before == plain_before && after == plain_after && search(device, kept, asked) == plain_after;
    return { same, ordo_ms, plain_ms };
}

} // namespace

int main(int argc, char **argv)
{
    return run_task(argc, argv, "rows, half as many asked keys", 50000, multimap);
}
