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

template <typename K, typename V> class FlatHashMap final : public host_map {
  public:
    void put(host_part part, const void *keys_, const void *values_, size_t count) override
    {
        const K *keys = static_cast<const K *>(keys_);
        const V *values = static_cast<const V *>(values_);
        if (map_.empty()) /* of one batch it is known how many come */
            map_.reserve(size_t(std::count_if(keys, keys + count, [part](K key) { return is_of(part, key); })));
        for (size_t i = 0; i < count; i++)
            if (is_of(part, keys[i]))
                map_.insert_or_assign(keys[i], values ? values[i] : V());
    }
    void erase(host_part part, const void *keys_, size_t count) override
    {
        const K *keys = static_cast<const K *>(keys_);
        for (size_t i = 0; i < count; i++)
            if (is_of(part, keys[i]))
                map_.erase(keys[i]);
    }
    void add(host_part part, const void *keys_, const void *values_, size_t count) override
    {
        const K *keys = static_cast<const K *>(keys_);
        const V *values = static_cast<const V *>(values_);
        for (size_t i = 0; i < count; i++)
            if (is_of(part, keys[i]))
                map_[keys[i]] += values[i];
    }
    uint64_t find(const void *keys_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            const auto at = map_.find(keys[i]);
            sum += at == map_.end() ? 0 : uint64_t(at->second) + 1;
        }
        return sum;
    }
    uint64_t seek(const void *, size_t) const override
    {
        return 0;
    }
    uint64_t range(const void *, const void *, size_t) const override
    {
        return 0;
    }
    size_t count() const override
    {
        return map_.size();
    }
    uint64_t sum(size_t place) const override
    {
        std::vector<std::pair<K, V>> elements(map_.begin(), map_.end());
        std::sort(elements.begin(), elements.end());
        uint64_t sum = 0;
        for (const auto &element : elements)
            sum += host_map_share(element.first, element.second, place++);
        return sum;
    }

  private:
    absl::flat_hash_map<K, V> map_;
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
