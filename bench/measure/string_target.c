/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"

#include <stdlib.h>

/* Inputs, then outputs. VALUES: the number of each row. FOUND: rows of a sort, ids, ranks, values, or first ids of
 * prefixes. ROWS_OF_IDS and IDS_OF_ROWS prove that an index or a dictionary has each different string, in order. */
enum { OFFSETS, BYTES, ASKED_OFFSETS, ASKED_BYTES, VALUES, N_INPUTS };
enum { FOUND = N_INPUTS, COUNTS, ROWS_OF_IDS, IDS_OF_ROWS };
enum { N_ARRAYS = IDS_OF_ROWS + 1 };

/* Scratch of a sort for a row. */
#define SORT_BYTES 64
/* Value, index and marks of a string in a dictionary. */
#define ROW_BYTES 16

static void bytes_of_outputs(const struct spec *spec, size_t bytes[N_ARRAYS])
{
    const bool   sorts = spec->workload == SORTSTRINGS;
    const size_t queries = workload_has_queries(spec->workload) ? spec->n_queries : 0;
    bytes[FOUND] = (sorts ? spec->count : queries) * 4;
    bytes[COUNTS] = queries && !workload_asks_strings(spec->workload) ? queries * 4 : 0;
    bytes[ROWS_OF_IDS] = bytes[IDS_OF_ROWS] = sorts ? 0 : spec->count * 4;
    bytes[VALUES] = workload_is_string_dict(spec->workload) ? spec->count * 4 : 0;
}

struct workload_bytes string_target_bytes(const struct spec *spec)
{
    size_t                bytes[N_ARRAYS];
    const size_t          queries = workload_has_queries(spec->workload) ? queries_bytes(spec) : 0;
    struct workload_bytes size = { 0, 0 };
    bytes_of_outputs(spec, bytes);
    bytes[OFFSETS] = (spec->count + 1) * (strings_bytes(spec) > UINT32_MAX ? 8 : 4);
    bytes[BYTES] = strings_bytes(spec);
    bytes[ASKED_OFFSETS] = queries ? (spec->n_queries + 1) * (queries > UINT32_MAX ? 8 : 4) : 0;
    bytes[ASKED_BYTES] = queries;
    for (int a = 0; a < N_ARRAYS; a++) {
        size.all += bytes[a];
        size.largest = bytes[a] > size.largest ? bytes[a] : size.largest;
    }
    size.all += spec->count * SORT_BYTES;
    if (workload_is_string_dict(spec->workload)) /* its runs, and a merged one */
        size.all += 2 * (bytes[OFFSETS] + bytes[BYTES] + spec->count * ROW_BYTES);
    return size;
}

static struct ordo_slice slice(const struct target *t, int array)
{
    return buffers_at(&t->arrays, array, 0);
}

static struct ordo_strings column_of(const struct target *t, const struct string_column *column, int offsets)
{
    return (struct ordo_strings) { slice(t, offsets), column->offset_bytes, slice(t, offsets + 1), column->n_bytes,
                                   column->count };
}

static ordo_status build_index(struct target *t, const struct ordo_order *order)
{
    const struct ordo_strings             column = column_of(t, &t->in.strings, OFFSETS);
    const struct spec                    *spec = &t->spec;
    const struct ordo_string_partial      partial = { .key_bytes = spec->partial_bytes,
                                                      .page_keys = spec->page_keys,
                                                      .nibble_bits = spec->nibble_bits,
                                                      .prefix = spec->no_prefix    ? ORDO_NO_PREFIX
                                                                : spec->contiguous ? ORDO_CONTIGUOUS_PREFIX
                                                                                   : ORDO_NONCONTIGUOUS_PREFIX };
    const struct ordo_string_index_params params = { .sorted = spec->variant == STRINGS_VALUES, .partial = partial };
    return ordo_string_index_build(t->device, &params, &column, order, &t->strings);
}

/* Builds the index twice, because the first build may compile kernels. */
static ordo_status time_index(struct target *t)
{
    for (int i = 0; i < 2; i++) {
        ordo_string_index_destroy(&t->strings);
        const double before = now();
        TRY(build_index(t, NULL));
        TRY(ordo_device_finish(t->device));
        t->index_seconds = now() - before;
    }
    return ORDO_OK;
}

/* ---- dictionaries -------------------------------------------------------------------------------------------- */

static struct ordo_strings rows_of(const struct target *t, size_t first, size_t count)
{
    struct ordo_strings rows = column_of(t, &t->in.strings, OFFSETS);
    rows.offsets.at += first;
    rows.count = count;
    return rows;
}

/* Upserts or erases the first `count` rows in batches. The last batch has the events of `order`. */
static ordo_status change_rows(struct target *t, size_t count, bool erases, const struct ordo_order *order)
{
    const struct ordo_order early = { .queue = order ? order->queue : NULL };
    const size_t            batch = spec_batch(&t->spec);
    for (size_t first = 0, n; first < count; first += n) {
        n = count - first < batch ? count - first : batch;
        const struct ordo_strings      rows = rows_of(t, first, n);
        const struct ordo_slice        values = buffers_at(&t->arrays, VALUES, first);
        const struct ordo_order *const of = first + n < count ? &early : order;
        TRY(erases ? ordo_string_dict_erase(t->string_dict, &rows, of)
                   : ordo_string_dict_upsert(t->string_dict, &rows, values, of));
    }
    return ORDO_OK;
}

static ordo_status make_string_dict(struct target *t)
{
    TRY(ordo_string_dict_create(t->device, ordo_string_dict_config(.value_bytes = 4), &t->string_dict));
    return workload_has_queries(t->spec.workload) ? change_rows(t, t->spec.count, false, NULL) : ORDO_OK;
}

ordo_status string_target_prepare(struct target *t)
{
    const struct ordo_strings all = column_of(t, &t->in.strings, OFFSETS);
    switch (t->spec.workload) {
    case INDEXSTRINGS:
        ordo_string_index_destroy(&t->strings);
        return ORDO_OK;
    case UPSERTSTRINGS:
        return ordo_string_dict_clear(t->string_dict);
    case ERASESTRINGS:
        TRY(ordo_string_dict_build(t->string_dict, &all, slice(t, VALUES), NULL));
        return ordo_device_finish(t->device);
    default:
        return ORDO_OK;
    }
}

/* ---- the workload -------------------------------------------------------------------------------------------- */

/* Makes what the queries search. */
static ordo_status make_object(struct target *t)
{
    if (workload_is_string_dict(t->spec.workload))
        return make_string_dict(t);
    return workload_has_queries(t->spec.workload) ? time_index(t) : ORDO_OK;
}

ordo_status string_target_fill(struct target *t, char *why)
{
    const struct string_column *column = &t->in.strings, *asked = &t->in.asked;
    size_t                      bytes[N_ARRAYS];
    if (!inputs_make(&t->spec, &t->in))
        return device_why(t->device, ORDO_NO_HOST_MEMORY, why);
    bytes_of_outputs(&t->spec, bytes);
    bytes[OFFSETS] = (column->count + 1) * column->offset_bytes;
    bytes[BYTES] = column->n_bytes;
    bytes[ASKED_OFFSETS] = asked->offsets ? (asked->count + 1) * asked->offset_bytes : 0;
    bytes[ASKED_BYTES] = asked->n_bytes;
    t->arrays.n_inputs = N_INPUTS;
    t->arrays.n = N_ARRAYS;
    uint32_t *values = malloc(bytes[VALUES] + 1);
    if (!values)
        return device_why(t->device, ORDO_NO_HOST_MEMORY, why);
    for (size_t row = 0; row < bytes[VALUES] / 4; row++)
        values[row] = (uint32_t) row;
    const ordo_status made =
        buffers_make(&t->arrays, bytes,
                     (const void *[]) { column->offsets, column->bytes, asked->offsets, asked->bytes, values }, why);
    free(values);
    TRY(made);
    TRY(device_why(t->device, make_object(t), why));
    return device_why(t->device, buffers_poison(&t->arrays), why);
}

ordo_status string_target_call(struct target *t, const struct ordo_order *order)
{
    const struct ordo_strings column = column_of(t, &t->in.strings, OFFSETS);
    const struct ordo_strings asked = column_of(t, &t->in.asked, ASKED_OFFSETS);
    switch (t->spec.workload) {
    case SORTSTRINGS:
        return ordo_sort_strings(t->device, ordo_sort_strings_params(.descending = false), &column, slice(t, FOUND),
                                 ordo_none(), order);
    case INDEXSTRINGS:
        return build_index(t, order);
    case FINDSTRINGS:
        return ordo_string_index_search(t->strings, ORDO_STRING_FIND, &asked, slice(t, FOUND), order);
    case PREFIXSTRINGS:
        return ordo_string_index_prefix(t->strings, &asked, slice(t, FOUND), slice(t, COUNTS), order);
    case UPSERTSTRINGS:
        return change_rows(t, t->spec.count, false, order);
    case ERASESTRINGS:
        return change_rows(t, spec_erased_strings(&t->spec), true, order);
    case GETSTRINGS:
        return ordo_string_dict_find(t->string_dict, &asked, slice(t, FOUND), ordo_none(), order);
    case RANKSTRINGS:
        return ordo_string_dict_search(t->string_dict, ORDO_STRING_LOWER, &asked, slice(t, FOUND), order);
    case COUNTSTRINGS:
        return ordo_string_dict_prefix(t->string_dict, &asked, slice(t, FOUND), slice(t, COUNTS), order);
    default:
        return ORDO_UNSUPPORTED;
    }
}

/* Asks the index for its rows, and for the id of each row. */
static ordo_status prove_order(const struct target *t)
{
    const struct ordo_strings column = column_of(t, &t->in.strings, OFFSETS);
    TRY(ordo_string_index_rows(t->strings, ordo_none(), slice(t, ROWS_OF_IDS), t->spec.count, NULL));
    return ordo_string_index_search(t->strings, ORDO_STRING_FIND, &column, slice(t, IDS_OF_ROWS), NULL);
}

/* Reads the values of a dictionary in order, and the rank of each row. */
static ordo_status prove_content(const struct target *t, size_t *size)
{
    const struct ordo_strings column = column_of(t, &t->in.strings, OFFSETS);
    cl_mem                    offsets = NULL, bytes = NULL;
    size_t                    needed = 0;
    ordo_status               got = device_buffer(t->device, (t->spec.count + 1) * sizeof(uint64_t), &offsets);
    if (got == ORDO_OK)
        got = device_buffer(t->device, column.n_bytes + 1, &bytes);
    const struct ordo_string_elements out = { ordo_at(offsets, 0), ordo_at(bytes, 0), column.n_bytes,
                                              slice(t, ROWS_OF_IDS) };
    if (got == ORDO_OK)
        got = ordo_string_dict_export(t->string_dict, &out, t->spec.count, size, &needed, NULL);
    if (got == ORDO_OK)
        got = ordo_string_dict_search(t->string_dict, ORDO_STRING_FIND, &column, slice(t, IDS_OF_ROWS), NULL);
    device_release((cl_mem[]) { offsets, bytes }, 2);
    return got;
}

static ordo_status prove(const struct target *t, size_t *ids)
{
    struct ordo_string_index_statistics statistics;
    if (t->string_dict)
        return prove_content(t, ids);
    if (!t->strings)
        return ORDO_OK;
    TRY(prove_order(t));
    TRY(ordo_string_index_get_statistics(t->strings, &statistics));
    *ids = statistics.ids;
    return ORDO_OK;
}

bool string_target_check(struct target *t, char *why)
{
    size_t    ids = 0;
    uint32_t *out[N_ARRAYS] = { NULL };
    bool      good = device_why(t->device, prove(t, &ids), why) == ORDO_OK;
    for (int a = N_INPUTS; a < N_ARRAYS && good; a++)
        good = !t->arrays.bytes[a] || (out[a] = buffers_read(&t->arrays, a, why));
    const struct string_answer strings = { .rows = out[FOUND],
                                           .ids = ids,
                                           .rows_of_ids = out[ROWS_OF_IDS],
                                           .ids_of_rows = out[IDS_OF_ROWS],
                                           .found = out[FOUND],
                                           .counts = out[COUNTS] };
    good = good && strings_check(&t->spec, &t->in.strings, &t->in.asked, &strings, why);
    for (int a = 0; a < N_ARRAYS; a++)
        free(out[a]);
    return good;
}
