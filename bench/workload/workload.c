/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
} workloads[N_ALL_WORKLOADS] = {
#define X(id, name, text) [id] = { name, text },
    WORKLOAD_MAP(X) DICT_WORKLOAD_MAP(X)
#undef X
};

const char *workload_name(enum workload workload)
{
    return workloads[workload].name;
}

const char *workload_text(enum workload workload)
{
    return workloads[workload].text;
}

static const size_t runs_of_variant[] = { 4, 8, 16 };
static const size_t rows_of_variant[] = { 4, 16, 64 };
static const size_t top_of_variant[] = { 100, 100000 };

const char *variant_name(enum workload workload, int variant)
{
    enum { NAMES_MAX = N_VARIANTS + 1 };
    static const char *const runs[NAMES_MAX] = { "4-runs", "8-runs", "16-runs" };
    static const char *const groups[NAMES_MAX] = { "unsorted", "sorted" };
    static const char *const tops[NAMES_MAX] = { "100", "100000" };
    static const char *const rows[NAMES_MAX] = { "4-bytes", "16-bytes", "64-bytes" };
    static const char *const shapes[NAMES_MAX] = { "random", "few", "urls", "deep", "values", "phones", "file" };
    static const char *const only[NAMES_MAX] = { "" };
    static const char *const queries[NAMES_MAX] = {
        "random", "sorted", "random+index", "sorted+index", "random+compressed", "random+buffered", "random+sort"
    };
#define X(id, stem, ...) #stem,
    static const char *const structures[NAMES_MAX] = { ORDO_STRUCTURE_MAP(X) "lockfree", "cuckoo" };
#undef X
    const char *const *names = workload_is_dict(workload)       ? structures
                               : workload_is_strings(workload)  ? shapes
                               : workload_has_queries(workload) ? queries
                               : workload == MERGE_RUNS         ? runs
                               : workload == GROUPBY            ? groups
                               : workload == TOP                ? tops
                               : workload == GATHER             ? rows
                                                                : only;
    return variant < NAMES_MAX ? names[variant] : NULL;
}

bool variant_is_sorted(int variant)
{
    return variant < VARIANT_COMPRESSED && (variant & VARIANT_SORTED);
}

bool variant_has_index(int variant)
{
    return variant >= VARIANT_COMPRESSED || (variant & VARIANT_INDEX);
}

bool structure_is(int structure, enum ordo_structure_trait trait)
{
#define X(id, stem, name, traits) traits,
    static const unsigned traits_of[N_STRUCTURES] = { ORDO_STRUCTURE_MAP(X) };
#undef X
    if (structure == CUCKOO)
        return ((ORDO_BUILT_WHOLE | ORDO_NO_ORDER) & trait) != 0;
    return structure < N_STRUCTURES && (traits_of[structure] & trait) != 0;
}

bool structure_is_rival(int structure)
{
    return structure == LOCKFREE || structure == CUCKOO;
}

const char *dist_name(int dist)
{
    static const char *const names[N_DISTS + 1] = {
        "uniform", "few",         "sorted",  "reverse",  "zipf",   "sequential", "clustered", "dense", "runs",
        "equal",   "alternating", "lowbits", "highword", "packed", "uuid4",      "uuid7",     "kmers", "file",
    };
    return names[dist];
}

size_t dist_key_bytes(enum dist dist)
{
    return dist == UUID4 || dist == UUID7 ? 16 : dist == SENSOR_TIMES ? 8 : 4;
}

bool dist_is_in_order(enum dist dist)
{
    return dist == SORTED || dist == REVERSE || dist == SEQUENTIAL || dist == DENSE || dist == RUNS;
}

bool dist_has_times(enum dist dist)
{
    return dist == SENSOR_TIMES || dist == UUID7;
}

const char *type_name(int type)
{
    static const char *const names[N_TYPES] = { "u32", "u64", "i32", "i64", "f32", "f64", "u128", "bytes16" };
    return names[type];
}

enum workload workload_on_device(enum workload workload)
{
    return workload == HOSTSORT     ? SORT
           : workload == HOSTBUILD  ? BUILD
           : workload == HOSTINSERT ? INSERTRANDOM
           : workload == HOSTREAD   ? READRANDOM
                                    : workload;
}

size_t type_bytes(ordo_type type)
{
    return type_is_wide(type) ? 16 : type == ORDO_U32 || type == ORDO_I32 || type == ORDO_F32 ? 4 : 8;
}

bool type_is_wide(ordo_type type)
{
    return type == ORDO_U128 || type == ORDO_BYTES16;
}

bool type_is_float(ordo_type type)
{
    return type == ORDO_F32 || type == ORDO_F64;
}

size_t spec_row_bytes(const struct spec *spec)
{
    return spec->workload == COLUMNS ? 16 : rows_of_variant[spec->variant];
}

size_t spec_top(const struct spec *spec)
{
    const size_t top = top_of_variant[spec->variant];
    return top < spec->count ? top : spec->count;
}

size_t spec_runs(const struct spec *spec)
{
    if (spec->workload == MERGE)
        return 2;
    return spec->workload == MERGE_RUNS ? runs_of_variant[spec->variant] : 1;
}

struct ordo_run spec_run(const struct spec *spec, size_t r)
{
    const size_t runs = spec_runs(spec), each = spec->count / runs;
    return (struct ordo_run) { r * each, r + 1 == runs ? spec->count - r * each : each };
}

const struct axis_facts axes[N_AXES] = {
#define X(member, option, key, low, high, initial, has, traits) { option, key, low, high, traits },
    AXIS_MAP(X)
#undef X
};

uint32_t spec_axis(const struct spec *spec, int axis)
{
    const uint32_t numbers[N_AXES] = {
#define X(member, ...) spec->member,
        AXIS_MAP(X)
#undef X
    };
    return numbers[axis];
}

bool has_axis(int axis, enum workload workload, int variant)
{
    const bool has[N_AXES] = {
#define X(member, option, key, low, high, initial, has, traits) has,
        AXIS_MAP(X)
#undef X
    };
    return has[axis] && takes_axis(workload, axes[axis].traits);
}

bool takes_axis(enum workload workload, unsigned traits)
{
    return traits & AXIS_HOST      ? workload_is_host(workload)
           : traits & AXIS_STRINGS ? workload_is_strings(workload)
                                   : workload_is_dict(workload);
}

bool string_shape_is_named(int variant)
{
    return variant == STRINGS_VALUES || variant == STRINGS_PHONES;
}

const char *spec_key_name(const struct spec *spec)
{
    return workload_is_strings(spec->workload) ? "string" : type_name(spec->type);
}

bool spec_asks_same(const struct spec *a, const struct spec *b)
{
    if (workload_is_strings(a->workload) && a->variant != b->variant)
        return false;
    for (int axis = 0; axis < N_AXES; axis++)
        if (!(axes[axis].traits & AXIS_STRUCTURE) && spec_axis(a, axis) != spec_axis(b, axis))
            return false;
    return a->workload == b->workload && a->type == b->type && a->value_bytes == b->value_bytes && a->dist == b->dist &&
           a->count == b->count && a->n_queries == b->n_queries && a->seed == b->seed && a->batch == b->batch;
}

#define QUEUE_BATCH 1024
#define TASK_ROUNDS 64

size_t spec_batch(const struct spec *spec)
{
    const enum workload workload = workload_on_device(spec->workload);
    const bool          whole = workload == BUILD || workload == CONCURRENTFILL || workload == LONGESTPREFIX;
    const bool          any = workload == CONCURRENTPOINTS; /* several operations a key */
    const size_t        wanted = whole                         ? spec->count
                                 : workload == CONCURRENTERASE ? spec_changes(spec)
                                 : spec->batch                 ? spec->batch
                                 : workload == QUEUE           ? QUEUE_BATCH
                                 : workload == ORDERBOOK       ? spec->count / TASK_ROUNDS
                                                               : spec->count / 16;
    return wanted > spec->count && !any ? spec->count : wanted ? wanted : 1;
}

size_t spec_table_batch(const struct spec *spec)
{
    struct spec table = *spec;
    if (workload_is_one_batch(spec->workload) || workload_has_rounds(spec->workload)) {
        table.workload = FILLRANDOM;
        table.batch = 0;
    }
    return spec_batch(&table);
}

size_t spec_changes(const struct spec *spec)
{
    if (!workload_erases(spec->workload) || spec->erase_percent == 0)
        return spec->count;
    const size_t changes = (size_t) ((double) spec->count * spec->erase_percent / 100);
    return changes ? changes : 1;
}

/* Each round of the model visits all elements. */
#define ROUNDS_MAX   8
#define ELEMENTS_MAX ((size_t) 1 << 27)

size_t spec_rounds(const struct spec *spec)
{
    const size_t batches = spec->count / spec_batch(spec), bearable = ELEMENTS_MAX / spec->count + 1;
    const size_t wanted = spec->workload == QUEUE       ? bearable
                          : spec->workload == EXPIRY    ? (batches < bearable ? batches : bearable)
                          : spec->workload == ORDERBOOK ? batches
                                                        : (batches < ROUNDS_MAX ? batches : ROUNDS_MAX);
    return wanted < TASK_ROUNDS ? wanted : TASK_ROUNDS;
}

/* A replaced or erased element leaves a stale one, and an erase adds a tombstone: with c of each, 3 c of n + 2 c
 * elements are stale. */
size_t spec_churn(const struct spec *spec)
{
    const double share = spec->stale_percent / 100.0;
    if (spec->stale_percent == 0)
        return (spec->count + 9) / 10;
    const size_t churn = (size_t) (share * (double) spec->count / (3 - 2 * share));
    return churn ? churn : 1;
}

size_t spec_erased_strings(const struct spec *spec)
{
    return spec->workload == ERASESTRINGS ? (spec->count + 1) / 2 : 0;
}

size_t spec_operations(const struct spec *spec)
{
    if (spec->workload == ERASESTRINGS)
        return spec_erased_strings(spec);
    if (spec->workload == READWHILEWRITING || spec->workload == QUEUE || spec->workload == EXPIRY)
        return 2 * spec_rounds(spec) * spec_batch(spec);
    if (spec->workload == MIXED || spec->workload == MIXEDSEEKS || spec->workload == MIXEDPOINTS ||
        spec->workload == MIXEDUPDATES || spec->workload == ORDERBOOK)
        return spec_rounds(spec) * spec_batch(spec);
    if (workload_cleans_up(spec->workload))
        return spec->count + 2 * spec_churn(spec);
    if (workload_is_one_batch(spec->workload))
        return spec_batch(spec);
    return workload_has_queries(spec->workload) ? spec->n_queries : spec_changes(spec);
}

double spec_bytes(const struct spec *spec)
{
    const double        key = (double) type_bytes(spec->type), pair = key + spec->value_bytes;
    const double        count = (double) spec->count, queries = (double) spec->n_queries;
    const double        touched = queries < count ? queries : count;
    const enum workload w = spec->workload;
    if (workload_is_dict(w) || workload_is_host(w) || workload_is_strings(w) || workload_is_roaring(w))
        return 0;
    return w == SCAN                                ? 2 * count * key
           : w == REDUCE || w == TOP || w == SELECT ? count * key
           : w == COMPACT                           ? count * (1 + pair * 1.5) /* half of the elements */
           : w == SEARCH                            ? queries * (key + 4) + touched * key
           : w == EQUAL_RANGE                       ? queries * (key + 8) + touched * key
           : w == LOOKUP                            ? queries * (pair + 1) + touched * pair
           : w == GROUPBY                           ? count * pair
           : w == GATHER                            ? count * (4 + 2 * (double) spec_row_bytes(spec))
                                                    : 2 * count * pair;
}

struct transfers spec_transfers(const struct spec *spec, size_t stored)
{
    const double        key = (double) type_bytes(spec->type), pair = key + spec->value_bytes;
    const double        all = (double) spec->count * pair, queries = (double) spec->n_queries;
    const enum workload w = spec->workload;
    return (struct transfers) { w == HOSTSORT || w == HOSTBUILD ? all
                                : w == HOSTINSERT               ? (double) spec_batch(spec) * pair
                                : w == HOSTREAD                 ? queries * key
                                                                : 0,
                                w == HOSTSORT     ? all
                                : w == HOSTREAD   ? queries * (spec->value_bytes + 1)
                                : w == HOSTEXPORT ? (double) stored * pair
                                                  : 0 };
}

ordo_op spec_op(const struct spec *spec)
{
    return type_is_float(spec->type) ? ORDO_MAX : ORDO_SUM;
}

/* Smaller numbers are exponents of two. */
#define LOG2_MAX 31

static bool parse_size(const char **text, size_t *size, bool *is_log2)
{
    const bool exact = **text == '=', power = strncmp(*text, "2^", 2) == 0;
    *text += exact ? 1 : power ? 2 : 0;
    if (**text < '0' || **text > '9')
        return false;
    char                    *end = NULL;
    const unsigned long long number = strtoull(*text, &end, 10);
    *text = end;
    *is_log2 = !exact && number <= LOG2_MAX;
    if (power && !*is_log2)
        return false;
    *size = (size_t) number;
    return number <= ORDO_MAX_COUNT && (*is_log2 || number > 0);
}

int parse_sizes(const char *text, size_t *sizes, int room, char *why)
{
    const char *at = text;
    int         n = 0;
    for (;;) {
        size_t from = 0, to = 0;
        bool   from_log2 = false, to_log2 = false;
        bool   good = parse_size(&at, &from, &from_log2);
        to = from;
        if (good && strncmp(at, "..", 2) == 0) {
            at += 2;
            good = from_log2 && parse_size(&at, &to, &to_log2) && to_log2 && to >= from;
        }
        if (!good || (*at && *at != ',')) {
            because(why,
                    "'%s' is no list of sizes: 12 means 2^12, 12..16 all powers from 2^12 to 2^16, =1000 and "
                    "numbers above %d stand for themselves (at most %zu)",
                    text, LOG2_MAX, ORDO_MAX_COUNT);
            return -1;
        }
        for (; from <= to && n < room; from++)
            sizes[n++] = from_log2 ? (size_t) 1 << from : from;
        if (!*at)
            return n;
        at++;
    }
}

int parse_names(const char *text, const char *(*name)(int), int n_names, int *chosen, int room, char *why)
{
    int n = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        int          i = 0;
        while (i < n_names && (strlen(name(i)) != length || strncmp(at, name(i), length) != 0))
            i++;
        if (i == n_names) {
            int used = snprintf(why, WHY_BYTES, "unknown '%.*s' (choose ", (int) length, at);
            for (int k = 0; k < n_names && used > 0 && (size_t) used < WHY_BYTES; k++)
                used += snprintf(why + used, WHY_BYTES - (size_t) used, "%s%s",
                                 k == 0            ? ""
                                 : k + 1 < n_names ? ", "
                                                   : " or ",
                                 name(k));
            if (used > 0 && (size_t) used < WHY_BYTES)
                snprintf(why + used, WHY_BYTES - (size_t) used, ")");
            return -1;
        }
        if (n < room)
            chosen[n++] = i;
        at += length;
        if (!*at)
            return n;
    }
}
