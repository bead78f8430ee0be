/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values of CUDA dictionaries. They use all ones for "no key" and "no value". */
#pragma once

#include "peer.hpp"

#include <algorithm>
#include <cstdint>

template <typename T> constexpr T none = T(~T(0));

/* The top bit is never set. */
template <typename K, typename V> V value_of_key(K key)
{
    return V((uint64_t(key) * 0x9e3779b97f4a7c15ull >> (64 - 8 * sizeof(V))) & (none<V> >> 1));
}

/* Ascending, without all ones. */
template <typename K> std::vector<K> distinct_keys(const struct spec &spec)
{
    std::vector<K> keys(spec.count);
    keys_draw(spec.type, spec.dist, spec.seed, spec.count, keys.data());
    std::replace(keys.begin(), keys.end(), none<K>, K(0));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}
