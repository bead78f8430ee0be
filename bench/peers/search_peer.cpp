/* SPDX-License-Identifier: Apache-2.0 */
#include <pgm/pgm_index.hpp>

#include <algorithm>
#include <exception>
#include <limits>

extern "C" {
#include "bench/peers/search_peer.h"
}

namespace {

class AnyIndex {
  public:
    virtual ~AnyIndex() = default;
    virtual size_t rank(uint64_t query) const = 0;
};

/* The library's default: it predicts ranks up to an error of 64. */
template <typename K> class Index : public AnyIndex {
  public:
    Index(const K *keys, size_t count) : keys_(keys), count_(count), index_(keys, keys + count)
    {
    }

    size_t rank(uint64_t query) const override
    {
        const K key = static_cast<K>(query);
        if (key == std::numeric_limits<K>::max())
            return count_; /* The library does not search for it. */
        const auto range = index_.search(key);
        return size_t(std::lower_bound(keys_ + range.lo, keys_ + range.hi, key) - keys_);
    }

  private:
    const K         *keys_;
    size_t           count_;
    pgm::PGMIndex<K> index_;
};

} // namespace

void *pgm_open(const void *keys, size_t key_bytes, size_t count)
{
    try {
        if (key_bytes == 4)
            return static_cast<AnyIndex *>(new Index<uint32_t>(static_cast<const uint32_t *>(keys), count));
        return static_cast<AnyIndex *>(new Index<uint64_t>(static_cast<const uint64_t *>(keys), count));
    } catch (const std::exception &) {
        return nullptr;
    }
}

void pgm_close(void *index)
{
    delete static_cast<AnyIndex *>(index);
}

size_t pgm_rank(const void *index, uint64_t query)
{
    return static_cast<const AnyIndex *>(index)->rank(query);
}
