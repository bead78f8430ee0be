/* SPDX-License-Identifier: Apache-2.0 */
/* Maps in main memory, as a program without a device would use. Keys are in ordered form (keys.h); values have 4 or
 * 8 bytes (4 if they have none). */
#pragma once
#include "ordo/dict.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

/* Keys from lo to hi. Keys of other parts are skipped. */
struct Part {
    uint64_t lo, hi;
    bool     has(uint64_t key) const
    {
        return key >= lo && key <= hi;
    }
};

/* The share of one element in sum(). */
inline uint64_t share_of(uint64_t key, uint64_t value, size_t place)
{
    const uint64_t mixed = key * 0x9e3779b97f4a7c15u + value * 0xc2b2ae3d27d4eb4fu + place * 0x165667b19e3779f9u;
    return mixed ^ mixed >> 29;
}

/* Calls get columns of keys and values (NULL: values of 0 bytes). Queries return a sum, so that the compiler keeps
 * the search: value + 1 for finds and floors, key + value for seeks and ranges. */
struct HostMap {
    virtual ~HostMap() = default;
    /* One key at a time: store or replace, erase, add to the value (0 if absent). */
    virtual void     put(Part part, const void *keys, const void *values, size_t count) = 0;
    virtual void     erase(Part part, const void *keys, size_t count) = 0;
    virtual void     add(Part part, const void *keys, const void *values, size_t count) = 0;
    virtual uint64_t find(const void *keys, size_t count) const = 0;
    /* The sum of share_of over all elements. The first one has `place`. */
    virtual size_t   count() const = 0;
    virtual uint64_t sum(size_t place) const = 0;

    /* Not for hash maps: the next key; the last key that is not greater. */
    virtual uint64_t seek(const void *, size_t) const
    {
        return 0;
    }
    virtual uint64_t floor(const void *, size_t) const
    {
        return 0;
    }
    virtual uint64_t range(const void *, const void *, size_t) const
    {
        return 0;
    }
    /* Only for node maps. apply runs a mixed batch with codes ORDO_FIND to ORDO_RANGE. */
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

template <typename T> const T *as(const void *column)
{
    return static_cast<const T *>(column);
}

template <typename K, typename Of> uint64_t sum_of(const void *keys, size_t count, Of of)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += of(as<K>(keys)[i], i);
    return sum;
}

template <typename At> uint64_t both(At at)
{
    return uint64_t(at->first) + at->second;
}

/* Operations one key at a time. */
template <typename Map> class KeyedMap : public HostMap {
  public:
    void put(Part part, const void *keys, const void *values, size_t count) override
    {
        for (size_t i = 0; i < count; i++)
            if (part.has(as<K>(keys)[i]))
                map_.insert_or_assign(as<K>(keys)[i], values ? as<V>(values)[i] : V());
    }
    void erase(Part part, const void *keys, size_t count) override
    {
        for (size_t i = 0; i < count; i++)
            if (part.has(as<K>(keys)[i]))
                map_.erase(as<K>(keys)[i]);
    }
    void add(Part part, const void *keys, const void *values, size_t count) override
    {
        for (size_t i = 0; i < count; i++)
            if (part.has(as<K>(keys)[i]))
                map_[as<K>(keys)[i]] += as<V>(values)[i];
    }
    uint64_t find(const void *keys, size_t count) const override
    {
        return sum_of<K>(keys, count, [this](K key, size_t) {
            const auto at = map_.find(key);
            return at == map_.end() ? 0 : uint64_t(at->second) + 1;
        });
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
            sum += share_of(element.first, element.second, place++);
        return sum;
    }

  protected:
    using K = typename Map::key_type;
    using V = typename Map::mapped_type;

    Map map_;
};

/* Maps without order. */
template <typename Map> class HashMap final : public KeyedMap<Map> {
    using typename KeyedMap<Map>::K;
    using KeyedMap<Map>::map_;

  public:
    void put(Part part, const void *keys, const void *values, size_t count) override
    {
        const K *first = as<K>(keys);
        if (map_.empty()) /* one batch fills it, so its size is known */
            map_.reserve(size_t(std::count_if(first, first + count, [part](K key) { return part.has(key); })));
        KeyedMap<Map>::put(part, keys, values, count);
    }
};

template <typename Map> class NodeMap final : public KeyedMap<Map> {
    using typename KeyedMap<Map>::K;
    using typename KeyedMap<Map>::V;
    using KeyedMap<Map>::map_;

  public:
    void erase_range(const void *los, const void *hi, size_t count) override
    {
        for (size_t i = 0; i < count; i++)
            if (as<K>(los)[i] <= as<K>(hi)[i])
                map_.erase(map_.lower_bound(as<K>(los)[i]), map_.upper_bound(as<K>(hi)[i]));
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
        return last ? sum_ahead(map_.rbegin(), map_.rend(), count) : sum_ahead(map_.begin(), map_.end(), count);
    }
    uint64_t apply(const uint8_t *codes, const void *keys, const void *hi, const void *values, size_t count) override
    {
        return sum_of<K>(keys, count, [&](K key, size_t i) {
            return operate(codes[i], key, hi ? as<K>(hi)[i] : K(), values ? as<V>(values)[i] : V());
        });
    }
    uint64_t seek(const void *keys, size_t count) const override
    {
        return sum_of<K>(keys, count, [this](K key, size_t) { return at(map_.lower_bound(key)); });
    }
    uint64_t floor(const void *keys, size_t count) const override
    {
        return sum_of<K>(keys, count, [this](K key, size_t) -> uint64_t {
            const auto after = map_.upper_bound(key);
            return after == map_.begin() ? 0 : uint64_t(std::prev(after)->second) + 1;
        });
    }
    uint64_t range(const void *keys, const void *hi, size_t count) const override
    {
        return sum_of<K>(keys, count, [&](K key, size_t i) {
            uint64_t sum = 0;
            for (auto at = map_.lower_bound(key); at != map_.end() && at->first <= as<K>(hi)[i]; ++at)
                sum += both(at);
            return sum;
        });
    }

  private:
    template <typename At> static uint64_t sum_ahead(At at, At end, size_t count)
    {
        uint64_t sum = 0;
        for (; at != end && count-- > 0; ++at)
            sum += both(at);
        return sum;
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

template <typename K, typename V> using StdMap = NodeMap<std::map<K, V>>;

/* Separate arrays of keys and values, because a search reads only keys. Each batch is sorted and merged. */
template <typename K, typename V> class SortedArray final : public HostMap {
  public:
    void put(Part part, const void *keys, const void *values, size_t count) override
    {
        merge(sorted(part, keys, values, count), [](const Change *, const Change *end, bool, V) {
            return Kept { true, end[-1].second };
        });
    }
    void erase(Part part, const void *keys, size_t count) override
    {
        merge(sorted(part, keys, nullptr, count), [](const Change *, const Change *, bool, V) {
            return Kept { false, V() };
        });
    }
    void add(Part part, const void *keys, const void *values, size_t count) override
    {
        merge(sorted(part, keys, values, count), [](const Change *from, const Change *end, bool here, V value) {
            V sum = here ? value : V();
            for (; from < end; from++)
                sum += from->second;
            return Kept { true, sum };
        });
    }
    uint64_t find(const void *keys, size_t count) const override
    {
        return sum_of<K>(keys, count, [this](K key, size_t) {
            const size_t at = place_of(key);
            return at < keys_.size() && keys_[at] == key ? uint64_t(values_[at]) + 1 : 0;
        });
    }
    uint64_t seek(const void *keys, size_t count) const override
    {
        return sum_of<K>(keys, count, [this](K key, size_t) {
            const size_t at = place_of(key);
            return at < keys_.size() ? uint64_t(keys_[at]) + values_[at] : 0;
        });
    }
    uint64_t floor(const void *keys, size_t count) const override
    {
        return sum_of<K>(keys, count, [this](K key, size_t) {
            const auto after = std::upper_bound(keys_.begin(), keys_.end(), key) - keys_.begin();
            return after ? uint64_t(values_[size_t(after) - 1]) + 1 : 0;
        });
    }
    uint64_t range(const void *keys, const void *hi, size_t count) const override
    {
        return sum_of<K>(keys, count, [&](K key, size_t i) {
            uint64_t sum = 0;
            for (size_t at = place_of(key); at < keys_.size() && keys_[at] <= as<K>(hi)[i]; at++)
                sum += uint64_t(keys_[at]) + values_[at];
            return sum;
        });
    }
    size_t count() const override
    {
        return keys_.size();
    }
    uint64_t sum(size_t place) const override
    {
        return sum_of<K>(keys_.data(), keys_.size(),
                         [&](K key, size_t i) { return share_of(key, values_[i], place + i); });
    }

  private:
    using Change = std::pair<K, V>;
    struct Kept {
        bool kept;
        V    value;
    };

    size_t place_of(K key) const
    {
        return size_t(std::lower_bound(keys_.begin(), keys_.end(), key) - keys_.begin());
    }
    static std::vector<Change> sorted(Part part, const void *keys, const void *values, size_t count)
    {
        std::vector<Change> changes;
        changes.reserve(count);
        for (size_t i = 0; i < count; i++)
            if (part.has(as<K>(keys)[i]))
                changes.emplace_back(as<K>(keys)[i], values ? as<V>(values)[i] : V());
        std::stable_sort(changes.begin(), changes.end(),
                         [](const Change &a, const Change &b) { return a.first < b.first; });
        return changes;
    }
    /* Merges changes. `resolve` gets all changes of a key and returns the remaining element. */
    template <typename Resolve> void merge(const std::vector<Change> &changes, Resolve resolve)
    {
        std::vector<K> keys;
        std::vector<V> values;
        keys.reserve(keys_.size() + changes.size());
        values.reserve(keys.capacity());
        size_t        i = 0;
        const Change *last = changes.data() + changes.size();
        for (const Change *from = changes.data(), *end; from < last; from = end) {
            const K key = from->first;
            for (end = from + 1; end < last && end->first == key;)
                end++;
            for (; i < keys_.size() && keys_[i] < key; i++) {
                keys.push_back(keys_[i]);
                values.push_back(values_[i]);
            }
            const bool here = i < keys_.size() && keys_[i] == key;
            const Kept kept = resolve(from, end, here, here ? values_[i] : V());
            i += here;
            if (kept.kept) {
                keys.push_back(key);
                values.push_back(kept.value);
            }
        }
        keys.insert(keys.end(), keys_.begin() + std::ptrdiff_t(i), keys_.end());
        values.insert(values.end(), values_.begin() + std::ptrdiff_t(i), values_.end());
        keys_.swap(keys);
        values_.swap(values);
    }

    std::vector<K> keys_;
    std::vector<V> values_;
};
