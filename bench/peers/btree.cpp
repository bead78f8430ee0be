/* SPDX-License-Identifier: Apache-2.0 */
#include "host_map.hpp"

#if BENCH_BTREE
#include <absl/base/config.h>
#include <absl/container/btree_map.h>

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x
#ifdef ABSL_LTS_RELEASE_VERSION
#define BTREE_VERSION "Abseil " TEXT_OF(ABSL_LTS_RELEASE_VERSION)
#else
#define BTREE_VERSION "Abseil"
#endif

template <typename K, typename V> using BtreeMap = NodeMap<absl::btree_map<K, V>>;

host_map *open_btree(size_t key_bytes, size_t value_bytes)
{
    return open_one<BtreeMap>(key_bytes, value_bytes);
}

const char *btree_version()
{
    return BTREE_VERSION;
}

#else

host_map *open_btree(size_t, size_t)
{
    return nullptr;
}

const char *btree_version()
{
    return nullptr;
}

#endif
