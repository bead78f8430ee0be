/* SPDX-License-Identifier: Apache-2.0 */
/* What the probe and the self-test found is kept in the disk cache: it costs compiles and runs to find again. */
#include "internal.h"

#include <stdlib.h>

/* Numbers of fixed size, so that a file can hold nothing that the fields of a device cannot. */
struct remembered {
    uint64_t local_bytes, max_alloc_bytes;
    uint32_t lanes, atomics, sub_group, max_group;
    uint8_t  cpu, groups_progress, int64_atomics, khr_ballot, intel_sub_groups, address_order;
    char     std[sizeof((ordo_device *) 0)->std];
    char     dropped[sizeof((ordo_device *) 0)->facts.dropped];
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

/* Whether a device with these features can be so: what is remembered is the same or less. */
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
    struct ordo_facts *f = &dev->facts;
    f->local_bytes = r->local_bytes;
    f->max_alloc_bytes = r->max_alloc_bytes;
    f->lanes = (ordo_lanes) r->lanes;
    f->atomics = (ordo_atomics) r->atomics;
    f->sub_group = r->sub_group;
    f->max_group = r->max_group;
    f->cpu = r->cpu;
    f->groups_progress = r->groups_progress;
    f->int64_atomics = r->int64_atomics;
    f->address_order = r->address_order;
    memcpy(f->dropped, r->dropped, sizeof f->dropped);
    memcpy(dev->std, r->std, sizeof dev->std);
    dev->khr_ballot = r->khr_ballot;
    dev->intel_sub_groups = r->intel_sub_groups;
    f->self_test_remembered = true;
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
    const struct ordo_facts *f = &dev->facts;
    struct remembered        r;
    if (dev->probe_disturbed)
        return;
    memset(&r, 0, sizeof r); /* what is between the fields too */
    r.local_bytes = f->local_bytes;
    r.max_alloc_bytes = f->max_alloc_bytes;
    r.lanes = f->lanes;
    r.atomics = f->atomics;
    r.sub_group = f->sub_group;
    r.max_group = f->max_group;
    r.cpu = f->cpu;
    r.groups_progress = f->groups_progress;
    r.int64_atomics = f->int64_atomics;
    r.address_order = f->address_order;
    r.khr_ballot = dev->khr_ballot;
    r.intel_sub_groups = dev->intel_sub_groups;
    memcpy(r.std, dev->std, sizeof r.std);
    memcpy(r.dropped, f->dropped, sizeof r.dropped);
    ordo_cache_write(dev, "probe", key, &r, sizeof r);
}
