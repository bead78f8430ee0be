/* SPDX-License-Identifier: Apache-2.0 */
/* CRoaring on one thread, if it is here. */
#include "host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if BENCH_CROARING
#include <roaring/roaring.h>

struct kind {
    enum workload workload;
    const char   *name, *call;
    bool          optimizes; /* each call begins with a set without runs */
};

static const struct kind kinds[] = {
    { READROARING, "CRoaring", "portable_deserialize_safe and free; the order of the keys is not checked", false },
    { WRITEROARING, "CRoaring", "portable_serialize of a set that has runs already", false },
    { WRITEROARING, "CRoaring+runs", "run_optimize of a set without runs, and portable_serialize", true },
};
#define N_KINDS ((int) (sizeof kinds / sizeof *kinds))

struct host_set {
    const struct kind   *kind;
    const struct inputs *in;
    roaring_bitmap_t    *set;
    char                *bytes;
};

static void drop(struct host_set *s)
{
    if (s->set)
        roaring_bitmap_free(s->set);
    s->set = NULL;
}

static bool make(struct host_set *s)
{
    drop(s);
    s->set = roaring_bitmap_of_ptr(s->in->kept, s->in->keys);
    return s->set;
}

static struct elapsed run(void *set_, int calls)
{
    struct host_set *s = set_;
    if (s->kind->optimizes && !make(s))
        return (struct elapsed) { -1, 0 };
    const struct elapsed before = elapsed_now();
    for (int i = 0; i < calls; i++) {
        if (s->kind->workload == READROARING) {
            drop(s);
            s->set = roaring_bitmap_portable_deserialize_safe(s->in->rows, s->in->set_bytes);
            continue;
        }
        if (s->kind->optimizes)
            roaring_bitmap_run_optimize(s->set);
        roaring_bitmap_portable_serialize(s->set, s->bytes);
    }
    return elapsed_since(before);
}

int roaring_peers(const struct spec *spec, struct host_peer peers[HOST_PEERS_MAX])
{
    static char version[40];
    int         n = 0;
    snprintf(version, sizeof version, "CRoaring %d.%d.%d", ROARING_VERSION_MAJOR, ROARING_VERSION_MINOR,
             ROARING_VERSION_REVISION);
    for (int k = 0; k < N_KINDS; k++)
        if (kinds[k].workload == spec->workload)
            peers[n++] = (struct host_peer) { kinds[k].name, version, kinds[k].call, k, 1, 0 };
    return n;
}

static bool is_right(struct host_set *s, const struct spec *spec, char *why)
{
    struct answer answer = { .keys = s->bytes, .kept = (uint32_t) s->in->set_bytes };
    uint32_t     *keys = NULL;
    if (spec->workload == READROARING) {
        answer.kept = s->set ? (uint32_t) roaring_bitmap_get_cardinality(s->set) : 0;
        answer.keys = keys = malloc(answer.kept * sizeof *keys + 1);
        if (keys && s->set)
            roaring_bitmap_to_uint32_array(s->set, keys);
    }
    const bool right = answer.keys && answer_check(spec, s->in, &answer, false, why);
    free(keys);
    return right;
}

bool roaring_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                          const struct timing_goal *goal, struct host_figures *out)
{
    struct host_set s = { .kind = &kinds[peer->kind], .in = in, .bytes = malloc(in->set_bytes) };
    *out = (struct host_figures) { .rate = NAN };
    const bool made = s.bytes && make(&s);
    if (made)
        roaring_bitmap_run_optimize(s.set);
    const bool good = made && roaring_bitmap_portable_size_in_bytes(s.set) == in->set_bytes &&
                      time_host(run, &s, s.kind->optimizes, goal, &out->timing);
    if (good) {
        out->rate = (double) spec_operations(spec) / out->timing.wall.median;
        out->right = is_right(&s, spec, out->why);
    } else {
        because(out->why, made ? "its set has another size" : "out of memory");
    }
    drop(&s);
    free(s.bytes);
    return good;
}
#else
int roaring_peers(const struct spec *spec, struct host_peer peers[HOST_PEERS_MAX])
{
    (void) spec, (void) peers;
    return 0;
}

bool roaring_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                          const struct timing_goal *goal, struct host_figures *out)
{
    (void) peer, (void) spec, (void) in, (void) goal;
    *out = (struct host_figures) { .rate = NAN };
    return false;
}
#endif
