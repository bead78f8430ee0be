/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/strings/string_dict.h"

/* Queries and up to two outputs. out[i] has bytes[i] bytes per query. If bytes[i] is 0, there is no output i. */
struct queries {
    ordo_string_dict          *dict;
    const struct ordo_strings *strings, *uppers; /* `uppers` may be NULL */
    struct ordo_slice          out[2];
    const char                *name[2];
    size_t                     bytes[2];
    bool                       optional;
};

static ordo_status check_columns(const struct queries *q)
{
    ORDO_REQUIRE_GIVEN(NULL, q->dict);
    ordo_device *dev = q->dict->dev;
    ORDO_TRY(ordo_strings_check(dev, q->strings));
    if (!q->uppers)
        return ORDO_OK;
    ORDO_TRY(ordo_strings_check(dev, q->uppers));
    ORDO_REQUIRE(dev, q->strings->count == q->uppers->count, ORDO_INVALID, "lo has %zu strings, but hi has %zu",
                 q->strings->count, q->uppers->count);
    return ORDO_OK;
}

static ordo_status check_arrays(const struct queries *q)
{
    struct ordo_array                arrays[6];
    const struct ordo_strings *const columns[] = { q->strings, q->uppers };
    size_t                           n = 0, outputs = 0;
    for (int i = 0; i < 2 && columns[i]; i++) {
        arrays[n++] = ordo_strings_offsets(columns[i]);
        arrays[n++] = ordo_strings_bytes(columns[i]);
    }
    for (; outputs < 2 && q->name[outputs]; outputs++) {
        const bool absent = q->optional && !q->out[outputs].mem;
        arrays[n++] = (struct ordo_array) { q->name[outputs], q->out[outputs], q->strings->count,
                                            absent ? 0 : q->bytes[outputs] };
    }
    return ordo_check_arrays(q->dict->dev, arrays, n, outputs);
}

/* ---- find ---------------------------------------------------------------------------------------------------- */

static ordo_status find_in(struct ordo_call *call, const struct queries *q, const struct ordo_string_run *run,
                           cl_mem ids, bool is_first)
{
    const cl_uint    words = q->dict->value_bytes / sizeof words, first = is_first;
    const cl_uint    count = (cl_uint) q->strings->count;
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(ids), ORDO_ARG(count), ORDO_ARG(run->marks), ORDO_ARG(run->values), ORDO_ARG(words),
             ORDO_ARG(first));
    ordo_args_slice(&args, &q->out[0]);
    ordo_args_slice(&args, &q->out[1]);
    return ordo_string_launch(call, "string_dict_find", count, &args);
}

static ordo_status find(struct ordo_call *call, const struct queries *q)
{
    const struct ordo_string_runs *runs = &q->dict->runs;
    const struct ordo_string_run   none = { .index = NULL };
    cl_mem                         ids = NULL;
    ORDO_TRY(check_arrays(q));
    if (q->strings->count == 0)
        return ORDO_OK;
    if (runs->n == 0)
        return find_in(call, q, &none, NULL, true);
    ORDO_TRY(ordo_call_scratch(call, q->strings->count * sizeof(cl_uint), &ids));
    for (cl_uint i = 0; i < runs->n; i++) {
        ORDO_TRY(ordo_call_search_strings(call, runs->at[i].index, ORDO_STRING_FIND, q->strings, ordo_at(ids, 0)));
        ORDO_TRY(find_in(call, q, &runs->at[i], ids, i == 0));
    }
    return ORDO_OK;
}

ordo_status ordo_string_dict_find(ordo_string_dict *dict, const struct ordo_strings *strings,
                                  struct ordo_slice values_out, struct ordo_slice found, const struct ordo_order *order)
{
    struct queries   q = { .dict = dict,
                           .strings = strings,
                           .out = { values_out, found },
                           .name = { "values_out", "found" },
                           .bytes = { dict ? dict->value_bytes : 0, 1 },
                           .optional = true };
    struct ordo_call call;
    ORDO_TRY(check_columns(&q));
    ORDO_TRY(ordo_string_dict_begin(&call, dict, order, false));
    return ordo_string_dict_end(&call, dict, find(&call, &q));
}

/* ---- ranks --------------------------------------------------------------------------------------------------- */

/* ranks[i] becomes the number of visible strings of all runs that are less than query i. If `search` is
 * ORDO_STRING_UPPER, also counts a string equal to the query. If `lengths` is not NULL, first cuts query i to
 * lengths[i] - 1 bytes (see ordo_call_bound_prefixes). */
static ordo_status sum_ranks(struct ordo_call *call, const struct queries *q, ordo_string_search search, cl_mem lengths,
                             struct ordo_slice ranks)
{
    const struct ordo_string_runs *runs = &q->dict->runs;
    const size_t                   count = q->strings->count, bytes = count * sizeof(cl_uint);
    const int                      mark = call->n_scratch;
    cl_mem                         ids = NULL;
    ORDO_TRY(ordo_call_fill(call, ranks.mem, ranks.at * sizeof(cl_uint), bytes, 0));
    ORDO_TRY(ordo_call_scratch(call, bytes, &ids));
    for (cl_uint i = 0; i < runs->n; i++) {
        ORDO_TRY(ordo_call_bound_prefixes(call, runs->at[i].index, search, q->strings, lengths, ordo_at(ids, 0)));
        ORDO_TRY(ordo_string_run_add(call, &runs->at[i], ids, (cl_uint) count, &ranks));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* lengths[i] becomes 1 plus the length of the longest visible prefix of query i, or 0 if there is none. */
static ordo_status measure_prefixes(struct ordo_call *call, const struct queries *q, cl_mem *lengths)
{
    const struct ordo_string_runs *runs = &q->dict->runs;
    const size_t                   bytes = q->strings->count * sizeof(cl_ulong);
    ORDO_TRY(ordo_call_scratch(call, bytes, lengths));
    ORDO_TRY(ordo_call_fill(call, *lengths, 0, bytes, 0));
    for (cl_uint i = 0; i < runs->n; i++)
        ORDO_TRY(ordo_call_longest_prefixes(call, runs->at[i].index, q->strings, runs->at[i].marks, *lengths));
    return ORDO_OK;
}

static ordo_status choose(struct ordo_call *call, const struct queries *q, ordo_string_search search, cl_mem uppers)
{
    const bool       rank = search == ORDO_STRING_LOWER || search == ORDO_STRING_UPPER;
    const bool       before = search == ORDO_STRING_LT || search == ORDO_STRING_LE;
    const cl_uint    count = (cl_uint) q->strings->count, add = before ? UINT32_MAX : 0;
    const cl_uint    limit = (cl_uint) ordo_string_runs_visible(&q->dict->runs, 0) + rank;
    struct ordo_args args = { .n = 0 };
    ordo_args_slice(&args, &q->out[0]);
    ORDO_ADD(&args, ORDO_ARG(uppers), ORDO_ARG(count), ORDO_ARG(add), ORDO_ARG(limit));
    return ordo_string_launch(call, "string_dict_choose", count, &args);
}

static ordo_status search_all(struct ordo_call *call, const struct queries *q, ordo_string_search search)
{
    const struct ordo_string_runs *runs = &q->dict->runs;
    const bool upper = search == ORDO_STRING_LE || search == ORDO_STRING_GT || search == ORDO_STRING_UPPER;
    cl_mem     uppers = NULL, lengths = NULL;
    ORDO_TRY(check_arrays(q));
    if (q->strings->count == 0)
        return ORDO_OK;
    if (ordo_string_runs_plain(runs))
        return ordo_call_search_strings(call, runs->at[0].index, search, q->strings, q->out[0]);
    if (search == ORDO_STRING_LONGEST_PREFIX)
        ORDO_TRY(measure_prefixes(call, q, &lengths));
    ORDO_TRY(sum_ranks(call, q, upper ? ORDO_STRING_UPPER : ORDO_STRING_LOWER, lengths, q->out[0]));
    if (search == ORDO_STRING_FIND) {
        ORDO_TRY(ordo_call_scratch(call, q->strings->count * sizeof(cl_uint), &uppers));
        ORDO_TRY(sum_ranks(call, q, ORDO_STRING_UPPER, NULL, ordo_at(uppers, 0)));
    }
    return choose(call, q, search, uppers);
}

static ordo_status check_search(const ordo_string_dict *dict, ordo_string_search search)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE(dict->dev, search <= ORDO_STRING_LONGEST_PREFIX, ORDO_INVALID, "search is %d: there is none such",
                 (int) search);
    return ORDO_OK;
}

ordo_status ordo_string_dict_search(ordo_string_dict *dict, ordo_string_search search,
                                    const struct ordo_strings *queries, struct ordo_slice ranks,
                                    const struct ordo_order *order)
{
    struct queries   q = { .dict = dict,
                           .strings = queries,
                           .out = { ranks, ordo_none() },
                           .name = { "ranks" },
                           .bytes = { sizeof(cl_uint) } };
    struct ordo_call call;
    ORDO_TRY(check_search(dict, search));
    ORDO_TRY(check_columns(&q));
    ORDO_TRY(ordo_string_dict_begin(&call, dict, order, false));
    return ordo_string_dict_end(&call, dict, search_all(&call, &q, search));
}

/* ---- prefixes and ranges ------------------------------------------------------------------------------------- */

static ordo_status range_in(struct ordo_call *call, const struct queries *q, const ordo_string_index *index,
                            struct ordo_slice first, struct ordo_slice counts)
{
    return q->uppers ? ordo_call_range_strings(call, index, q->strings, q->uppers, first, counts)
                     : ordo_call_prefix_strings(call, index, q->strings, first, counts);
}

static ordo_status add_range(struct ordo_call *call, const struct queries *q, const struct ordo_string_run *run,
                             cl_mem ids, cl_mem numbers)
{
    const cl_uint    words = STRING_MARKS(run->count), count = (cl_uint) q->strings->count;
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(ids), ORDO_ARG(numbers), ORDO_ARG(count), ORDO_ARG(run->marks), ORDO_ARG(words));
    ordo_args_slice(&args, &q->out[0]);
    ordo_args_slice(&args, &q->out[1]);
    return ordo_string_launch(call, "string_dict_add_range", count, &args);
}

static ordo_status sum_ranges(struct ordo_call *call, const struct queries *q)
{
    const struct ordo_string_runs *runs = &q->dict->runs;
    const size_t                   bytes = q->strings->count * sizeof(cl_uint);
    cl_mem                         ids = NULL, numbers = NULL;
    for (int i = 0; i < 2; i++)
        if (q->out[i].mem)
            ORDO_TRY(ordo_call_fill(call, q->out[i].mem, q->out[i].at * sizeof(cl_uint), bytes, 0));
    if (runs->n == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(call, bytes, &ids));
    ORDO_TRY(ordo_call_scratch(call, bytes, &numbers));
    for (cl_uint i = 0; i < runs->n; i++) {
        ORDO_TRY(range_in(call, q, runs->at[i].index, ordo_at(ids, 0), ordo_at(numbers, 0)));
        ORDO_TRY(add_range(call, q, &runs->at[i], ids, numbers));
    }
    return ORDO_OK;
}

static ordo_status find_ranges(struct ordo_call *call, const struct queries *q)
{
    const struct ordo_string_runs *runs = &q->dict->runs;
    ORDO_TRY(check_arrays(q));
    if (q->strings->count == 0)
        return ORDO_OK;
    if (ordo_string_runs_plain(runs))
        return range_in(call, q, runs->at[0].index, q->out[0], q->out[1]);
    return sum_ranges(call, q);
}

static ordo_status run_ranges(ordo_string_dict *dict, const struct ordo_strings *lo, const struct ordo_strings *hi,
                              struct ordo_slice first, struct ordo_slice counts, const struct ordo_order *order)
{
    struct queries   q = { .dict = dict,
                           .strings = lo,
                           .uppers = hi,
                           .out = { first, counts },
                           .name = { "first", "counts" },
                           .bytes = { sizeof(cl_uint), sizeof(cl_uint) },
                           .optional = true };
    struct ordo_call call;
    ORDO_TRY(check_columns(&q));
    ORDO_TRY(ordo_string_dict_begin(&call, dict, order, false));
    return ordo_string_dict_end(&call, dict, find_ranges(&call, &q));
}

ordo_status ordo_string_dict_prefix(ordo_string_dict *dict, const struct ordo_strings *prefixes,
                                    struct ordo_slice first, struct ordo_slice counts, const struct ordo_order *order)
{
    return run_ranges(dict, prefixes, NULL, first, counts, order);
}

ordo_status ordo_string_dict_range(ordo_string_dict *dict, const struct ordo_strings *lo, const struct ordo_strings *hi,
                                   struct ordo_slice first, struct ordo_slice counts, const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_GIVEN(dict->dev, hi);
    return run_ranges(dict, lo, hi, first, counts, order);
}

/* ---- host arrays --------------------------------------------------------------------------------------------- */

ordo_status ordo_string_dict_find_host(ordo_string_dict *dict, const struct ordo_host_strings *strings,
                                       void *values_out, uint8_t *found)
{
    struct ordo_string_queries q;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    const struct ordo_host_array out[] = { ordo_host_inout(values_out, 0, values_out ? dict->value_bytes : 0),
                                           ordo_host_optional(found, 1) };
    ORDO_TRY(ordo_string_queries_begin(&q, dict->dev, &dict->last, strings, NULL, out, 2));
    return ordo_string_queries_end(&q, ordo_string_dict_find(dict, &q.lo, q.out[0], q.out[1], NULL));
}

ordo_status ordo_string_dict_search_host(ordo_string_dict *dict, ordo_string_search search,
                                         const struct ordo_host_strings *queries, uint32_t *ranks)
{
    const struct ordo_host_array out[] = { ordo_host_result(ranks, sizeof *ranks) };
    struct ordo_string_queries   q;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_TRY(ordo_string_queries_begin(&q, dict->dev, &dict->last, queries, NULL, out, 1));
    return ordo_string_queries_end(&q, ordo_string_dict_search(dict, search, &q.lo, q.out[0], NULL));
}

ordo_status ordo_string_dict_prefix_host(ordo_string_dict *dict, const struct ordo_host_strings *prefixes,
                                         uint32_t *first, uint32_t *counts)
{
    const struct ordo_host_array out[] = { ordo_host_optional(first, sizeof *first),
                                           ordo_host_optional(counts, sizeof *counts) };
    struct ordo_string_queries   q;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_TRY(ordo_string_queries_begin(&q, dict->dev, &dict->last, prefixes, NULL, out, 2));
    return ordo_string_queries_end(&q, ordo_string_dict_prefix(dict, &q.lo, q.out[0], q.out[1], NULL));
}

ordo_status ordo_string_dict_range_host(ordo_string_dict *dict, const struct ordo_host_strings *lo,
                                        const struct ordo_host_strings *hi, uint32_t *first, uint32_t *counts)
{
    const struct ordo_host_array out[] = { ordo_host_optional(first, sizeof *first),
                                           ordo_host_optional(counts, sizeof *counts) };
    struct ordo_string_queries   q;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_GIVEN(dict->dev, hi);
    ORDO_TRY(ordo_string_queries_begin(&q, dict->dev, &dict->last, lo, hi, out, 2));
    return ordo_string_queries_end(&q, ordo_string_dict_range(dict, &q.lo, &q.hi, q.out[0], q.out[1], NULL));
}
