/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/sorted_run.h"

#include "dict/batch.h"

static size_t round_up(size_t bytes)
{
    return ordo_ceil_div(bytes, 256) * 256;
}

struct ordo_run_layout ordo_run_layout_of(const ordo_dict *dict, size_t count, index_form form)
{
    const struct ordo_index index = ordo_index_of(dict->dev, dict->key, ordo_none(), count, form);
    struct ordo_run_layout  l = { .form = form };
    l.values = round_up(count * dict->key_bytes);
    l.hidden = l.values + round_up(count * dict->value_bytes);
    l.visible = l.hidden + round_up(ordo_ceil_div(count, 32) * 4);
    l.nodes = l.visible + round_up(ordo_run_entries(count) * 4);
    l.bytes = l.nodes + round_up(index.bytes);
    return l;
}

static size_t live_bytes(const struct ordo_runs *runs)
{
    return runs->bytes - runs->spare_bytes;
}

/* A small run may get a block that is larger than necessary by 1/16 of the bytes of all runs, because the first use of
 * a new block takes 75 us or more (NVIDIA H200). */
static bool take_spare(struct ordo_runs *runs, size_t bytes, struct ordo_sorted_run *out)
{
    const size_t live = live_bytes(runs), most = bytes + (bytes < live / 32 ? live : bytes) / 16 + 4096;
    size_t       best = runs->n_spare;
    for (size_t i = 0; i < runs->n_spare; i++)
        if (runs->spare[i].bytes >= bytes && runs->spare[i].bytes <= most &&
            (best == runs->n_spare || runs->spare[i].bytes < runs->spare[best].bytes))
            best = i;
    if (best == runs->n_spare)
        return false;
    out->mem = runs->spare[best].mem;
    out->mem_bytes = runs->spare[best].bytes;
    runs->spare_bytes -= out->mem_bytes;
    runs->spare[best] = runs->spare[--runs->n_spare];
    return true;
}

static void destroy_block(struct ordo_runs *runs, cl_mem *mem, size_t bytes)
{
    ordo_buffer_destroy(runs->dict.dev, mem);
    runs->bytes -= bytes;
}

static void drop_spare(struct ordo_runs *runs, size_t i)
{
    runs->spare_bytes -= runs->spare[i].bytes;
    destroy_block(runs, &runs->spare[i].mem, runs->spare[i].bytes);
    runs->spare[i] = runs->spare[--runs->n_spare];
}

void ordo_runs_drop_spare(struct ordo_runs *runs)
{
    while (runs->n_spare > 0)
        drop_spare(runs, 0);
}

void ordo_runs_release_spare(ordo_dict *dict)
{
    ordo_runs_drop_spare(ordo_runs_of(dict));
}

void ordo_runs_limit_spare(struct ordo_runs *runs, size_t most)
{
    while (runs->spare_bytes > most) {
        size_t largest = 0;
        for (size_t i = 1; i < runs->n_spare; i++)
            if (runs->spare[i].bytes > runs->spare[largest].bytes)
                largest = i;
        drop_spare(runs, largest);
    }
}

#define SPARE_MIN   ((size_t) 4 << 20) /* bytes */
#define SPARE_SHARE 32

static size_t spare_most(const struct ordo_runs *runs, size_t bytes)
{
    const size_t live = live_bytes(runs);
    return SPARE_MIN + live / SPARE_SHARE + (live > bytes ? live - bytes : 0);
}

/* Rounds the size of a block up by at most 3 percent, so that longer runs can reuse it. */
static size_t with_reserve(size_t bytes)
{
    size_t step = 256;
    while (step * 64 < bytes)
        step *= 2;
    return ordo_ceil_div(bytes, step) * step;
}

bool ordo_runs_fit(const struct ordo_runs *runs, size_t count)
{
    const ordo_dict *dict = &runs->dict;
    return ordo_run_layout_of(dict, count, ordo_index_form(dict->dev, dict->key)).bytes <=
           ordo_device_facts(dict->dev)->max_alloc_bytes;
}

static ordo_status create_block(struct ordo_runs *runs, struct ordo_call *call, size_t least,
                                struct ordo_sorted_run *out)
{
    const size_t most = (size_t) ordo_device_facts(call->dev)->max_alloc_bytes;
    const size_t bytes = least <= most ? ordo_min_size(with_reserve(least), most) : least;
    ordo_runs_limit_spare(runs, spare_most(runs, bytes));
    ordo_status made = ordo_buffer_create(call->dev, bytes, &out->mem);
    /* ordo_buffer_create frees unused blocks of other dictionaries only. */
    if (made == ORDO_NO_DEVICE_MEMORY && runs->n_spare > 0) {
        ordo_runs_drop_spare(runs);
        made = ordo_buffer_create(call->dev, bytes, &out->mem);
    }
    ORDO_TRY(made);
    out->mem_bytes = bytes;
    runs->bytes += bytes;
    if (runs->bytes_peak < runs->bytes)
        runs->bytes_peak = runs->bytes;
    return ORDO_OK;
}

ordo_status ordo_runs_block(struct ordo_runs *runs, struct ordo_call *call, size_t count, struct ordo_sorted_run *out)
{
    const ordo_dict *dict = &runs->dict;
    *out =
        (struct ordo_sorted_run) { .count = count,
                                   .layout = ordo_run_layout_of(dict, count, ordo_index_form(dict->dev, dict->key)) };
    if (take_spare(runs, out->layout.bytes, out))
        return ORDO_OK;
    return create_block(runs, call, out->layout.bytes, out);
}

void ordo_runs_release(struct ordo_runs *runs, struct ordo_sorted_run *run)
{
    if (!run->mem)
        return;
    if (runs->n_spare == ORDO_MAX_RUNS) {
        destroy_block(runs, &run->mem, run->mem_bytes);
        return;
    }
    runs->spare[runs->n_spare].mem = run->mem;
    runs->spare[runs->n_spare++].bytes = run->mem_bytes;
    runs->spare_bytes += run->mem_bytes;
    run->mem = NULL;
    ordo_runs_limit_spare(runs, spare_most(runs, 0));
}

void ordo_runs_trim_spare(struct ordo_runs *runs)
{
    ordo_runs_limit_spare(runs, live_bytes(runs) > SPARE_MIN ? live_bytes(runs) : SPARE_MIN);
}

void ordo_runs_replace(struct ordo_runs *runs, const struct ordo_sorted_run *run)
{
    const struct ordo_run_set old = runs->set;
    runs->set.n = run->mem != NULL;
    runs->set.run[0] = *run;
    for (size_t i = 0; i < old.n; i++) {
        struct ordo_sorted_run gone = old.run[i];
        ordo_runs_release(runs, &gone);
    }
}

void ordo_runs_clear(ordo_dict *dict)
{
    struct ordo_runs *runs = ordo_runs_of(dict);
    ordo_runs_replace(runs, &(struct ordo_sorted_run) { .mem = NULL });
    ordo_runs_drop_spare(runs);
}

ordo_status ordo_run_scratch(struct ordo_call *call, const ordo_dict *dict, size_t count, struct ordo_sorted_run *out)
{
    *out =
        (struct ordo_sorted_run) { .count = count,
                                   .layout = ordo_run_layout_of(dict, count, ordo_index_form(dict->dev, dict->key)) };
    out->mem_bytes = out->layout.bytes;
    return ordo_call_scratch(call, out->mem_bytes, &out->mem);
}

ordo_status ordo_run_index(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run)
{
    if (run->indexed)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    run->index = ordo_index_of(dict->dev, dict->key, ordo_run_keys(run), run->count, run->layout.form);
    if (run->index.bytes) {
        run->index.nodes = run->mem;
        run->index.nodes_at = run->layout.nodes / INDEX_SEPARATOR_BYTES(dict->key_bytes);
    }
    ORDO_TRY(ordo_call_index(call, &run->index));
    run->indexed = true;
    return ORDO_OK;
}

static run_table table_of(const ordo_dict *dict, const struct ordo_run_set *set)
{
    run_table table = { .n_runs = (cl_uint) set->n };
    for (size_t r = 0; r < set->n; r++) {
        const struct ordo_sorted_run *run = &set->run[r];
        table.values_at[r] = ordo_run_values(dict, run).at;
        table.count[r] = (cl_uint) run->count;
        table.hidden_at[r] = run->has_hidden ? (cl_uint) (run->layout.hidden / 256) : RUN_TABLE_NONE;
        table.visible_at[r] = run->has_hidden ? (cl_uint) (run->layout.visible / 256) : 0;
    }
    return table;
}

static void add_buffers(struct ordo_args *args, const struct ordo_run_set *set, size_t n)
{
    static const cl_mem none = NULL;
    for (size_t r = 0; r < RUN_TABLE_MAX; r++) {
        const cl_mem *mem = r < n ? &set->run[r].mem : &none;
        ORDO_ADD(args, ORDO_ARG(*mem));
    }
}

void ordo_run_set_add(struct ordo_args *args, const ordo_dict *dict, const struct ordo_run_set *set, bool values,
                      run_table *table)
{
    *table = table_of(dict, set);
    add_buffers(args, set, set->n);
    if (values)
        add_buffers(args, set, dict->value_bytes > 0 ? set->n : 0);
    ORDO_ADD(args, ORDO_ARG(*table));
}
