/* SPDX-License-Identifier: Apache-2.0 */
/* Sets in the Roaring portable format with 32-bit and 64-bit keys, on the device here. A plain reader, which libFuzzer
 * follows, finds which inputs are sets. Other inputs are refused, change nothing, and take no memory out of proportion
 * to their size. */
#include "fuzz.h"

#include "tests/trie/roaring_plain.h"

#include "ordo/hamt.h"

#include <stdio.h>
#include <string.h>

/* Bytes of memory for each input byte, and for each key of a set. */
enum { BYTES_A_BYTE = 64, BYTES_A_KEY = 64, BYTES_MIN = 1 << 20 };

/* A container of each form fits. A run of 4 bytes can be 65536 keys, so larger sets are left out. */
enum { BYTES_MAX = 9000, KEYS_MAX = 1 << 18 };

static const uint32_t held[] = { 7, 70000, 0xffffffff };
enum { N_HELD = sizeof held / sizeof *held };

static ordo_device *device(void)
{
    static ordo_device *dev;
    static bool         asked;

    if (!asked && ordo_device_open(&(struct ordo_device_config) { .log = NULL }, &dev) != ORDO_OK)
        (void) fprintf(stderr, "no device: only the plain reader is run\n");
    asked = true;
    return dev;
}

static ordo_dict *make(ordo_device *dev, bool wide)
{
    static ordo_dict *of[2];
    const uint64_t    keys[N_HELD] = { held[0], held[1], held[2] };

    if (!of[wide])
        FUZZ_EXPECT(ordo_hamt_create(dev, ordo_hamt_config(.dict = { wide ? ORDO_U64 : ORDO_U32, 0 }), &of[wide]) ==
                    ORDO_OK);
    FUZZ_EXPECT(ordo_dict_build_host(of[wide], wide ? (const void *) keys : held, NULL, N_HELD) == ORDO_OK);
    return of[wide];
}

static uint64_t key_at(const void *keys, bool wide, size_t i)
{
    return wide ? ((const uint64_t *) keys)[i] : ((const uint32_t *) keys)[i];
}

static void expect_keys(ordo_dict *dict, bool wide, const struct reader *plain)
{
    const size_t n = plain->wrong ? N_HELD : plain->n_keys;
    void        *keys = malloc((n + 1) * sizeof(uint64_t));
    size_t       count = 0;

    FUZZ_EXPECT(keys && ordo_dict_export_host(dict, keys, NULL, n + 1, &count) == ORDO_OK && count == n);
    for (size_t i = 0; i < n; i++)
        FUZZ_EXPECT(key_at(keys, wide, i) == (plain->wrong ? held[i] : plain->keys[i]));
    free(keys);
}

static void read_as(ordo_device *dev, const uint8_t *data, size_t bytes, bool wide)
{
    struct reader      plain = plain_read(data, bytes, wide, KEYS_MAX);
    struct ordo_memory before, after;

    if (dev && plain.n_keys < KEYS_MAX) {
        ordo_dict *dict = make(dev, wide);
        FUZZ_EXPECT(ordo_device_memory(dev, &before) == ORDO_OK);
        const ordo_status got = ordo_hamt_read_roaring_host(dict, data, bytes);
        FUZZ_EXPECT(ordo_device_memory(dev, &after) == ORDO_OK);
        const size_t most =
            before.held_bytes + BYTES_MIN + bytes * BYTES_A_BYTE + (plain.wrong ? 0 : plain.n_keys * BYTES_A_KEY);
        FUZZ_EXPECT(got == (plain.wrong ? ORDO_INVALID : ORDO_OK));
        FUZZ_EXPECT(after.held_peak_bytes <= before.held_peak_bytes || after.held_peak_bytes <= most);
        expect_keys(dict, wide, &plain);
    }
    free(plain.keys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes > BYTES_MAX)
        return 0;
    for (int wide = 0; wide < 2; wide++)
        read_as(device(), data, bytes, wide != 0);
    return 0;
}
