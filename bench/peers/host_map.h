/* SPDX-License-Identifier: Apache-2.0 */
/* Maps in main memory: what a program would use that has no device. Keys are in ordered form (workload.h); values
 * have 4 or 8 bytes (of none, 4). */
#ifndef BENCH_HOST_MAP_H
#define BENCH_HOST_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum host_map_kind {
    HOST_BTREE,         /* absl::btree_map */
    HOST_STD_MAP,       /* std::map */
    HOST_SORTED_ARRAY,  /* keys and values in two std::vectors; a batch is sorted and merged in */
    HOST_FLAT_HASH_MAP, /* absl::flat_hash_map: no order, so nothing below that goes by it */
    HOST_ROBIN_MAP,     /* tsl::robin_map: the same */
    N_HOST_MAPS
};

/* "absl::btree_map" and so on; the library and its version, NULL if it is not built in. */
const char *host_map_name(enum host_map_kind kind);
const char *host_map_version(enum host_map_kind kind);

struct host_map;

/* NULL if memory ran out, or it is not built in. */
struct host_map *host_map_open(enum host_map_kind kind, size_t key_bytes, size_t value_bytes);
void             host_map_close(struct host_map *map);

/* Keys from lo to hi: those between are left to others. */
struct host_part {
    uint64_t lo, hi;
};
#define HOST_ALL ((struct host_part) { 0, UINT64_MAX })

/* One by one: stores, or replaces; `values` is NULL for values of no bytes. Keys that are not of the part are passed over. */
void host_map_put(struct host_map *map, struct host_part part, const void *keys, const void *values, size_t count);
void host_map_erase(struct host_map *map, struct host_part part, const void *keys, size_t count);
/* To what is there, or to 0. */
void host_map_add(struct host_map *map, struct host_part part, const void *keys, const void *values, size_t count);

/* Not of the sorted array. */
void host_map_erase_range(struct host_map *map, const void *los, const void *his, size_t count);

/* Each returns a sum of what was found, so that the search is not left out: of finds and floors of values and 1, of the next keys and of ranges
 * of keys and values. */
uint64_t host_map_find(const struct host_map *map, const void *keys, size_t count);
uint64_t host_map_seek(const struct host_map *map, const void *keys, size_t count); /* the next key */
uint64_t host_map_floor(const struct host_map *map, const void *keys,
                        size_t count); /* the last key not greater: values */
uint64_t host_map_range(const struct host_map *map, const void *keys, const void *his, size_t count);

/* Not of the sorted array. */
uint64_t host_map_take_first(struct host_map *map, size_t count);
uint64_t host_map_peek(const struct host_map *map, bool last, size_t count);
/* A mixed batch; codes are ORDO_FIND to ORDO_RANGE. */
uint64_t host_map_apply(struct host_map *map, const uint8_t *codes, const void *keys, const void *his,
                        const void *values, size_t count);

/* How many keys there are; the sum over all of key, value and place, each times an odd number: `place` is that of the first. */
size_t   host_map_count(const struct host_map *map);
uint64_t host_map_sum(const struct host_map *map, size_t place);
/* What one element adds to it. */
static inline uint64_t host_map_share(uint64_t key, uint64_t value, size_t place)
{
    const uint64_t mixed = key * 0x9e3779b97f4a7c15u + value * 0xc2b2ae3d27d4eb4fu + place * 0x165667b19e3779f9u;
    return mixed ^ mixed >> 29;
}

#ifdef __cplusplus
}
#endif

#endif
