/* SPDX-License-Identifier: Apache-2.0 */
#include "host_map.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x
#ifdef _GLIBCXX_RELEASE
#define STD_VERSION "libstdc++ " TEXT_OF(_GLIBCXX_RELEASE)
#else
#define STD_VERSION "the C++ library"
#endif

namespace {

/* Keys and values apart, as a search reads only keys. */
template <typename K, typename V> class SortedArray final : public host_map {
  public:
    void put(host_part part, const void *keys, const void *values, size_t count) override
    {
        merge(sorted(part, keys, values, count), [](Changes &changes, bool, V) { return last(changes); });
    }
    void erase(host_part part, const void *keys, size_t count) override
    {
        merge(sorted(part, keys, nullptr, count), [](Changes &changes, bool, V) {
            last(changes);
            return Kept { false, V() };
        });
    }
    void add(host_part part, const void *keys, const void *values, size_t count) override
    {
        merge(sorted(part, keys, values, count),
              [](Changes &changes, bool here, V value) { return all(changes, here ? value : V()); });
    }
    uint64_t find(const void *keys_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            const size_t at = place_of(keys[i]);
            sum += at < keys_here.size() && keys_here[at] == keys[i] ? uint64_t(values_here[at]) + 1 : 0;
        }
        return sum;
    }
    uint64_t seek(const void *keys_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            const size_t at = place_of(keys[i]);
            sum += at < keys_here.size() ? both(at) : 0;
        }
        return sum;
    }
    uint64_t floor(const void *keys_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            const auto after = std::upper_bound(keys_here.begin(), keys_here.end(), keys[i]);
            if (after != keys_here.begin())
                sum += both(static_cast<size_t>(after - keys_here.begin()) - 1) - after[-1] + 1;
        }
        return sum;
    }
    uint64_t range(const void *keys_, const void *his_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_), *his = static_cast<const K *>(his_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++)
            for (size_t at = place_of(keys[i]); at < keys_here.size() && keys_here[at] <= his[i]; at++)
                sum += both(at);
        return sum;
    }
    size_t count() const override
    {
        return keys_here.size();
    }
    uint64_t sum(size_t place) const override
    {
        uint64_t sum = 0;
        for (size_t i = 0; i < keys_here.size(); i++)
            sum += host_map_share(keys_here[i], values_here[i], place + i);
        return sum;
    }

  private:
    using Change = std::pair<K, V>;
    struct Changes {
        std::vector<Change> list; /* by key, equal ones in their order */
        size_t              at;
    };
    struct Kept {
        bool kept;
        V    value;
    };

    size_t place_of(K key) const
    {
        return size_t(std::lower_bound(keys_here.begin(), keys_here.end(), key) - keys_here.begin());
    }
    uint64_t both(size_t at) const
    {
        return uint64_t(keys_here[at]) + values_here[at];
    }
    static Changes sorted(host_part part, const void *keys_, const void *values_, size_t count)
    {
        const K *keys = static_cast<const K *>(keys_);
        const V *values = static_cast<const V *>(values_);
        Changes  changes { {}, 0 };
        changes.list.reserve(count);
        for (size_t i = 0; i < count; i++)
            if (is_of(part, keys[i]))
                changes.list.emplace_back(keys[i], values ? values[i] : V());
        std::stable_sort(changes.list.begin(), changes.list.end(),
                         [](const Change &a, const Change &b) { return a.first < b.first; });
        return changes;
    }
    /* Of the changes of one key the last, or all added up; goes past them. */
    static Kept last(Changes &changes)
    {
        const K key = changes.list[changes.at].first;
        while (changes.at < changes.list.size() && changes.list[changes.at].first == key)
            changes.at++;
        return { true, changes.list[changes.at - 1].second };
    }
    static Kept all(Changes &changes, V sum)
    {
        const K key = changes.list[changes.at].first;
        for (; changes.at < changes.list.size() && changes.list[changes.at].first == key; changes.at++)
            sum += changes.list[changes.at].second;
        return { true, sum };
    }
    /* Goes through both in order; `resolve` says what is left of a key that changes. */
    template <typename Resolve> void merge(Changes changes, Resolve resolve)
    {
        std::vector<K> keys;
        std::vector<V> values;
        keys.reserve(keys_here.size() + changes.list.size());
        values.reserve(keys.capacity());
        size_t i = 0;
        while (changes.at < changes.list.size()) {
            const K key = changes.list[changes.at].first;
            for (; i < keys_here.size() && keys_here[i] < key; i++) {
                keys.push_back(keys_here[i]);
                values.push_back(values_here[i]);
            }
            const bool here = i < keys_here.size() && keys_here[i] == key;
            const Kept kept = resolve(changes, here, here ? values_here[i] : V());
            i += here;
            if (kept.kept) {
                keys.push_back(key);
                values.push_back(kept.value);
            }
        }
        keys.insert(keys.end(), keys_here.begin() + std::ptrdiff_t(i), keys_here.end());
        values.insert(values.end(), values_here.begin() + std::ptrdiff_t(i), values_here.end());
        keys_here.swap(keys);
        values_here.swap(values);
    }

    std::vector<K> keys_here;
    std::vector<V> values_here;
};

template <typename K, typename V> using StdMap = NodeMap<std::map<K, V>>;

} // namespace

const char *host_map_name(enum host_map_kind kind)
{
    static const char *const names[N_HOST_MAPS] = { "absl::btree_map", "std::map", "sorted array",
                                                    "absl::flat_hash_map", "tsl::robin_map" };
    return names[kind];
}

const char *host_map_version(enum host_map_kind kind)
{
    if (kind == HOST_FLAT_HASH_MAP)
        return hash_map_version();
    if (kind == HOST_ROBIN_MAP)
        return robin_map_version();
    return kind == HOST_BTREE ? btree_version() : STD_VERSION;
}

struct host_map *host_map_open(enum host_map_kind kind, size_t key_bytes, size_t value_bytes)
{
    if (kind == HOST_BTREE)
        return open_btree(key_bytes, value_bytes);
    if (kind == HOST_FLAT_HASH_MAP)
        return open_hash_map(key_bytes, value_bytes);
    if (kind == HOST_ROBIN_MAP)
        return open_robin_map(key_bytes, value_bytes);
    return kind == HOST_STD_MAP ? open_one<StdMap>(key_bytes, value_bytes)
                                : open_one<SortedArray>(key_bytes, value_bytes);
}

void host_map_close(struct host_map *map)
{
    delete map;
}

void host_map_put(struct host_map *map, struct host_part part, const void *keys, const void *values, size_t count)
{
    map->put(part, keys, values, count);
}

void host_map_erase(struct host_map *map, struct host_part part, const void *keys, size_t count)
{
    map->erase(part, keys, count);
}

void host_map_add(struct host_map *map, struct host_part part, const void *keys, const void *values, size_t count)
{
    map->add(part, keys, values, count);
}

void host_map_erase_range(struct host_map *map, const void *los, const void *his, size_t count)
{
    map->erase_range(los, his, count);
}

uint64_t host_map_find(const struct host_map *map, const void *keys, size_t count)
{
    return map->find(keys, count);
}

uint64_t host_map_seek(const struct host_map *map, const void *keys, size_t count)
{
    return map->seek(keys, count);
}

uint64_t host_map_floor(const struct host_map *map, const void *keys, size_t count)
{
    return map->floor(keys, count);
}

uint64_t host_map_range(const struct host_map *map, const void *keys, const void *his, size_t count)
{
    return map->range(keys, his, count);
}

uint64_t host_map_take_first(struct host_map *map, size_t count)
{
    return map->take_first(count);
}

uint64_t host_map_peek(const struct host_map *map, bool last, size_t count)
{
    return map->peek(last, count);
}

uint64_t host_map_apply(struct host_map *map, const uint8_t *codes, const void *keys, const void *his,
                        const void *values, size_t count)
{
    return map->apply(codes, keys, his, values, count);
}

size_t host_map_count(const struct host_map *map)
{
    return map->count();
}

uint64_t host_map_sum(const struct host_map *map, size_t place)
{
    return map->sum(place);
}
