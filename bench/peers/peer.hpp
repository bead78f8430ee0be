/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of ordo-peer. */
#pragma once

#include "peer_run.hpp"

#include <thrust/device_vector.h>

/* Bytes on the device; 0 bytes: no array. */
using Array = thrust::device_vector<unsigned char>;

inline Array array_of(size_t bytes, const void *from = nullptr)
{
    const auto *first = static_cast<const unsigned char *>(from);
    return from ? Array(first, first + bytes) : Array(bytes, POISON_BYTE);
}
template <typename T> T *as(Array &array)
{
    return reinterpret_cast<T *>(thrust::raw_pointer_cast(array.data()));
}
inline std::vector<unsigned char> read(const Array &array)
{
    std::vector<unsigned char> host(array.size());
    thrust::copy(array.begin(), array.end(), host.begin());
    return host;
}

/* The hash tables that can run the row, with new keys and values. */
std::vector<Peer> hash_peers(const struct spec &spec);
/* The B-trees that can run the row, with new keys and values. */
std::vector<Peer> tree_peers(const struct spec &spec);
