/* SPDX-License-Identifier: Apache-2.0 */
/* Caches the detected features of a device and the results of its self-test on disk. */
#include "internal.h"

#include <stdlib.h>

/* Cached members: X(type of fixed size, name in the file, name in ordo_device). */
#define REMEMBERED_MAP(X)                                                                                              \
    X(uint64_t, local_bytes, facts.local_bytes)                                                                        \
    X(uint64_t, max_alloc_bytes, facts.max_alloc_bytes)                                                                \
    X(uint32_t, lanes, facts.lanes)                                                                                    \
    X(uint32_t, atomics, facts.atomics)                                                                                \
    X(uint32_t, sub_group, facts.sub_group)                                                                            \
    X(uint32_t, max_group, facts.max_group)                                                                            \
    X(uint8_t, cpu, facts.cpu)                                                                                         \
    X(uint8_t, groups_progress, facts.groups_progress)                                                                 \
    X(uint8_t, int64_atomics, facts.int64_atomics)                                                                     \
    X(uint8_t, address_order, facts.address_order)                                                                     \
    X(uint8_t, khr_ballot, khr_ballot)                                                                                 \
    X(uint8_t, intel_sub_groups, intel_sub_groups)

struct remembered {
#define X(type, field, place) type field;
    REMEMBERED_MAP(X)
#undef X
    char std[sizeof((ordo_device *) 0)->std];
    char dropped[sizeof((ordo_device *) 0)->facts.dropped];
};

ordo_status ordo_memory_key(ordo_device *dev, const char *mask, struct ordo_digest *out)
{
    const struct ordo_digest sources = ordo_sources_digest(dev);
    *out = ORDO_DIGEST_TEXT(ordo_digest_of(dev->identity, &sources, sizeof sources), mask);
    return ordo_profile_digest(dev, out);
}

static bool are_flags(const struct remembered *r)
{
    return r->cpu <= 1 && r->groups_progress <= 1 && r->int64_atomics <= 1 && r->khr_ballot <= 1 &&
           r->intel_sub_groups <= 1 && r->address_order <= 1;
}

static bool are_texts(const struct remembered *r)
{
    return memchr(r->std, 0, sizeof r->std) && memchr(r->dropped, 0, sizeof r->dropped) &&
           (!r->std[0] || strncmp(r->std, "-cl-std=", 8) == 0);
}

static bool fits(const struct remembered *r, const struct ordo_facts *f)
{
    const bool one = r->lanes == ORDO_LANES_ONE;
    return are_flags(r) && are_texts(r) && r->lanes <= ORDO_LANES_AMD && r->atomics <= ORDO_ATOMICS_NVIDIA &&
           r->sub_group >= 1 && r->sub_group <= 64 && (r->sub_group & (r->sub_group - 1)) == 0 &&
           one == (r->sub_group == 1) && r->max_group >= 1 && r->max_group <= f->max_group && r->cpu <= f->cpu &&
           r->local_bytes <= f->local_bytes && r->max_alloc_bytes <= f->max_alloc_bytes;
}

static void take(ordo_device *dev, const struct remembered *r)
{
#define X(type, field, place) dev->place = r->field;
    REMEMBERED_MAP(X)
#undef X
    memcpy(dev->facts.dropped, r->dropped, sizeof r->dropped);
    memcpy(dev->std, r->std, sizeof r->std);
    dev->facts.self_test_remembered = true;
}

bool ordo_recall(ordo_device *dev, struct ordo_digest key)
{
    size_t             bytes = 0;
    struct remembered *r = ordo_cache_read(dev, "probe", key, &bytes);
    const bool         good = r && bytes == sizeof *r && fits(r, &dev->facts);
    if (good)
        take(dev, r);
    free(r);
    return good;
}

void ordo_remember(ordo_device *dev, struct ordo_digest key)
{
    struct remembered r;
    if (dev->probe_disturbed)
        return;
    memset(&r, 0, sizeof r); /* The padding is written to the file, too. */
#define X(type, field, place) r.field = (type) dev->place;
    REMEMBERED_MAP(X)
#undef X
    memcpy(r.std, dev->std, sizeof r.std);
    memcpy(r.dropped, dev->facts.dropped, sizeof r.dropped);
    ordo_cache_write(dev, "probe", key, &r, sizeof r);
}
