/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/peers/peers.h"
#include "bench/peers/rivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Old values of tunables that are set for a row. */
struct tuned {
    struct ordo_tunable_info *was;
    size_t                    n;
};

static bool remember(ordo_device *device, struct tuned *tuned)
{
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(device, i, &info) == ORDO_OK; i++) {
        struct ordo_tunable_info *more = realloc(tuned->was, (i + 1) * sizeof *more);
        if (!more)
            return false;
        tuned->was = more;
        tuned->was[tuned->n++] = info;
    }
    return true;
}

/* One word NAME=VALUE. */
static bool set(ordo_device *device, char *word, char *why)
{
    char *value = strchr(word, '='), *end = value;
    if (value) {
        *value++ = 0;
        const unsigned long number = strtoul(value, &end, 10);
        if (*value && !*end && ordo_device_set_tunable(device, word, (uint32_t) number) == ORDO_OK)
            return true;
    }
    if (!value || !*value || *end || ordo_device_last_error(device, why, WHY_BYTES) <= 1)
        because(why, "--tune: '%s' is not NAME=VALUE", word);
    return false;
}

/* Sets NAME=VALUE,... (NULL: none). False with the reason in `why`; call tuned_end in any case. */
static bool tuned_begin(ordo_device *device, const char *list, struct tuned *tuned, char *why)
{
    char *text = list ? strdup(list) : NULL, *rest = NULL;
    bool  good = !list || (text && remember(device, tuned));
    if (!good)
        because(why, "out of memory");
    for (char *word = text && good ? strtok_r(text, ",", &rest) : NULL; word && good; word = strtok_r(NULL, ",", &rest))
        good = set(device, word, why);
    free(text);
    return good;
}

static void tuned_end(ordo_device *device, struct tuned *tuned)
{
    for (size_t i = 0; i < tuned->n; i++)
        (void) ordo_device_set_tunable(device, tuned->was[i].name, tuned->was[i].value);
    free(tuned->was);
    *tuned = (struct tuned) { NULL, 0 };
}

/* Stop when the median is known to this share. */
#define NARROW 0.01
/* Seconds for the repetitions of a row of the suite, at most. */
#define SUITE_SECONDS 0.2
/* The length of a repetition, from the number that should fit. */
#define BATCHES   24
#define BATCH_MIN 0.004
#define BATCH_MAX 0.02

static void failed_call(struct run *run, struct row *row, ordo_status status)
{
    const bool full = status == ORDO_UNSUPPORTED && row->spec.variant == CUCKOO;
    row->outcome = status == ORDO_NO_DEVICE_MEMORY || status == ORDO_TOO_LARGE ? TOO_LARGE : full ? SKIPPED : FAILED;
    if (full)
        because(row->why, "%s", CUCKOO_FULL);
    if (!row->why[0])
        device_why(run->device, status, row->why);
}

struct timing_goal row_goal(const struct run *run)
{
    return (struct timing_goal) { .seconds = run->row_seconds,
                                  .narrow = NARROW,
                                  .batch_seconds = fmin(BATCH_MAX, fmax(BATCH_MIN, run->row_seconds / BATCHES)),
                                  .repetitions = (int) run->options->repetitions,
                                  .device_too = true };
}

static void take_scratch(const struct run *run, struct row *row)
{
    struct ordo_memory memory = { 0 };
    if (ordo_device_memory(run->device, &memory) == ORDO_OK)
        row->scratch_bytes = memory.scratch_peak_bytes;
}

/* The transferred bytes, and their share of the time. */
static void take_transfers(const struct run *run, struct row *row)
{
    const struct transfers moved = spec_transfers(&row->spec, row->dict.statistics.elements);
    const double           seconds = row->timing.wall.median;
    if (!workload_is_host(row->spec.workload))
        return;
    row->transfers = moved;
    row->bytes_per_second = (moved.to_device + moved.from_device) / seconds;
    row->transfer_share = ((moved.to_device > 0 ? moved.to_device / run->limits.to_device : 0) +
                           (moved.from_device > 0 ? moved.from_device / run->limits.from_device : 0)) /
                          seconds;
}

static void measure(struct run *run, struct row *row, struct target *target)
{
    const bool         host = workload_is_host(row->spec.workload);
    struct timing_goal goal = row_goal(run);
    goal.prepare = host ? target_prepare : NULL;
    goal.device_too = !host;
    const ordo_status got = time_calls(run->device, target_call, target, &goal, &row->timing);
    if (got != ORDO_OK) {
        failed_call(run, row, got);
        return;
    }
    take_scratch(run, row);
    row->index_bytes = target_index_bytes(target);
    row->index_seconds = target_index_seconds(target);

    progress("checking");
    row->outcome = target_check(target, row->why) ? GOOD : WRONG;
    row->rate = (double) spec_operations(&row->spec) / row->timing.wall.median;
    row->bytes_per_second = spec_bytes(&row->spec) / row->timing.wall.median;
    row->copy_share = row->bytes_per_second / run->limits.copy.bytes_per_second;
    take_transfers(run, row);
    for (int i = 0; i < BASELINES_MAX && !run->options->no_host && !run->options->side_by_side; i++)
        if (baseline_name(row->spec.workload, i))
            row->baseline[i] = baseline_rate(&row->spec, target_inputs(target), i);
}

static void measure_arrays(struct run *run, struct row *row)
{
    struct target    *target = NULL;
    const ordo_status got = target_open(run->device, &row->spec, &target, row->why);
    if (got != ORDO_OK)
        failed_call(run, row, got);
    else
        measure(run, row, target);
    target_close(&target);
}

/* Progress: "row 3 of 12, 2 min left: sort, 2^20: timing". */
static void announce(const struct run *run, const struct spec *spec)
{
    char         left[32] = "";
    const char  *variant = variant_name(spec->workload, spec->variant);
    const int    done = run->rows - run->rows_left, measured = done - run->kept;
    const double seconds = measured ? (now() - run->file.began) / measured * run->rows_left : 0;
    if (seconds >= 90)
        snprintf(left, sizeof left, ", %.0f min left", seconds / 60);
    else if (seconds >= 1)
        snprintf(left, sizeof left, ", %.0f s left", seconds);
    progress_about("row %d of %d%s: %s%s%s, %s", done + 1, run->rows, left, workload_name(spec->workload),
                   *variant ? " " : "", variant, text_count(TEXT, spec->count));
    progress("timing");
}

/* The rate of the sorted array at the point; NaN on failure. */
static double rate_of_sorted_array(struct run *run, const struct spec *point)
{
    char                     why[WHY_BYTES] = "";
    struct spec              spec = *point;
    struct dict_figures      figures;
    const struct timing_goal goal = row_goal(run);
    spec.variant = SORTED_ARRAY;
    spec.first_calls = false;
    spec.workload = point->workload == CONCURRENTREAD ? READRANDOM : point->workload;
    announce(run, &spec);
    const ordo_status got = dict_measure(run->device, &spec, &goal, 0, &figures, why);
    dict_figures_free(&figures);
    if (got == ORDO_OK && figures.right)
        return (double) spec_operations(&spec) / figures.timing.wall.median;
    report_error("%s with a sorted array: %s", workload_name(spec.workload), why);
    return NAN;
}

/* The host baselines to run: hash maps without order; a B-tree unless a row has it. */
static unsigned host_of(const struct run *run, const struct row *row, const struct row *beside)
{
    const unsigned tree = beside ? 0 : 1u << DICT_BTREE;
    if (run->options->no_host || run->options->side_by_side)
        return 0;
    return tree | (structure_is(row->spec.variant, ORDO_NO_ORDER) ? 1u << DICT_HASH_MAP | 1u << DICT_ROBIN_MAP : 0);
}

/* `beside`: the row of a sorted array at the point, or NULL. */
static void measure_dict(struct run *run, struct row *row, const struct row *beside)
{
    const unsigned           host = host_of(run, row, beside);
    const struct timing_goal goal = row_goal(run);
    const ordo_status        got = dict_measure(run->device, &row->spec, &goal, host, &row->dict, row->why);
    if (got != ORDO_OK) {
        failed_call(run, row, got);
        return;
    }
    take_scratch(run, row);
    row->outcome = row->dict.right ? GOOD : WRONG;
    row->timing = row->dict.timing;
    row->rate = (double) spec_operations(&row->spec) / row->timing.wall.median;
    take_transfers(run, row);
    memcpy(row->baseline, row->dict.baseline, sizeof row->baseline);
    if (beside)
        row->baseline[DICT_BTREE] = beside->baseline[DICT_BTREE];
    if (row->spec.variant == SORTED_ARRAY)
        row->array_rate = row->rate;
    else if (beside)
        row->array_rate = beside->rate;
    else if (plan_has_fills(row->spec.workload) && row->outcome == GOOD && !run->options->no_array)
        row->array_rate = rate_of_sorted_array(run, &row->spec);
}

/* Whether the device has the memory; explains if not. */
static bool fits(const struct run *run, struct row *row)
{
    const struct ordo_facts    *facts = ordo_device_facts(run->device);
    const struct workload_bytes size =
        workload_is_dict(row->spec.workload) ? plan_bytes(&row->spec) : target_bytes(&row->spec);
    char need[TEXT_BYTES], has[TEXT_BYTES];
    if (size.largest > facts->max_alloc_bytes)
        return because(row->why, "needs a buffer of %s, this device allows %s", text_bytes(need, (double) size.largest),
                       text_bytes(has, (double) facts->max_alloc_bytes));
    if ((double) size.all * 1.5 > (double) facts->global_bytes * 0.9)
        return because(row->why, "needs %s with its scratch, this device has %s",
                       text_bytes(need, (double) size.all * 1.5), text_bytes(has, (double) facts->global_bytes));
    return true;
}

void row_share_time(struct run *run)
{
    const double left = run->deadline - now();
    const int    rows = run->sharing > 0 ? run->sharing-- : run->rows_left;
    /* Inputs, checks and host code take about as long as the timing. */
    run->row_seconds = isinf(left) ? 1 : left / rows * 0.5;
    if (run->suite)
        run->row_seconds = fmin(run->row_seconds, SUITE_SECONDS);
}

static void run_row(struct run *run, struct row *row, const struct row *beside)
{
    row_share_time(run);
    if (run->deadline <= now()) {
        row->outcome = SKIPPED;
        because(row->why, "the time for all of it is spent (--budget)");
        return;
    }
    if (!fits(run, row)) {
        row->outcome = TOO_LARGE;
        return;
    }

    struct tuned tuned = { NULL, 0 };
    announce(run, &row->spec);
    ordo_device_trim(run->device);
    if (!tuned_begin(run->device, row->spec.tune, &tuned, row->why))
        row->outcome = FAILED;
    else if (workload_is_dict(row->spec.workload))
        measure_dict(run, row, beside);
    else
        measure_arrays(run, row);
    tuned_end(run->device, &tuned);
}

cJSON *ask_peer(const struct run *run, const struct spec *spec, const size_t *counts, int n, double seconds,
                double share)
{
    char         why[WHY_BYTES] = "";
    const double left = run->deadline - now();
    if (!run->peer_program || left <= 0)
        return NULL;
    progress_about("%s", workload_name(spec->workload));
    progress("the peer's turn");
    cJSON *rows = peer_rows(run->peer_program, ordo_device_facts(run->device)->name, spec, counts, n,
                            isinf(left) ? seconds : left * share, why);
    if (!rows)
        report_error("%s", why);
    return rows;
}

/* ---- from the file, or measured ------------------------------------------------------------------------------- */

static void count_outcome(struct run *run, const struct row *row)
{
    run->rows_left--;
    run->wrong += row->outcome == WRONG;
    run->failed += row->outcome == FAILED;
    run->skipped += row->outcome == SKIPPED;
}

void row_settle(struct run *run, struct row *row, const struct row *beside)
{
    row->json = file_row(&run->file, run->device_number, &row->spec);
    if (row->json) {
        row_from_json(row, row->json);
        run->kept++;
    } else {
        run_row(run, row, beside);
        run->file_failed |= !file_add(&run->file, run->device_number, row);
        row->json = file_row(&run->file, run->device_number, &row->spec);
    }
    count_outcome(run, row);
}
