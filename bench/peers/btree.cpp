/* SPDX-License-Identifier: Apache-2.0 */
#include "btree.h"

#include "ordo/dict.h"

#include <absl/container/btree_map.h>

#include <iterator>
#include <new>

/* What the four kinds of tree have in common. */
struct btree {
    virtual ~btree() = default;
    virtual void     put(const void *keys, const void *values, size_t count) = 0;
    virtual void     erase(const void *keys, size_t count) = 0;
    virtual void     add(const void *keys, const void *values, size_t count) = 0;
    virtual void     erase_range(const void *los, const void *his, size_t count) = 0;
    virtual uint64_t take_first(size_t count) = 0;
    virtual uint64_t peek(bool last, size_t count) const = 0;
    virtual uint64_t apply(const uint8_t *codes, const void *keys, const void *his, const void *values,
                           size_t count) = 0;
    virtual uint64_t find(const void *keys, size_t count) const = 0;
    virtual uint64_t seek(const void *keys, size_t count) const = 0;
    virtual uint64_t range(const void *keys, const void *his, size_t count) const = 0;
};

namespace {

template <typename K, typename V> class Tree final : public btree {
  public:
    void put(const void *keys_, const void *values_, size_t count) override
    {
        const K *keys = static_cast<const K *>(keys_);
        const V *values = static_cast<const V *>(values_);
        for (size_t i = 0; i < count; i++)
            map_.insert_or_assign(keys[i], values ? values[i] : V());
    }
    void erase(const void *keys_, size_t count) override
    {
        const K *keys = static_cast<const K *>(keys_);
        for (size_t i = 0; i < count; i++)
            map_.erase(keys[i]);
    }
    void add(const void *keys_, const void *values_, size_t count) override
    {
        const K *keys = static_cast<const K *>(keys_);
        const V *values = static_cast<const V *>(values_);
        for (size_t i = 0; i < count; i++)
            map_[keys[i]] += values[i];
    }
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
            sum += end->first + end->second;
        map_.erase(map_.begin(), end);
        return sum;
    }
    uint64_t peek(bool last, size_t count) const override
    {
        uint64_t sum = 0;
        if (last)
            for (auto at = map_.rbegin(); at != map_.rend() && count-- > 0; ++at)
                sum += at->first + at->second;
        else
            for (auto at = map_.begin(); at != map_.end() && count-- > 0; ++at)
                sum += at->first + at->second;
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
    uint64_t find(const void *keys_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            const auto at = map_.find(keys[i]);
            sum += at == map_.end() ? 0 : at->second + 1;
        }
        return sum;
    }
    uint64_t seek(const void *keys_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            const auto at = map_.lower_bound(keys[i]);
            sum += at == map_.end() ? 0 : at->first + at->second;
        }
        return sum;
    }
    uint64_t range(const void *keys_, const void *his_, size_t count) const override
    {
        const K *keys = static_cast<const K *>(keys_), *his = static_cast<const K *>(his_);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++)
            for (auto at = map_.lower_bound(keys[i]); at != map_.end() && at->first <= his[i]; ++at)
                sum += at->first + at->second;
        return sum;
    }

  private:
    template <typename At> uint64_t at(At at) const
    {
        return at == map_.end() ? 0 : at->first + at->second;
    }
    uint64_t at_last_before(typename absl::btree_map<K, V>::const_iterator end) const
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

    absl::btree_map<K, V> map_;
};

} // namespace

struct btree *btree_open(size_t key_bytes, size_t value_bytes)
{
    if (key_bytes == 4)
        return value_bytes == 8 ? static_cast<btree *>(new (std::nothrow) Tree<uint32_t, uint64_t>)
                                : new (std::nothrow) Tree<uint32_t, uint32_t>;
    return value_bytes == 8 ? static_cast<btree *>(new (std::nothrow) Tree<uint64_t, uint64_t>)
                            : new (std::nothrow) Tree<uint64_t, uint32_t>;
}

void btree_close(struct btree *tree)
{
    delete tree;
}

void btree_put(struct btree *tree, const void *keys, const void *values, size_t count)
{
    tree->put(keys, values, count);
}

void btree_erase(struct btree *tree, const void *keys, size_t count)
{
    tree->erase(keys, count);
}

uint64_t btree_find(const struct btree *tree, const void *keys, size_t count)
{
    return tree->find(keys, count);
}

uint64_t btree_seek(const struct btree *tree, const void *keys, size_t count)
{
    return tree->seek(keys, count);
}

uint64_t btree_range(const struct btree *tree, const void *keys, const void *his, size_t count)
{
    return tree->range(keys, his, count);
}

void btree_add(struct btree *tree, const void *keys, const void *values, size_t count)
{
    tree->add(keys, values, count);
}

void btree_erase_range(struct btree *tree, const void *los, const void *his, size_t count)
{
    tree->erase_range(los, his, count);
}

uint64_t btree_take_first(struct btree *tree, size_t count)
{
    return tree->take_first(count);
}

uint64_t btree_peek(const struct btree *tree, bool last, size_t count)
{
    return tree->peek(last, count);
}

uint64_t btree_apply(struct btree *tree, const uint8_t *codes, const void *keys, const void *his, const void *values,
                     size_t count)
{
    return tree->apply(codes, keys, his, values, count);
}
