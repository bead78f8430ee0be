/* SPDX-License-Identifier: Apache-2.0 */
/* The X-fast trie: a sorted array in which the ranges of keys that share a prefix are at hand.
 *
 *     leaves    one sorted run of distinct keys
 *     flat      where the leaves of each short prefix begin: an array
 *     table     where those of longer prefixes begin and end: one hash table for all lengths, of the prefixes with more than 16
 *               leaves
 *
 * After D. E. Willard, "Log-Logarithmic Worst-Case Range Queries are Possible in Space Theta(N)", IPL 17(2), 1983 (X-fast and
 * y-fast tries), and Y. Hubaut, J. Iacono, "Fast dynamic predecessor query on GPU" (grouped levels). There every prefix of every
 * key has an entry with its least and its greatest leaf, and leaves are linked; here a prefix is a range of places, which says
 * both and how many there are, and of few keys no prefix has an entry. */
#ifndef ORDO_XFAST_H
#define ORDO_XFAST_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_xfast_config {
    struct ordo_dict_config dict;
    /* Bits from one length of prefixes in the table to the next: 1 to 8; 0: 4. Less means fewer keys to search through where they are
     * crowded, and more entries: with 1 up to 16 bytes a key, of 8-byte keys 55. */
    uint32_t group;
    /* Seed of the table of prefixes, as in ordo_hash_config: a random number where keys come from
     * others. */
    uint64_t seed;
};

/* An empty X-fast trie. It does all of dict.h but concurrent batches.
 * Cost    a find, a seek, a rank: the two entries of flat next to each other, then a binary search of 4 to 8 keys in the mean,
 *         which lie in one or two sectors, and the value; a count is two ranks. Where keys are crowded (more than 16 in a range of flat) first
 *         a binary search over lengths: up to 3 lookups in the table, of 8-byte keys 4 (with `group` 1: 5 and 6); then one of the keys under
 *         the longest prefix that is there. Ranges and selections: as of the sorted array. An update of b elements into n: a
 *         sort of b, a merge of all, and flat and table anew: n keys are read twice more, and each entry of the table is
 *         hashed. It waits twice, and up to three times more where the table has entries.
 *         On an H200, of 2^24 u32 keys with 4-byte values, in G/s: finds and seeks 15, ranks 27 of uniform keys, 11 and 14 of clustered
 *         ones; batches of 2^20 new keys 1.3.
 * Memory  a build holds at its peak the keys and values twice, 14 bytes a key, and 4 MiB.
 *         After it: keys and values, 0.5 to 1 byte a key for flat (up to 256 MiB), and the table: of uniform keys next to nothing, of keys in
 *         clusters up to 4 bytes a key, of 8-byte keys 14. An update holds the leaves twice and 4 bytes a
 *         key, and of the table what the hash table's header says. Without the memory for flat and table there are none until the next
 *         update or compact: queries then go by a search tree of the sorted array's (ordo_device_last_error and the log say so).
 * When not  keys that change in small batches: an update costs time for all keys, so that 2^10 of them cost nearly what 2^20 do: an LSM
 *         or a B-link tree. Single keys alone, without order: the hash table. Little memory to spare for updates: the
 *         B-link tree. A CPU: the sorted array answers sooner there, and says what is under a prefix, which is an interval, and which prefix is
 *         the longest, if it holds where each stretch of addresses with one longest prefix begins (3 to 4 times as many a second on two cores);
 *         but each change of a prefix changes stretches, and of n prefixes there are up to 2 n. */
ORDO_API ordo_status ordo_xfast_create(ordo_device *device, const struct ordo_xfast_config *config, ordo_dict **out);

/* ---- prefixes ------------------------------------------------------------------------------------------------
 *
 * Of dictionaries that ordo_xfast_create made, with keys of ORDO_U32 or ORDO_U64; others: ORDO_UNSUPPORTED. As with every query of
 * dict.h outputs must not overlap inputs. After a change for which there was no memory for flat and table the next of these calls
 * makes them, and waits; it is ORDO_NO_DEVICE_MEMORY if there still is none. */

/* counts[i] (uint32_t) = how many keys have the same first lengths[i] bits (uint8_t) as keys[i]. Of length 0 these are all keys; a
 * length above the bits of a key counts as these.
 * Cost     up to the bits of flat: two entries of it. Longer: one lookup in the table, if the prefix has an entry there, else two
 *          ranks of few keys. */
ORDO_API ordo_status ordo_xfast_count_prefix(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice lengths,
                                             size_t count, struct ordo_slice counts, const struct ordo_order *order);
ORDO_API ordo_status ordo_xfast_count_prefix_host(ordo_dict *dict, const void *keys, const uint8_t *lengths,
                                                  size_t count, uint32_t *counts);

/* A prefix as a key, so that a dictionary holds a set of prefixes, each with its value: its bits from the top, a 1, and zeros. It has
 * 0 to 31 bits (ordo_prefix_u32), or 0 to 63; bits beyond `length` do not count. Key 0 is no prefix.
 *     IPv4   ordo_prefix_u64((uint64_t) address << 32, length), up to 32 bits; or in u32 up to 31: a /32 has no room
 *     IPv6   ordo_prefix_u64(upper half << 3, length - 3): global addresses all begin with 001, so a /64 has 61 bits */
static inline uint32_t ordo_prefix_u32(uint32_t bits, unsigned length)
{
    return (bits >> (31 - length) | 1) << (31 - length);
}
static inline uint64_t ordo_prefix_u64(uint64_t bits, unsigned length)
{
    return (bits >> (63 - length) | 1) << (63 - length);
}
/* How many bits the prefix has that a key is; of 0, which is none, 32 or 64. */
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

/* The longest prefix in the dictionary whose bits keys[i] begins with: the route of an address, the subnet that it is in. keys[i] has
 * all its bits (IPv4 in u64: address << 32). prefixes_out[i] is the prefix as a key, values_out[i] its value; both are left
 * alone where there is none, and found[i] (one byte) is 0. Each output may be ordo_none().
 * Cost     a rank, a word of memory, and for the value a find. The first call after a change makes the words, a key's bytes for each
 *          element: every 32nd is tried for all of its lengths, which comes to one to four finds an element.
 *          On an H200, of 2^20 prefixes in u32, 2^22 queries at once: 20 G/s, with values 12; the words 0.1 to 1.6 ms.
 * Memory   the words, until the next change. */
ORDO_API ordo_status ordo_xfast_longest_prefix(ordo_dict *dict, struct ordo_slice keys, size_t count,
                                               struct ordo_slice prefixes_out, struct ordo_slice values_out,
                                               struct ordo_slice found, const struct ordo_order *order);
ORDO_API ordo_status ordo_xfast_longest_prefix_host(ordo_dict *dict, const void *keys, size_t count, void *prefixes_out,
                                                    void *values_out, uint8_t *found);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_xfast_config(...) (&(struct ordo_xfast_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
