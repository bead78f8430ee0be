/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/request.h"

/* An update sets `copied`. Otherwise it would wait for kernels that read the caller's arrays. This wait could fail
 * after the dictionary is changed. */
static size_t list_arrays(const ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r,
                          struct ordo_host_array *out)
{
    size_t n = 0;
    for (const struct ordo_parameter *p = m->parameters; p->name; p++, n++) {
        const bool absent = (p->flags & OPTIONAL) && !r->host[n].in;
        out[n] = (struct ordo_host_array) { .name = p->name,
                                            .count = ordo_parameter_count(p, r),
                                            .bytes = absent ? 0 : ordo_parameter_bytes(dict, p),
                                            .upload = !(p->flags & OUT) || (p->flags & SPARSE),
                                            .download = (p->flags & OUT) != 0,
                                            .copied = m->manner >= ORDO_UPDATE,
                                            .limit = p->flags & LIMITED ? r->results : NULL };
        if (out[n].upload)
            out[n].from = r->host[n].in;
        if (out[n].download)
            out[n].to = r->host[n].out;
    }
    return n;
}

static ordo_status read_offsets(struct ordo_call *outer, const struct ordo_method *m, const struct ordo_host_array *a)
{
    for (size_t i = 0; m->parameters[i].name; i++)
        if (m->parameters[i].flags & ONE_MORE)
            return ordo_host_read(outer, &a[i], ORDO_OK) == ORDO_OK ? ORDO_TOO_SMALL : ORDO_OPENCL;
    return ORDO_TOO_SMALL;
}

static ordo_status request_once(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r)
{
    struct ordo_host_array a[ORDO_PARAMETERS_MAX];
    const size_t           n = list_arrays(dict, m, r, a);
    struct ordo_request    inner = *r;
    struct ordo_call       outer;
    ORDO_TRY(ordo_host_begin(&outer, dict->dev, &dict->last, a, n));
    for (size_t i = 0; i < n; i++)
        inner.a[i] = a[i].slice;
    if (m->manner == ORDO_UPDATE || m->manner == ORDO_REPLACE) { /* ordo_dict_before_store downloads the results */
        dict->results = a;
        dict->n_results = n;
    }
    ordo_status status = ordo_dict_request(dict, m, &inner, NULL);
    dict->results = NULL;
    if (status == ORDO_TOO_SMALL && m->manner == ORDO_QUERY)
        status = read_offsets(&outer, m, a);
    return ordo_host_end(&outer, a, n, status);
}

struct queries {
    ordo_dict                 *dict;
    const struct ordo_method  *m;
    const struct ordo_request *r;
};

static ordo_status run_queries(const void *user, const struct ordo_host_array *arrays, size_t count,
                               const struct ordo_order *order)
{
    const struct queries *q = user;
    struct ordo_request   some = *q->r;
    for (size_t i = 0; q->m->parameters[i].name; i++)
        some.a[i] = arrays[i].slice;
    some.count = count;
    return ordo_dict_request(q->dict, q->m, &some, order);
}

static ordo_status request_queries(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r)
{
    struct ordo_host_array         a[ORDO_PARAMETERS_MAX];
    const struct queries           q = { dict, m, r };
    const struct ordo_host_queries of = { .count = r->count, .run = run_queries, .user = &q };
    return ordo_host_query(dict->dev, &dict->last, &of, a, list_arrays(dict, m, r, a));
}

/* Smaller batches are not split, because their arrays fit into a staging buffer (runtime/staging.c). */
#define PIECE_MIN ((size_t) 1024)

static ordo_status request_piece(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r, size_t at,
                                 size_t n)
{
    struct ordo_request piece = *r;
    for (size_t i = 0; m->parameters[i].name; i++)
        if (r->host[i].in)
            piece.host[i].in = (const char *) r->host[i].in + at * ordo_parameter_bytes(dict, &m->parameters[i]);
    piece.count = n;
    return request_queries(dict, m, &piece);
}

/* Holds the lock, so that no other thread updates the dictionary between two pieces. */
static ordo_status request_pieces(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r)
{
    struct ordo_call outer;
    ordo_status      status = ORDO_OK;
    ORDO_TRY(ordo_call_begin_after(&outer, dict->dev, NULL, &dict->last, true));
    for (size_t at = 0, max = r->count / 2; at < r->count && status == ORDO_OK;) {
        const size_t piece = ordo_min_size(r->count - at, max);
        status = request_piece(dict, m, r, at, piece);
        if (status == ORDO_OK) {
            at += piece;
        } else if (ordo_lacks_memory(status) && piece > PIECE_MIN) {
            max = piece / 2;
            status = ORDO_OK;
        }
    }
    return ordo_call_end(&outer, status);
}

ordo_status ordo_dict_request_host(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_COUNT(dict->dev, "count", r->count);
    if (m->manner != ORDO_QUERY_PIECES)
        return request_once(dict, m, r);
    const ordo_status status = request_queries(dict, m, r);
    return ordo_lacks_memory(status) && r->count > PIECE_MIN ? request_pieces(dict, m, r) : status;
}
