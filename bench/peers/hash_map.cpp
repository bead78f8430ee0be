/* SPDX-License-Identifier: Apache-2.0 */
#include "host_map.hpp"

#if BENCH_HASH_MAP
#include <absl/base/config.h>
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <utility>
#include <vector>

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x
#ifdef ABSL_LTS_RELEASE_VERSION
#define HASH_MAP_VERSION "Abseil " TEXT_OF(ABSL_LTS_RELEASE_VERSION)
#else
#define HASH_MAP_VERSION "Abseil"
#endif

namespace {

template <typename Key, typename Value> class FlatHashMap final : public KeyedMap<absl::flat_hash_map<Key, Value>> {
    using Base = KeyedMap<absl::flat_hash_map<Key, Value>>;
    using Base::map_;

  public:
    void put(host_part part, const void *keys_, const void *values, size_t count) override
    {
        const Key *keys = static_cast<const Key *>(keys_);
        if (map_.empty()) /* of one batch it is known how many come */
            map_.reserve(size_t(std::count_if(keys, keys + count, [part](Key key) { return is_of(part, key); })));
        Base::put(part, keys_, values, count);
    }
    uint64_t seek(const void *, size_t) const override
    {
        return 0;
    }
    uint64_t range(const void *, const void *, size_t) const override
    {
        return 0;
    }
    uint64_t sum(size_t place) const override
    {
        std::vector<std::pair<Key, Value>> elements(map_.begin(), map_.end());
        std::sort(elements.begin(), elements.end());
        uint64_t sum = 0;
        for (const auto &element : elements)
            sum += host_map_share(element.first, element.second, place++);
        return sum;
    }
};

} // namespace

host_map *open_hash_map(size_t key_bytes, size_t value_bytes)
{
    return open_one<FlatHashMap>(key_bytes, value_bytes);
}

const char *hash_map_version()
{
    return HASH_MAP_VERSION;
}

#else

host_map *open_hash_map(size_t, size_t)
{
    return nullptr;
}

const char *hash_map_version()
{
    return nullptr;
}

#endif
