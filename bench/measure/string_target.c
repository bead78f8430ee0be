/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"

#include <stdlib.h>

/* Inputs, then outputs. FOUND: rows of a sort, ids, or first ids of prefixes. FIRST_ROWS and IDS_OF_ROWS prove that an
 * index has an id for each different string, in order. */
enum { OFFSETS, BYTES, ASKED_OFFSETS, ASKED_BYTES, N_INPUTS, FOUND = N_INPUTS, COUNTS, FIRST_ROWS, IDS_OF_ROWS };
enum { N_ARRAYS = IDS_OF_ROWS + 1 };

/* Scratch of a sort for a row. */
#define SORT_BYTES 64

static void bytes_of_outputs(const struct spec *spec, size_t bytes[N_ARRAYS])
{
    const bool   sorts = spec->workload == SORTSTRINGS;
    const size_t queries = workload_has_queries(spec->workload) ? spec->n_queries : 0;
    bytes[FOUND] = (sorts ? spec->count : queries) * 4;
    bytes[COUNTS] = spec->workload == PREFIXSTRINGS ? queries * 4 : 0;
    bytes[FIRST_ROWS] = bytes[IDS_OF_ROWS] = sorts ? 0 : spec->count * 4;
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
    TRY(buffers_make(&t->arrays, bytes,
                     (const void *[]) { column->offsets, column->bytes, asked->offsets, asked->bytes }, why));
    if (workload_has_queries(t->spec.workload))
        TRY(device_why(t->device, time_index(t), why));
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
    default:
        return ORDO_UNSUPPORTED;
    }
}

/* Asks the index for its rows, and for the id of each row. */
static ordo_status prove_order(const struct target *t)
{
    const struct ordo_strings column = column_of(t, &t->in.strings, OFFSETS);
    TRY(ordo_string_index_rows(t->strings, ordo_none(), slice(t, FIRST_ROWS), t->spec.count, NULL));
    return ordo_string_index_search(t->strings, ORDO_STRING_FIND, &column, slice(t, IDS_OF_ROWS), NULL);
}

bool string_target_check(struct target *t, char *why)
{
    struct ordo_string_index_statistics statistics = { 0 };
    uint32_t                           *out[N_ARRAYS] = { NULL };
    bool                                good = true;
    if (t->strings) {
        ordo_status got = prove_order(t);
        if (got == ORDO_OK)
            got = ordo_string_index_get_statistics(t->strings, &statistics);
        good = device_why(t->device, got, why) == ORDO_OK;
    }
    for (int a = N_INPUTS; a < N_ARRAYS && good; a++)
        good = !t->arrays.bytes[a] || (out[a] = buffers_read(&t->arrays, a, why));
    const struct string_answer strings = { .rows = out[FOUND],
                                           .ids = statistics.ids,
                                           .first_rows = out[FIRST_ROWS],
                                           .ids_of_rows = out[IDS_OF_ROWS],
                                           .found = out[FOUND],
                                           .counts = out[COUNTS] };
    good = good && strings_check(&t->spec, &t->in.strings, &t->in.asked, &strings, why);
    for (int a = 0; a < N_ARRAYS; a++)
        free(out[a]);
    return good;
}
