/* SPDX-License-Identifier: Apache-2.0 */
/* The X-fast trie: a sorted array with an index of key prefixes. It suits queries by prefix, and
 * large batches on GPUs. See share/doc/xfast.md.
 *
 * Example: finds the route of IPv4 addresses, each shifted left by 32.
 *
 *     ordo_dict *routes = NULL;
 *     ordo_xfast_create(dev, ordo_xfast_config(.dict = { .key = ORDO_U64, .value_bytes = 4 }),
 *                       &routes);
 *     uint64_t home = ordo_prefix_u64((uint64_t) 0xc0a80000 << 32, 16);
 *     ordo_dict_upsert_host(routes, &home, values, 1);
 *     ordo_xfast_longest_prefix_host(routes, queries, n, keys_out, values_out, found); */
#ifndef ORDO_XFAST_H
#define ORDO_XFAST_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_xfast_config {
    struct ordo_dict_config dict;
    /* The index has a hash table of key prefixes. Successive prefix lengths differ by `group` bits.
     * `group` is from 1 to 8, and 0 means 4. A smaller `group` makes the table larger, and queries
     * faster if many keys share a prefix. With `group` 1, the table takes up to 16 bytes per 4-byte
     * key, or 55 bytes per 8-byte key. */
    uint32_t group;
    uint64_t seed;         /* Set a random seed if untrusted users choose the keys. */
    bool     level_tables; /* a hash table per prefix length, for benchmarks (share/doc/xfast.md) */
};

/* Creates an empty X-fast trie, which supports all calls of dict.h.
 * Cost: a query of one key reads two words of an array. They bound 4 to 8 stored keys on average.
 *   The query searches these keys and reads the value. If over 16 keys share a short prefix, it
 *   also reads the hash table. ordo_dict_range and ordo_dict_select cost as in a sorted array. An
 *   update sorts its elements and merges them with all keys. If they are at least a sixteenth of
 *   all keys, the update rebuilds the index. Otherwise it drops the index, and queries cost as in a
 *   sorted array, until they have searched for a sixteenth of all keys. The query that reaches this
 *   number first rebuilds the index.
 * Memory: keys and values, and 0.5 to 1 byte per key for the array (up to 256 MiB). For clustered
 *   keys, the hash table takes up to 4 bytes per 4-byte key, or 14 bytes per 8-byte key.
 *   share/doc/xfast.md describes the temporary memory.
 * Blocking: an update waits for the device two to five times, a query that rebuilds the index up to
 *   three times.
 * Concurrency: as the HAMT (hamt.h). */
ORDO_API ordo_status ordo_xfast_create(ordo_device *device, const struct ordo_xfast_config *config,
                                       ordo_dict **out);

/* ---- prefixes -----------------------------------------------------------------------------
 *
 * For X-fast tries with keys of type ORDO_U32 or ORDO_U64. Other dictionaries return
 * ORDO_UNSUPPORTED. Outputs must not overlap inputs. If there is no index, these calls
 * build it and wait, or return ORDO_NO_DEVICE_MEMORY. */

/* Sets counts[i] (uint32_t) to the number of stored keys that have the same first lengths[i]
 * (uint8_t) bits as keys[i]. Length 0 counts all keys. If lengths[i] exceeds the bits of a key, all
 * bits are compared.
 * Cost: with n keys, two reads for a prefix of up to about log2(n / 8) bits. For a longer prefix,
 *   also a lookup in the hash table, or two searches among few keys. */
ORDO_API ordo_status ordo_xfast_count_prefix(ordo_dict *dict, struct ordo_slice keys,
                                             struct ordo_slice lengths, size_t count,
                                             struct ordo_slice        counts,
                                             const struct ordo_order *order);
ORDO_API ordo_status ordo_xfast_count_prefix_host(ordo_dict *dict, const void *keys,
                                                  const uint8_t *lengths, size_t count,
                                                  uint32_t *counts);

/* Encodes a prefix as a key: the bits of the prefix, then a 1, then zeros. The prefix is the
 * `length` most significant bits of `bits`. ordo_prefix_u32 takes at most 31 bits, ordo_prefix_u64
 * at most 63 bits.
 *     IPv4   ordo_prefix_u64((uint64_t) address << 32, length), or ordo_prefix_u32(address, length)
 *            if no prefix has 32 bits
 *     IPv6   ordo_prefix_u64(upper << 3, length - 3), where `upper` is the upper half of a global
 *            address. The shift drops the first bits 001, which all global addresses have. */
static inline uint32_t ordo_prefix_u32(uint32_t bits, unsigned length)
{
    return (bits >> (31 - length) | 1) << (31 - length);
}
static inline uint64_t ordo_prefix_u64(uint64_t bits, unsigned length)
{
    return (bits >> (63 - length) | 1) << (63 - length);
}
/* Returns the length of an encoded prefix in bits. Returns 32 or 64 for key 0, which is no
 * prefix. */
static inline unsigned ordo_prefix_u32_length(uint32_t prefix)
{
    unsigned length = 32;
    for (; prefix; prefix <<= 1)
        length = length == 32 ? 0 : length + 1;
    return length;
}
static inline unsigned ordo_prefix_u64_length(uint64_t prefix)
{
    unsigned length = 64;
    for (; prefix; prefix <<= 1)
        length = length == 64 ? 0 : length + 1;
    return length;
}

/* Finds the longest stored prefix of keys[i] for each i. prefixes_out[i] receives the encoded
 * prefix, and values_out[i] its value. found[i] (a byte) becomes 1. If no stored prefix matches,
 * found[i] becomes 0 and the other outputs stay unchanged. Outputs are optional.
 * Cost: two lookups and one more read per key. The first call after an update also makes 1 to 4
 *   lookups for each stored key.
 * Memory: as many bytes as all stored keys take, until the next update. */
ORDO_API ordo_status ordo_xfast_longest_prefix(ordo_dict *dict, struct ordo_slice keys,
                                               size_t count, struct ordo_slice prefixes_out,
                                               struct ordo_slice        values_out,
                                               struct ordo_slice        found,
                                               const struct ordo_order *order);
ORDO_API ordo_status ordo_xfast_longest_prefix_host(ordo_dict *dict, const void *keys, size_t count,
                                                    void *prefixes_out, void *values_out,
                                                    uint8_t *found);

#ifndef __cplusplus
#define ordo_xfast_config(...) (&(struct ordo_xfast_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
