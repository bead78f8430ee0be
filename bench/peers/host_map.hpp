/* SPDX-License-Identifier: Apache-2.0 */
/* Maps in main memory, as a program without a device would use. Keys are in ordered form (keys.h); values have 4 or
 * 8 bytes (4 if they have none). */
#pragma once
#include "ordo/dict.h"

extern "C" {
#include "bench/workload/model.h"
}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

/* The keys of one of several maps. Other keys are skipped. */
struct Part {
    size_t number, parts;
    bool   has(uint64_t key) const
    {
        return parts == 1 || (key * 0x9e3779b97f4a7c15u >> 32) * parts >> 32 == number;
    }
};

/* Rows of a step, with keys in ordered form. NULL: no such column. */
struct Rows {
    const void    *keys, *hi, *values;
    const uint8_t *codes;
    size_t         count;
};

using Element = std::pair<uint64_t, uint64_t>;

struct HostMap {
    virtual ~HostMap() = default;
    /* Runs a step and returns the sum of its answers, so that the compiler keeps the search: value + 1 for finds and
     * predecessors, key + value for successors and ranges. Hash maps know upserts, erases, sums and finds; a sorted
     * array also seeks and ranges. */
    virtual uint64_t run(const struct step &step, Part part, const Rows &rows) = 0;
    virtual void     elements(std::vector<Element> &to) const = 0;
};

template <typename T> const T *as(const void *column)
{
    return static_cast<const T *>(column);
}

/* The sum of of(key, hi, value, i) over the rows with a key of the part. */
template <typename K, typename V, typename Of> uint64_t each(Part part, const Rows &rows, Of of)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < rows.count; i++) {
        const K key = as<K>(rows.keys)[i];
        if (part.has(key))
            sum += of(key, rows.hi ? as<K>(rows.hi)[i] : K(), rows.values ? as<V>(rows.values)[i] : V(), i);
    }
    return sum;
}

template <typename At> uint64_t both(At at)
{
    return uint64_t(at->first) + at->second;
}

/* Operations one key at a time. */
template <typename Map> class KeyedMap : public HostMap {
  protected:
    using K = typename Map::key_type;
    using V = typename Map::mapped_type;

  public:
    uint64_t run(const struct step &step, Part part, const Rows &rows) override
    {
        switch (step.call) {
        case DO_ERASE:
            return each<K, V>(part, rows, [this](K key, K, V, size_t) { return map_.erase(key); });
        case DO_COMBINE:
            return each<K, V>(part, rows, [this](K key, K, V value, size_t) { return map_[key] += value; });
        case DO_FIND:
            return each<K, V>(part, rows, [this](K key, K, V, size_t) -> uint64_t {
                const auto at = map_.find(key);
                return at == map_.end() ? 0 : uint64_t(at->second) + 1;
            });
        case DO_APPLY:
            return each<K, V>(part, rows,
                              [&](K key, K, V value, size_t i) { return operate_point(rows.codes[i], key, value); });
        default:
            return each<K, V>(part, rows,
                              [this](K key, K, V value, size_t) { return map_.insert_or_assign(key, value).second; });
        }
    }
    void elements(std::vector<Element> &to) const override
    {
        to.insert(to.end(), map_.begin(), map_.end());
    }

  protected:
    uint64_t operate_point(uint8_t code, K key, V value)
    {
        switch (code) {
        case ORDO_UPSERT:
            return map_.insert_or_assign(key, value).second;
        case ORDO_INSERT:
            return map_.emplace(key, value).second;
        case ORDO_ERASE:
            return map_.erase(key);
        default:
            const auto at = map_.find(key);
            return at == map_.end() ? 0 : both(at);
        }
    }

    Map map_;
};

template <typename Map> class HashMap final : public KeyedMap<Map> {
    using typename KeyedMap<Map>::K;
    using typename KeyedMap<Map>::V;

  public:
    uint64_t run(const struct step &step, Part part, const Rows &rows) override
    {
        if (this->map_.empty()) /* one batch fills it, so its size is known */
            this->map_.reserve(each<K, V>(part, rows, [](K, K, V, size_t) { return 1; }));
        return KeyedMap<Map>::run(step, part, rows);
    }
};

template <typename Map> class NodeMap final : public KeyedMap<Map> {
    using typename KeyedMap<Map>::K;
    using typename KeyedMap<Map>::V;
    using KeyedMap<Map>::map_;

  public:
    uint64_t run(const struct step &step, Part part, const Rows &rows) override
    {
        auto first = map_.begin();
        auto last = map_.rbegin();
        switch (step.call) {
        case DO_SEEK:
            return step.relation == ORDO_LE
                       ? each<K, V>(part, rows, [this](K key, K, V, size_t) { return floor(key); })
                       : each<K, V>(part, rows, [this](K key, K, V, size_t) { return at(map_.lower_bound(key)); });
        case DO_RANGE:
            return each<K, V>(part, rows, [this](K key, K hi, V, size_t) { return range(key, hi); });
        case DO_ERASE_RANGE:
            return each<K, V>(part, rows, [this](K key, K hi, V, size_t) { return erase_range(key, hi); });
        case DO_TAKE_FIRST: {
            const uint64_t sum = sum_ahead(first, map_.end(), step.count);
            map_.erase(map_.begin(), first);
            return sum;
        }
        case DO_PEEK_FIRST:
            return sum_ahead(first, map_.end(), step.count);
        case DO_PEEK_LAST:
            return sum_ahead(last, map_.rend(), step.count);
        case DO_APPLY:
            return each<K, V>(part, rows,
                              [&](K key, K hi, V value, size_t i) { return operate(rows.codes[i], key, hi, value); });
        default:
            return KeyedMap<Map>::run(step, part, rows);
        }
    }

  private:
    /* Moves on by `count` elements. */
    template <typename At> static uint64_t sum_ahead(At &at, At end, size_t count)
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
    uint64_t floor(K key) const
    {
        const auto after = map_.upper_bound(key);
        return after == map_.begin() ? 0 : uint64_t(std::prev(after)->second) + 1;
    }
    uint64_t range(K key, K hi) const
    {
        uint64_t sum = 0;
        for (auto at = map_.lower_bound(key); at != map_.end() && at->first <= hi; ++at)
            sum += both(at);
        return sum;
    }
    uint64_t erase_range(K lo, K hi)
    {
        if (lo <= hi)
            map_.erase(map_.lower_bound(lo), map_.upper_bound(hi));
        return 0;
    }
    uint64_t operate(uint8_t code, K key, K hi, V value)
    {
        switch (code) {
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
            return range(key, hi);
        default:
            return this->operate_point(code, key, value);
        }
    }
};

template <typename K, typename V> using StdMap = NodeMap<std::map<K, V>>;

/* Separate arrays of keys and values, because a search reads only keys. Each batch is sorted and merged. */
template <typename K, typename V> class SortedArray final : public HostMap {
  public:
    uint64_t run(const struct step &step, Part part, const Rows &rows) override
    {
        switch (step.call) {
        case DO_FIND:
            return each<K, V>(part, rows, [this](K key, K, V, size_t) {
                const size_t at = place_of(key);
                return at < keys_.size() && keys_[at] == key ? uint64_t(values_[at]) + 1 : 0;
            });
        case DO_SEEK:
            return step.relation == ORDO_LE ? each<K, V>(part, rows, [this](K key, K, V, size_t) { return floor(key); })
                                            : each<K, V>(part, rows, [this](K key, K, V, size_t) {
                                                  const size_t at = place_of(key);
                                                  return at < keys_.size() ? uint64_t(keys_[at]) + values_[at] : 0;
                                              });
        case DO_RANGE:
            return each<K, V>(part, rows, [this](K key, K hi, V, size_t) {
                uint64_t sum = 0;
                for (size_t at = place_of(key); at < keys_.size() && keys_[at] <= hi; at++)
                    sum += uint64_t(keys_[at]) + values_[at];
                return sum;
            });
        default:
            merge(sorted(part, rows), step.call);
            return 0;
        }
    }
    void elements(std::vector<Element> &to) const override
    {
        for (size_t i = 0; i < keys_.size(); i++)
            to.emplace_back(keys_[i], values_[i]);
    }

  private:
    using Change = std::pair<K, V>;

    size_t place_of(K key) const
    {
        return size_t(std::lower_bound(keys_.begin(), keys_.end(), key) - keys_.begin());
    }
    uint64_t floor(K key) const
    {
        const auto after = std::upper_bound(keys_.begin(), keys_.end(), key) - keys_.begin();
        return after ? uint64_t(values_[size_t(after) - 1]) + 1 : 0;
    }
    static std::vector<Change> sorted(Part part, const Rows &rows)
    {
        std::vector<Change> changes;
        changes.reserve(rows.count);
        each<K, V>(part, rows, [&](K key, K, V value, size_t) { return changes.emplace_back(key, value), 0; });
        std::stable_sort(changes.begin(), changes.end(),
                         [](const Change &a, const Change &b) { return a.first < b.first; });
        return changes;
    }
    /* Merges changes. Of each key one element remains, unless it is erased: the last, or a sum. */
    void merge(const std::vector<Change> &changes, enum step_call call)
    {
        std::vector<K> keys;
        std::vector<V> values;
        keys.reserve(keys_.size() + changes.size());
        values.reserve(keys.capacity());
        size_t        i = 0;
        const Change *last = changes.data() + changes.size();
        for (const Change *from = changes.data(); from < last;) {
            const K key = from->first;
            for (; i < keys_.size() && keys_[i] < key; i++) {
                keys.push_back(keys_[i]);
                values.push_back(values_[i]);
            }
            V value = V();
            if (i < keys_.size() && keys_[i] == key)
                value = values_[i++];
            for (; from < last && from->first == key; from++)
                value = call == DO_COMBINE ? value + from->second : from->second;
            if (call != DO_ERASE) {
                keys.push_back(key);
                values.push_back(value);
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
