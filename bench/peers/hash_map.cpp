/* SPDX-License-Identifier: Apache-2.0 */
#include "host_map.hpp"

#if BENCH_HASH_MAP
#include <absl/base/config.h>
#include <absl/container/flat_hash_map.h>

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x
#ifdef ABSL_LTS_RELEASE_VERSION
#define HASH_MAP_VERSION "Abseil " TEXT_OF(ABSL_LTS_RELEASE_VERSION)
#else
#define HASH_MAP_VERSION "Abseil"
#endif

template <typename K, typename V> using FlatHashMap = HashMap<absl::flat_hash_map<K, V>>;

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
