/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries of strings with little device memory. */
#include "tests/dict/string_trial.h"

#include "runtime/internal.h"

static size_t held_bytes(struct test *t)
{
    struct ordo_memory memory;
    test_ok(t, ordo_device_memory(t->dev, &memory));
    return (size_t) (memory.held_bytes - memory.scratch_bytes);
}

/* ---- updates of several sizes ------------------------------------------------------------------------------------ */

/* Upserts or erases a batch while only `more` bytes of device memory are free. Returns whether there was enough. */
static bool update_within(struct string_trial *r, bool erase, const struct string_case *c, size_t more)
{
    struct test   *t = r->t;
    const uint64_t unlimited = t->dev->memory_limit;
    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev));
    t->dev->memory_limit = held_bytes(t) + more;
    const ordo_status got = string_trial_try(r, erase ? STRINGS_ERASE : STRINGS_UPSERT, c);
    t->dev->memory_limit = unlimited;
    test_true(t, got == ORDO_OK || got == ORDO_NO_DEVICE_MEMORY);
    return got == ORDO_OK;
}

/* An update that lacks memory changes nothing. One that lacks memory only for a merge leaves the runs apart. */
MASK_TEST(string_dict, keeps_its_content_if_memory_lacks, "")
{
    struct ordo_string_dict_statistics stats;
    size_t                             lacked = 0, stored = 0, stale = 0;
    struct string_trial                r = string_trial_begin(t, 8);
    string_trial_update(&r, STRINGS_BUILD, PATHS, 3000, 0);
    for (size_t more = 1 << 12; more < 1 << 20; more += more / 4) {
        const bool                     erase = test_below(t, 2);
        AUTO_COLUMN struct string_case c = string_trial_batch(&r, RANDOM, 600, erase ? 9 : 2, false);
        test_context(t, "%s with %zu bytes", erase ? "erase" : "upsert", more);
        const bool done = update_within(&r, erase, &c, more);
        lacked += !done;
        stored += done;
        test_ok(t, ordo_string_dict_check(r.dict, NULL));
        test_ok(t, ordo_string_dict_get_statistics(r.dict, &stats));
        stale += stats.stale > stats.strings;
        string_trial_export(&r);
    }
    test_context(t, "%zu updates that lacked memory, %zu that did not, %zu that left too many stale strings", lacked,
                 stored, stale);
    test_true(t, lacked > 2 && stored > 2);
    string_trial_select(&r);
    test_ok(t, ordo_string_dict_cleanup(r.dict, NULL));
    string_trial_check(&r, PATHS);
    string_trial_end(&r);
}

/* ---- every call -------------------------------------------------------------------------------------------------- */

enum { ROWS = 700 };

/* Arrays of the caller, which the calls write. */
struct outputs {
    struct test_array offsets, bytes, numbers, counts, flags;
};

static struct outputs make_outputs(struct test *t, size_t rows, size_t bytes)
{
    return (struct outputs) { test_upload(t, NULL, rows + 1, 8, 1), test_upload(t, NULL, bytes, 1, 3),
                              test_upload(t, NULL, rows, 8, 2), test_upload(t, NULL, rows, 4, 1),
                              test_upload(t, NULL, rows, 1, 5) };
}

static void free_outputs(struct outputs *o)
{
    test_free(&o->offsets);
    test_free(&o->bytes);
    test_free(&o->numbers);
    test_free(&o->counts);
    test_free(&o->flags);
}

enum call { BUILD, UPSERT, ERASE, CLEANUP, FIND, SEARCH, PREFIX, RANGE, SELECT, EXPORT, CHECK, N_CALLS };
static const char *const call_name[N_CALLS] = { "build",  "upsert", "erase",  "cleanup", "find", "search",
                                                "prefix", "range",  "select", "export",  "check" };

static ordo_status make_call(ordo_string_dict *dict, enum call call, const struct ordo_strings *c,
                             const struct test_array *values, const struct outputs *o)
{
    const struct ordo_slice           numbers = test_slice(&o->numbers), counts = test_slice(&o->counts);
    const struct ordo_string_elements out = { test_slice(&o->offsets), test_slice(&o->bytes), o->bytes.count,
                                              ordo_none() };
    size_t                            count = 0, needed = 0;
    switch (call) {
    case BUILD:
        return ordo_string_dict_build(dict, c, test_slice(values), NULL);
    case UPSERT:
        return ordo_string_dict_upsert(dict, c, test_slice(values), NULL);
    case ERASE:
        return ordo_string_dict_erase(dict, c, NULL);
    case CLEANUP:
        return ordo_string_dict_cleanup(dict, NULL);
    case FIND:
        return ordo_string_dict_find(dict, c, numbers, test_slice(&o->flags), NULL);
    case SEARCH:
        return ordo_string_dict_search(dict, ORDO_STRING_LONGEST_PREFIX, c, counts, NULL);
    case PREFIX:
        return ordo_string_dict_prefix(dict, c, ordo_none(), counts, NULL);
    case RANGE:
        return ordo_string_dict_range(dict, c, c, ordo_none(), counts, NULL);
    case SELECT:
        return ordo_string_dict_select(dict, counts, c->count, &out, test_slice(&o->flags), NULL, NULL);
    case EXPORT:
        return ordo_string_dict_export(dict, &out, o->numbers.count, &count, &needed, NULL);
    default:
        return ordo_string_dict_check(dict, NULL);
    }
}

/* The device memory that the dictionary must hold by its statistics. */
static size_t said_bytes(struct test *t, ordo_string_dict *dict)
{
    struct ordo_string_dict_statistics is;
    test_ok(t, ordo_string_dict_get_statistics(dict, &is));
    return is.bytes_strings + is.bytes_values + is.bytes_index + is.bytes_marks;
}

static size_t trimmed_bytes(struct test *t)
{
    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev));
    return held_bytes(t);
}

static void change_map(struct string_map *m, enum call call, const struct string_case *c, const uint64_t *values)
{
    if (call == BUILD)
        string_map_clear(m);
    if (call == BUILD || call == UPSERT)
        string_map_upsert(m, c, values);
    else if (call == ERASE)
        string_map_erase(m, c);
}

/* Makes a call with more and more memory, or with a larger and larger greatest allocation, until it succeeds. */
static void try_call(struct test *t, enum call call, bool at_once)
{
    const size_t        others = trimmed_bytes(t);
    const uint64_t      unlimited = t->dev->memory_limit, largest = t->dev->facts.max_alloc_bytes;
    struct string_trial r = string_trial_begin(t, 8);
    string_trial_update(&r, STRINGS_BUILD, PATHS, 4 * (size_t) ROWS, 0);
    string_trial_update(&r, STRINGS_UPSERT, PATHS, ROWS / 7, 5);
    AUTO_COLUMN struct string_case        c = string_trial_batch(&r, PATHS, ROWS, 5, false);
    AUTO_UPLOADED struct string_column_at k = string_upload(t, &c);
    AUTO_FREE uint64_t                   *given = test_alloc(ROWS * sizeof *given);
    test_random_bytes(t, given, ROWS * sizeof *given);
    AUTO_ARRAY struct test_array      values = test_upload(t, given, ROWS, 8, 1);
    AUTO(free_outputs) struct outputs o = make_outputs(t, 5 * (size_t) ROWS, (size_t) 5 * ROWS * 64);
    ordo_status                       got = ORDO_NO_DEVICE_MEMORY;
    size_t                            lacked = 0;
    for (size_t more = 64; got != ORDO_OK; more += more / 2) {
        test_context(t, "%s, %zu bytes %s", call_name[call], more, at_once ? "at once" : "left");
        test_true(t, more < 1 << 28);
        const size_t held = trimmed_bytes(t);
        if (at_once)
            t->dev->facts.max_alloc_bytes = more;
        else
            t->dev->memory_limit = held + more;
        got = make_call(r.dict, call, &k.device, &values, &o);
        t->dev->facts.max_alloc_bytes = largest;
        t->dev->memory_limit = unlimited;
        test_true(t, got == ORDO_OK || got == (at_once ? ORDO_TOO_LARGE : ORDO_NO_DEVICE_MEMORY));
        if (got == ORDO_OK)
            change_map(&r.m, call, &c, given);
        lacked += got != ORDO_OK;
        test_true(t, trimmed_bytes(t) == others + said_bytes(t, r.dict));
        if (lacked % 4 == 1)
            string_trial_export(&r);
    }
    test_true(t, lacked > 0);
    r.lacks_memory = true;
    string_trial_check(&r, PATHS);
    test_ok(t, ordo_string_dict_clear(r.dict));
    test_true(t, said_bytes(t, r.dict) == 0 && trimmed_bytes(t) == others);
    string_trial_end(&r);
    test_true(t, trimmed_bytes(t) == others);
}

/* The memory that the header allows a call for `rows` strings. The dictionary has `stored` strings before the call, and
 * takes `after` bytes after it. */
static size_t promised(enum call call, size_t stored, size_t rows, size_t after)
{
    switch (call) {
    case BUILD:
        return after + 68 * rows;
    case UPSERT: /* the batch is merged with the content */
        return after + 68 * rows + 28 * (stored + rows);
    case ERASE:
        return 4 * rows + stored / 4;
    case CLEANUP:
        return after + 28 * stored;
    case SELECT:
        return 4 * rows + (8 + 4) * stored;
    case EXPORT:
        return (8 + 4) * stored;
    case CHECK:
        return 4 * stored;
    default:
        return 12 * rows;
    }
}

/* Makes a call on a new dictionary. If `after` is not 0, only the promised memory is left, and a little for sizes of
 * buffers. Returns the bytes of the dictionary after the call. */
static size_t call_within(struct test *t, enum call call, size_t after)
{
    enum { MANY = 6000, OLD = 15000, NEW = 300 };
    const uint64_t                     unlimited = t->dev->memory_limit;
    struct ordo_string_dict_statistics is;
    struct string_trial                r = string_trial_begin(t, 8);
    string_trial_update(&r, STRINGS_BUILD, PATHS, OLD, 0);
    string_trial_update(&r, STRINGS_UPSERT, PATHS, NEW, 5);
    AUTO_COLUMN struct string_case        c = string_trial_batch(&r, PATHS, MANY, 2, false);
    AUTO_UPLOADED struct string_column_at k = string_upload(t, &c);
    AUTO_ARRAY struct test_array          values = test_upload(t, NULL, MANY, 8, 1);
    AUTO(free_outputs) struct outputs     o = make_outputs(t, 2 * (size_t) OLD, (size_t) 2 * OLD * 64);
    test_ok(t, ordo_string_dict_get_statistics(r.dict, &is));
    const size_t most = promised(call, is.strings + is.stale, MANY, after), held = trimmed_bytes(t);
    test_context(t, "%s within %zu bytes", call_name[call], most);
    if (after)
        t->dev->memory_limit = held + most + most / 50 + (1 << 13);
    test_ok(t, make_call(r.dict, call, &k.device, &values, &o));
    t->dev->memory_limit = unlimited;
    test_ok(t, ordo_string_dict_get_statistics(r.dict, &is));
    test_true(t, is.stale <= is.strings && is.runs < 3);
    after = said_bytes(t, r.dict);
    string_trial_end(&r);
    return after;
}

MASK_TEST(string_dict, calls_take_no_more_memory_than_the_header_says, "")
{
    for (int call = 0; call < N_CALLS; call++) {
        const uint64_t random = t->random;
        const size_t   after = call_within(t, (enum call) call, 0);
        t->random = random;
        test_true(t, call_within(t, (enum call) call, after) == after);
    }
}

MASK_TEST(string_dict, calls_that_lack_memory_change_nothing, "")
{
    for (int call = 0; call < N_CALLS; call++)
        for (int at_once = 0; at_once < 2; at_once++)
            try_call(t, (enum call) call, at_once != 0);
}
