/* SPDX-License-Identifier: Apache-2.0 */
/* The disk cache and the device facts in it. Bit 0 of an input's first byte: 0, the rest is a file of the cache; 1, the
 * rest is the content of a sealed file. */
#include "fuzz.h"

#include "runtime/internal.h"

#include <stdio.h>
#include <stdlib.h>

static const struct ordo_digest key = { 0x0123456789abcdefULL, 0xfedcba9876543210ULL };
#define ENTRY "probe-fedcba98765432100123456789abcdef"

static ordo_device *device_with_cache(void)
{
    ordo_device *dev = fuzz_device();
    FUZZ_EXPECT((dev->cache_dir = ordo_format("%s", fuzz_dir())) != NULL);
    dev->facts.cpu = true;
    dev->facts.max_group = 4096;
    dev->facts.local_bytes = 524288;
    dev->facts.max_alloc_bytes = 2147483648u;
    return dev;
}

/* The entry as a file; the caller frees it. */
static char *file_of_entry(size_t *bytes)
{
    char  path[FUZZ_PATH];
    char *data = malloc(1u << 20);
    (void) snprintf(path, sizeof path, "%s/%s", fuzz_dir(), ENTRY);
    FILE *file = fopen(path, "rb");
    FUZZ_EXPECT(file && data);
    *bytes = fread(data, 1, 1u << 20, file);
    (void) fclose(file);
    return data;
}

/* An entry that is read must equal a written one. */
static void check_file(ordo_device *dev, const uint8_t *file, size_t file_bytes)
{
    char   path[FUZZ_PATH];
    size_t bytes = 0, again_bytes = 0;
    fuzz_write(ENTRY, file, file_bytes, path);
    char *content = ordo_cache_read(dev, "probe", key, &bytes);
    if (!content)
        return;
    FUZZ_EXPECT(bytes < file_bytes && content[bytes] == 0);
    ordo_cache_write(dev, "probe", key, content, bytes);
    char *again = file_of_entry(&again_bytes);
    FUZZ_EXPECT(again_bytes == file_bytes && memcmp(again, file, file_bytes) == 0);
    free(again);
    free(content);
}

static void check_content(ordo_device *dev, const uint8_t *content, size_t content_bytes)
{
    size_t bytes = 0;
    ordo_cache_write(dev, "probe", key, content, content_bytes);
    char *read = ordo_cache_read(dev, "probe", key, &bytes);
    FUZZ_EXPECT(read && bytes == content_bytes && (bytes == 0 || memcmp(read, content, bytes) == 0));
    free(read);
}

static bool are_same(const struct ordo_facts *a, const struct ordo_facts *b)
{
    return memcmp((const char *) a, (const char *) b, sizeof *a) == 0; /* gaps are zeros, too */
}

/* Recalled facts must be facts of a possible device. */
static void check_recall(ordo_device *dev)
{
    const struct ordo_facts *f = &dev->facts;
    struct ordo_facts        before;
    memcpy(&before, f, sizeof before);
    if (!ordo_recall(dev, key)) {
        FUZZ_EXPECT(are_same(&before, f));
        return;
    }
    FUZZ_EXPECT(f->lanes <= ORDO_LANES_AMD && f->atomics <= ORDO_ATOMICS_NVIDIA && f->self_test_remembered);
    FUZZ_EXPECT((f->lanes == ORDO_LANES_ONE) == (f->sub_group == 1) && f->sub_group >= 1 && f->sub_group <= 64);
    FUZZ_EXPECT(f->max_group >= 1 && f->max_group <= before.max_group && f->local_bytes <= before.local_bytes);
    FUZZ_EXPECT(f->max_alloc_bytes <= before.max_alloc_bytes);
    FUZZ_EXPECT(memchr(f->dropped, 0, sizeof f->dropped) && memchr(dev->std, 0, sizeof dev->std));

    ordo_device *other = device_with_cache();
    ordo_remember(dev, key);
    FUZZ_EXPECT(ordo_recall(other, key) && are_same(&other->facts, f));
    ordo_device_close(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0)
        return 0;
    ordo_device *dev = device_with_cache();
    if (data[0] & 1)
        check_content(dev, data + 1, bytes - 1);
    else
        check_file(dev, data + 1, bytes - 1);
    check_recall(dev);
    ordo_device_close(&dev);
    return 0;
}
