/* SPDX-License-Identifier: Apache-2.0 */
#include "host_map.hpp"

#if BENCH_ROBIN_MAP
#include <tsl/robin_map.h>

template <typename K, typename V> using RobinMap = HashMap<tsl::robin_map<K, V>>;

host_map *open_robin_map(size_t key_bytes, size_t value_bytes)
{
    return open_one<RobinMap>(key_bytes, value_bytes);
}

const char *robin_map_version()
{
    return "robin-map"; /* its headers do not say which */
}

#else

host_map *open_robin_map(size_t, size_t)
{
    return nullptr;
}

const char *robin_map_version()
{
    return nullptr;
}

#endif
