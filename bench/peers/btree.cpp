/* SPDX-License-Identifier: Apache-2.0 */
#include "btree.h"

#include <absl/container/btree_map.h>

#include <new>

/* What the four kinds of tree have in common. */
struct btree {
    virtual ~btree() = default;
    virtual void     put(const void *keys, const void *values, size_t count) = 0;
    virtual void     erase(const void *keys, size_t count) = 0;
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
