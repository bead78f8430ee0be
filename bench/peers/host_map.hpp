/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of host_map.h have in common, and the maps of nodes. */
#pragma once
#include "host_map.h"

#include "ordo/dict.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>
#include <vector>

struct host_map {
    virtual ~host_map() = default;
    virtual void     put(host_part part, const void *keys, const void *values, size_t count) = 0;
    virtual void     erase(host_part part, const void *keys, size_t count) = 0;
    virtual void     add(host_part part, const void *keys, const void *values, size_t count) = 0;
    virtual uint64_t find(const void *keys, size_t count) const = 0;
    virtual uint64_t seek(const void *keys, size_t count) const = 0;
    virtual uint64_t floor(const void *keys, size_t count) const = 0;
    virtual uint64_t range(const void *keys, const void *his, size_t count) const = 0;
    virtual size_t   count() const = 0;
    virtual uint64_t sum(size_t place) const = 0;

    virtual void erase_range(const void *, const void *, size_t)
    {
    }
    virtual uint64_t take_first(size_t)
    {
        return 0;
    }
    virtual uint64_t peek(bool, size_t) const
    {
        return 0;
    }
    virtual uint64_t apply(const uint8_t *, const void *, const void *, const void *, size_t)
    {
        return 0;
    }
};

inline bool is_of(host_part part, uint64_t key)
{
    return key >= part.lo && key <= part.hi;
}

/* What all maps do one key at a time. */
template <typename Map> class KeyedMap : public host_map {
  public:
    void put(host_part part, const void *keys_, const void *values_, size_t count) override
    {
        const K *keys = static_cast<const K *>(keys_);
        const V *values = static_cast<const V *>(values_);
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
    size_t count() const override
    {
        return map_.size();
    }

  protected:
    using K = typename Map::key_type;
    using V = typename Map::mapped_type;

    Map map_;
};

/* Maps that go by no order. */
template <typename Map> class HashMap final : public KeyedMap<Map> {
    using typename KeyedMap<Map>::K;
    using typename KeyedMap<Map>::V;
    using KeyedMap<Map>::map_;

  public:
    void put(host_part part, const void *keys_, const void *values, size_t count) override
    {
        const K *keys = static_cast<const K *>(keys_);
        if (map_.empty()) /* of one batch it is known how many come */
            map_.reserve(size_t(std::count_if(keys, keys + count, [part](K key) { return is_of(part, key); })));
        KeyedMap<Map>::put(part, keys_, values, count);
    }
    uint64_t seek(const void *, size_t) const override
    {
        return 0;
    }
    uint64_t floor(const void *, size_t) const override
    {
        return 0;
    }
    uint64_t range(const void *, const void *, size_t) const override
    {
        return 0;
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
};

template <typename Map> class NodeMap final : public KeyedMap<Map> {
    using typename KeyedMap<Map>::K;
    using typename KeyedMap<Map>::V;
    using KeyedMap<Map>::map_;

  public:
    void erase_range(const void *los_, const void *his_, size_t count) override
    {
        const K *los = static_cast<const K *>(los_), *his = static_cast<const K *>(his_);
        for (size_t i = 0; i < count; i++)
            if (los[i] <= his[i])
                map_.erase(map_.lower_bound(los[i]), map_.upper_bound(his[i]));
    }
    uint64_t take_first(size_t count) override
    {
        uint64_t sum = 0;
        auto     end = map_.begin();
        for (size_t i = 0; i < count && end != map_.end(); i++, ++end)
            sum += both(end);
        map_.erase(map_.begin(), end);
        return sum;
    }
    uint64_t peek(bool last, size_t count) const override
    {
        uint64_t sum = 0;
        if (last)
            for (auto at = map_.rbegin(); at != map_.rend() && count-- > 0; ++at)
                sum += both(at);
        else
            for (auto at = map_.begin(); at != map_.end() && count-- > 0; ++at)
                sum += both(at);
        return sum;
    }
    uint64_t apply(const uint8_t *codes, const void *keys_, const void *his_, const void *values_,
                   size_t count) override
    {
        const K *keys = static_cast<const K *>(keys_), *his = static_cast<const K *>(his_);
        const V *values = static_cast<const V *>(values_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += operate(codes[i], keys[i], his ? his[i] : K(), values ? values[i] : V());
        return sum;
    }
    uint64_t seek(const void *keys_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += at(map_.lower_bound(keys[i]));
        return sum;
    }
    uint64_t floor(const void *keys_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            auto at = map_.upper_bound(keys[i]);
            if (at == map_.begin())
                continue;
            --at;
            sum += both(at) - at->first + 1;
        }
        return sum;
    }
    uint64_t range(const void *keys_, const void *his_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_), *his = static_cast<const K *>(his_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++)
            for (auto at = map_.lower_bound(keys[i]); at != map_.end() && at->first <= his[i]; ++at)
                sum += both(at);
        return sum;
    }
    uint64_t sum(size_t place) const override
    {
        uint64_t sum = 0;
        for (const auto &element : map_)
            sum += host_map_share(element.first, element.second, place++);
        return sum;
    }

  private:
    template <typename At> static uint64_t both(At at)
    {
        return uint64_t(at->first) + at->second;
    }
    template <typename At> uint64_t at(At at) const
    {
        return at == map_.end() ? 0 : both(at);
    }
    uint64_t at_last_before(typename Map::const_iterator end) const
    {
        return end == map_.begin() ? 0 : at(std::prev(end));
    }
    uint64_t operate(uint8_t code, K key, K hi, V value)
    {
        switch (code) {
        case ORDO_UPSERT:
            return map_.insert_or_assign(key, value).second;
        case ORDO_INSERT:
            return map_.emplace(key, value).second;
        case ORDO_ERASE:
            return map_.erase(key);
        case ORDO_SEEK_LT:
            return at_last_before(map_.lower_bound(key));
        case ORDO_SEEK_LE:
            return at_last_before(map_.upper_bound(key));
        case ORDO_SEEK_GE:
            return at(map_.lower_bound(key));
        case ORDO_SEEK_GT:
            return at(map_.upper_bound(key));
        case ORDO_COUNT:
        case ORDO_RANGE:
            return range(&key, &hi, 1);
        default:
            return at(map_.find(key));
        }
    }
};

/* One of the four kinds that a template of a map has: Of<K, V>. */
template <template <typename, typename> class Of> host_map *open_one(size_t key_bytes, size_t value_bytes)
{
    if (key_bytes == 4)
        return value_bytes == 8 ? static_cast<host_map *>(new (std::nothrow) Of<uint32_t, uint64_t>)
                                : new (std::nothrow) Of<uint32_t, uint32_t>;
    return value_bytes == 8 ? static_cast<host_map *>(new (std::nothrow) Of<uint64_t, uint64_t>)
                            : new (std::nothrow) Of<uint64_t, uint32_t>;
}

/* btree.cpp and hash_map.cpp: NULL without Abseil; robin_map.cpp: without robin-map. */
host_map   *open_btree(size_t key_bytes, size_t value_bytes);
const char *btree_version();
host_map   *open_hash_map(size_t key_bytes, size_t value_bytes);
const char *hash_map_version();
host_map   *open_robin_map(size_t key_bytes, size_t value_bytes);
const char *robin_map_version();
