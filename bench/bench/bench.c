/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-bench: how fast primitives and dictionaries are on a device, beside how fast it copies, the host and other
 * libraries. */
#include "bench/common/devices.h"
#include "bench/measure/dict_subject.h"
#include "bench/measure/subject.h"
#include "bench/peers/dict_yardstick.h"
#include "bench/peers/peers.h"
#include "bench/workload/dict_plan.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- comparing with a former run ----------------------------------------------------------------------------- */

static cJSON *read_former(const char *path)
{
    char   why[512] = "";
    cJSON *former = json_read(path, why, sizeof why);
    if (!former)
        usage_error("--compare: %s", why);
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(former, "rows")))
        usage_error("--compare: %s was not written by ordo-bench --json", path);
    return former;
}

static bool same_dict_point(const cJSON *row, const struct spec *spec)
{
    return number_of(row, "batch") == (double) spec_batch(spec) && number_of(row, "hit_percent") == spec->hit_percent &&
           number_of(row, "width") == spec->width && number_of(row, "growth") == spec->growth &&
           cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "first_calls")) == spec->first_calls &&
           (spec->workload != CONCURRENTMIX || number_of(row, "update_percent") == spec->update_percent);
}

static bool same_point(const cJSON *row, const struct spec *spec)
{
    return text_is(row, "workload", workload_name(spec->workload)) &&
           text_is(row, "variant", variant_name(spec->workload, spec->variant)) &&
           text_is(row, "key", type_name(spec->type)) && text_is(row, "dist", dist_name(spec->dist)) &&
           number_of(row, "value_bytes") == spec->value_bytes && number_of(row, "count") == (double) spec->count &&
           number_of(row, "operations") == (double) spec_operations(spec) &&
           (!workload_is_dict(spec->workload) || same_dict_point(row, spec));
}

/* The former rate of the same point on a device of the same name; NaN if there is none. */
static double former_rate(const struct run *run, const struct spec *spec)
{
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(run->before, "devices"), *row = NULL;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(run->before, "rows"))
    {
        const double number = number_of(row, "device");
        const cJSON *device = number >= 0 ? cJSON_GetArrayItem(devices, (int) number) : NULL;
        if (same_point(row, spec) && text_is(device, "name", ordo_device_facts(run->device)->name))
            return number_of(row, "rate");
    }
    return NAN;
}

/* ---- measuring ----------------------------------------------------------------------------------------------- */

static void failed_call(struct run *run, struct row *row, ordo_status status)
{
    row->outcome = status == ORDO_NO_DEVICE_MEMORY || status == ORDO_TOO_LARGE ? TOO_LARGE : FAILED;
    if (!row->why[0] && ordo_device_last_error(run->device, row->why, sizeof row->why) <= 1)
        snprintf(row->why, sizeof row->why, "%s", ordo_status_string(status));
}

static struct timing_goal goal_of(const struct run *run)
{
    return (struct timing_goal) { .seconds = run->row_seconds,
                                  .repetitions = (int) run->options->repetitions,
                                  .device_too = true };
}

static void measure(struct run *run, struct row *row, struct subject *subject)
{
    const struct timing_goal goal = goal_of(run);
    const ordo_status        got = time_calls(run->device, subject_call, subject, &goal, &row->timing);
    if (got != ORDO_OK) {
        failed_call(run, row, got);
        return;
    }
    struct ordo_memory memory = { 0 };
    if (ordo_device_memory(run->device, &memory) == ORDO_OK)
        row->scratch_bytes = memory.scratch_peak_bytes;
    row->index_bytes = subject_index_bytes(subject);
    row->index_seconds = subject_index_seconds(subject);

    progress("checking");
    row->outcome = subject_check(subject, row->why, sizeof row->why) ? GOOD : WRONG;
    row->rate = (double) spec_operations(&row->spec) / row->timing.wall.median;
    row->bytes_per_second = spec_bytes(&row->spec) / row->timing.wall.median;
    row->copy_share = row->bytes_per_second / run->copy.bytes_per_second;
    for (int i = 0; i < MAX_YARDSTICKS && !run->options->no_host; i++)
        if (yardstick_name(row->spec.workload, i))
            row->yardstick[i] = yardstick_rate(&row->spec, subject_inputs(subject), i);
}

static void measure_arrays(struct run *run, struct row *row)
{
    struct subject   *subject = NULL;
    const ordo_status got = subject_open(run->device, &row->spec, &subject, row->why, sizeof row->why);
    if (got != ORDO_OK)
        failed_call(run, row, got);
    else
        measure(run, row, subject);
    subject_close(&subject);
}

/* What the terminal shows of a row while it is measured. */
static void announce(const struct run *run, const struct spec *spec)
{
    char        count[TEXT_BYTES];
    const char *variant = variant_name(spec->workload, spec->variant);
    progress_about("%s%s%s, %s, %d %s left", workload_name(spec->workload), *variant ? " " : "", variant,
                   text_count(count, spec->count), run->rows_left, run->rows_left == 1 ? "row" : "rows");
    progress("timing");
}

/* The rate of the sorted array at the same point, measured beside; NaN if it failed or was wrong. */
static double rate_of_sorted_array(struct run *run, const struct spec *point)
{
    char                     why[512] = "";
    struct spec              spec = *point;
    struct dict_figures      figures;
    const struct timing_goal goal = goal_of(run);
    spec.variant = SORTED_ARRAY;
    spec.first_calls = false;
    spec.workload = point->workload == CONCURRENTREAD ? READRANDOM : point->workload;
    announce(run, &spec);
    const ordo_status got = dict_measure(run->device, &spec, &goal, false, &figures, why, sizeof why);
    if (got == ORDO_OK && figures.right)
        return (double) spec_operations(&spec) / figures.timing.wall.median;
    complain("%s by a sorted array: %s", workload_name(spec.workload), why);
    return NAN;
}

/* `beside`: the row of a sorted array at the same point, or NULL. */
static void measure_dict(struct run *run, struct row *row, const struct row *beside)
{
    const bool               host = !run->options->no_host && !beside;
    const struct timing_goal goal = goal_of(run);
    const ordo_status got = dict_measure(run->device, &row->spec, &goal, host, &row->dict, row->why, sizeof row->why);
    if (got != ORDO_OK) {
        failed_call(run, row, got);
        return;
    }
    struct ordo_memory memory = { 0 };
    if (ordo_device_memory(run->device, &memory) == ORDO_OK)
        row->scratch_bytes = memory.scratch_peak_bytes;
    row->outcome = row->dict.right ? GOOD : WRONG;
    row->timing = row->dict.timing;
    row->rate = (double) spec_operations(&row->spec) / row->timing.wall.median;
    row->yardstick[0] = beside ? beside->yardstick[0] : row->dict.yardstick;
    if (row->spec.variant == SORTED_ARRAY)
        row->array_rate = row->rate;
    else if (beside)
        row->array_rate = beside->rate;
    else if (plan_has_fills(row->spec.workload) && row->outcome == GOOD && !run->options->no_array)
        row->array_rate = rate_of_sorted_array(run, &row->spec);
}

/* Whether inputs, outputs and scratch of about the input's size have room; if not, says so. */
static bool fits(const struct run *run, struct row *row)
{
    const struct ordo_device_facts *facts = ordo_device_facts(run->device);
    const struct subject_size       size =
        workload_is_dict(row->spec.workload) ? plan_size(&row->spec) : subject_size(&row->spec);
    char need[TEXT_BYTES], has[TEXT_BYTES];
    if (size.largest > facts->max_alloc_bytes) {
        snprintf(row->why, sizeof row->why, "needs a buffer of %s, this device allows %s",
                 text_bytes(need, (double) size.largest), text_bytes(has, (double) facts->max_alloc_bytes));
        return false;
    }
    if ((double) size.bytes * 1.5 > (double) facts->global_bytes * 0.9) {
        snprintf(row->why, sizeof row->why, "needs %s with its scratch, this device has %s",
                 text_bytes(need, (double) size.bytes * 1.5), text_bytes(has, (double) facts->global_bytes));
        return false;
    }
    return true;
}

static void run_row(struct run *run, struct row *row, const struct row *beside)
{
    const double left = run->deadline - now();
    /* Inputs, checks and the host's code take about as long as the timing. */
    run->row_seconds = isinf(left) ? 1 : left / run->rows_left * 0.5;
    if (left <= 0) {
        row->outcome = SKIPPED;
        snprintf(row->why, sizeof row->why, "the budget of %g s is spent", run->options->budget);
        return;
    }
    if (!fits(run, row)) {
        row->outcome = TOO_LARGE;
        return;
    }

    announce(run, &row->spec);
    ordo_device_trim(run->device);
    if (workload_is_dict(row->spec.workload))
        measure_dict(run, row, beside);
    else
        measure_arrays(run, row);
}

/* ---- going through the axes ---------------------------------------------------------------------------------- */

/* All sizes of one point of the other axes. */
struct series {
    struct spec spec;
    struct row  rows[MOST_SIZES];
    cJSON      *peers;
};

static void count_outcome(struct run *run, const struct row *row)
{
    run->rows_left--;
    run->wrong += row->outcome == WRONG;
    run->failed += row->outcome == FAILED;
    run->skipped += row->outcome == SKIPPED;
}

static void ask_peer(struct run *run, struct series *series)
{
    char         why[512] = "";
    const double left = run->deadline - now();
    if (!run->peer_program || left <= 0)
        return;
    progress_about("%s", workload_name(series->spec.workload));
    progress("the peer's turn");
    series->peers =
        peer_rows(run->peer_program, ordo_device_facts(run->device)->name, &series->spec, run->sizes, run->n_sizes,
                  isinf(left) ? run->n_sizes : left / run->rows_left * run->n_sizes * 0.3, why, sizeof why);
    if (!series->peers)
        complain("%s", why);
}

/* The same axes but for the variant. What the options give once for all series is not compared. */
static bool same_but_variant(const struct spec *a, const struct spec *b)
{
    return a->workload == b->workload && a->type == b->type && a->value_bytes == b->value_bytes && a->dist == b->dist &&
           a->count == b->count && a->batch == b->batch;
}

/* The good row of a sorted array at the same point, of the series before this one; NULL if there is none. */
static const struct row *row_beside(const struct series *list, const struct series *series, int i)
{
    const struct spec *spec = &series->rows[i].spec;
    for (const struct series *s = list; s < series && workload_is_dict(spec->workload); s++)
        if (s->rows[i].outcome == GOOD && s->rows[i].spec.variant == SORTED_ARRAY &&
            same_but_variant(&s->rows[i].spec, spec))
            return &s->rows[i];
    return NULL;
}

static void run_series(struct run *run, const struct series *list, struct series *series, const struct table *table)
{
    ask_peer(run, series);
    for (int i = 0; i < run->n_sizes; i++) {
        struct row *row = &series->rows[i];
        *row = (struct row) { .spec = series->spec,
                              .rate = NAN,
                              .bytes_per_second = NAN,
                              .copy_share = NAN,
                              .before = NAN,
                              .array_rate = NAN,
                              .yardstick = { NAN, NAN } };
        row->timing.wall = row->timing.device = (struct spread) { NAN, NAN, NAN };
        row->spec.count = run->sizes[i];
        if (run->before)
            row->before = former_rate(run, &row->spec);
        row->peer = peer_row(series->peers, row->spec.count);
        run_row(run, row, row_beside(list, series, i));
        count_outcome(run, row);
        show_row(run, table, row);
        json_row(run, row);
    }
}

static bool variant_wanted(const struct options *o, enum workload workload, int variant)
{
    bool any = false;
    for (int i = 0; i < o->n_variants; i++)
        for (int v = 0; variant_name(workload, v); v++)
            if (strcmp(variant_any(o->variants[i]), variant_name(workload, v)) == 0) {
                any = true;
                if (v == variant)
                    return true;
            }
    return !any; /* none of this workload's variants was named */
}

/* How many places each axis has for a workload: those that mean nothing to it have one. */
struct axes {
    int types, values, dists, batches, updates;
};

static bool has_batches(enum workload workload)
{
    return workload_is_dict(workload) && workload != CONCURRENTFILL;
}

static struct axes axes_of(const struct options *o, enum workload workload)
{
    return (struct axes) { .types = o->n_types,
                           .values = workload_has_values(workload) ? o->n_value_bytes : 1,
                           .dists = workload == FILLSEQ ? 1 : o->n_dists,
                           .batches = has_batches(workload) && o->n_batches ? o->n_batches : 1,
                           .updates = workload == CONCURRENTMIX ? o->n_updates : 1 };
}

/* The i-th point of the axes, shares of updates changing fastest, then batches. */
static struct spec point_of(const struct run *run, enum workload workload, int variant, int i)
{
    const struct options *o = run->options;
    const struct axes     axes = axes_of(o, workload);
    const int             update = i % axes.updates, batch = i / axes.updates % axes.batches;
    const int             others = i / axes.updates / axes.batches, dist = others % axes.dists;
    const int             value = others / axes.dists % axes.values, type = others / axes.dists / axes.values;
    struct spec           spec = { .workload = workload,
                                   .variant = variant,
                                   .type = (ordo_type) o->types[type],
                                   .value_bytes = workload_has_values(workload) ? o->value_bytes[value] : 0,
                                   .dist = workload == FILLSEQ ? SEQUENTIAL : (enum dist) o->dists[dist],
                                   .n_queries = workload_has_queries(workload) ? run->n_queries : 0,
                                   .seed = o->seed };
    if (workload_is_dict(workload)) {
        spec.batch = o->n_batches && has_batches(workload) ? o->batches[batch] : 0;
        spec.hit_percent = o->hit_percent;
        spec.width = o->width;
        spec.fills = o->fills;
        spec.growth = o->growth;
        spec.first_calls = o->first_calls && plan_has_fills(workload);
        spec.update_percent = workload == CONCURRENTMIX ? o->update_percents[update] : 0;
        spec.erase_percent = o->erase_percent;
    }
    return spec;
}

/* A sorted array has nothing to clean up; a B-link tree gives memory back in the same call. */
static bool variant_makes_sense(enum workload workload, int variant)
{
    if (workload == CLEANUP)
        return variant == LSM;
    return workload != COMPACTALL || variant != SORTED_ARRAY;
}

static bool variant_can(const struct run *run, enum workload workload, int variant)
{
    const struct spec spec = point_of(run, workload, variant, 0);
    return !workload_is_dict(workload) || dict_subject_can(run->device, &spec);
}

/* Adds the series of one workload to `list`, or only counts them if it is NULL. */
static int list_series(const struct run *run, enum workload workload, struct series *list)
{
    const struct axes axes = axes_of(run->options, workload);
    const int         points = axes.types * axes.values * axes.dists * axes.batches * axes.updates;
    int               n = 0;
    for (int variant = 0; variant_name(workload, variant); variant++) {
        if (!variant_wanted(run->options, workload, variant) || !variant_makes_sense(workload, variant) ||
            !variant_can(run, workload, variant))
            continue;
        for (int i = 0; i < points; i++, n++)
            if (list)
                list[n].spec = point_of(run, workload, variant, i);
    }
    return n;
}

/* "search: lower bound of every query in a sorted array (2^20 queries)" */
static void introduce_workload(const struct run *run, enum workload workload)
{
    char queries[TEXT_BYTES];
    progress_clear();
    fprintf(run->out, "\n%s: %s", workload_name(workload), workload_text(workload));
    if (workload_has_queries(workload))
        fprintf(run->out, " (%s queries", text_count(queries, run->n_queries));
    if (workload == READRANDOM || workload == CONCURRENTREAD)
        fprintf(run->out, ", %u %% of them there", run->options->hit_percent);
    if (workload == COUNTRANDOM || workload == RANGERANDOM)
        fprintf(run->out, ", each for %u elements in the mean", run->options->width);
    if (workload_has_queries(workload))
        fprintf(run->out, ")");
    if (workload == DELETERANDOM && run->options->erase_percent < 100)
        fprintf(run->out, " (%u %% of the elements)", run->options->erase_percent);
    fprintf(run->out, "\n");
    for (int v = 0; variant_name(workload, v); v++)
        if (variant_wanted(run->options, workload, v) && !variant_can(run, workload, v))
            fprintf(run->out, "    %s is passed over: it takes no concurrent batches\n", variant_name(workload, v));
}

static void run_workload(struct run *run, enum workload workload)
{
    const int           n = list_series(run, workload, NULL);
    struct series      *list = calloc((size_t) n + 1, sizeof *list);
    const struct layout layout = lay_out(run, workload);
    const struct table  table = { run->out, layout.columns, layout.n };

    if (!list) {
        complain("out of memory");
        exit(EXIT_FAILED);
    }
    list_series(run, workload, list);
    introduce_workload(run, workload);
    if (n)
        table_head(&table);
    for (int s = 0; s < n; s++)
        run_series(run, list, &list[s], &table);
    for (int s = 0; s < n; s++) {
        if (!run->options->no_chart && (run->options->chart || isatty(fileno(run->out))))
            draw_rows(run, list[s].rows, run->n_sizes);
        cJSON_Delete(list[s].peers);
    }
    free(list);
}

static void introduce_device(const struct run *run, const struct ordo_device_facts *facts)
{
    char copy[TEXT_BYTES], command[TEXT_BYTES], kernel[TEXT_BYTES], size[TEXT_BYTES];
    progress_clear();
    fprintf(run->out, "%s (%s, driver %s)\n", facts->name, facts->platform, facts->driver);
    fprintf(run->out, "copies its memory at %s GB/s, read and written (by command %s, by kernel %s; %s)\n",
            text_giga(copy, run->copy.bytes_per_second), text_giga(command, run->copy.by_command),
            text_giga(kernel, run->copy.by_kernel), text_bytes(size, (double) run->copy.bytes));
}

static void json_begin_device(struct run *run, const struct ordo_device_facts *facts)
{
    cJSON *device = json_device(facts), *copy = cJSON_AddObjectToObject(device, "copy");
    json_number(copy, "bytes_per_s", run->copy.bytes_per_second);
    json_number(copy, "by_command", run->copy.by_command);
    json_number(copy, "by_kernel", run->copy.by_kernel);
    cJSON_AddNumberToObject(copy, "bytes", (double) run->copy.bytes);

    cJSON                   *tunables = cJSON_AddObjectToObject(device, "tunables");
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(run->device, i, &info) == ORDO_OK; i++)
        cJSON_AddNumberToObject(tunables, info.name, info.value);
    cJSON_AddItemToArray(run->devices, device);
}

static void use_default_sizes(struct run *run, bool cpu)
{
    static const size_t on_gpu[] = { 1 << 16, 1 << 20, 1 << 24 }, on_cpu[] = { 1 << 12, 1 << 16, 1 << 20 };
    run->sizes = run->options->n_sizes ? run->options->sizes : cpu ? on_cpu : on_gpu;
    run->n_sizes = run->options->n_sizes ? run->options->n_sizes : 3;
    run->n_queries = run->options->n_queries ? run->options->n_queries : (size_t) 1 << (cpu ? 20 : 24);
}

static void run_device(struct run *run)
{
    const struct ordo_device_facts *facts = ordo_device_facts(run->device);
    use_default_sizes(run, facts->cpu);
    run->rows_left = 0;
    for (int w = 0; w < run->options->n_workloads; w++)
        run->rows_left += list_series(run, (enum workload) run->options->workloads[w], NULL) * run->n_sizes;

    progress("measuring how fast %s copies", facts->name);
    if (measure_copy_rate(run->device, &run->copy) != ORDO_OK) {
        complain("cannot measure how fast %s copies its memory", facts->name);
        run->copy.bytes_per_second = NAN;
    }
    introduce_device(run, facts);
    json_begin_device(run, facts);
    for (int w = 0; w < run->options->n_workloads; w++)
        run_workload(run, (enum workload) run->options->workloads[w]);
}

/* ---- the program --------------------------------------------------------------------------------------------- */

static void print_list(void)
{
    char selected[MOST_SELECTED][SELECT_BYTES];
    printf("Workloads and their variants:\n");
    for (int w = 0; w < N_ALL_WORKLOADS; w++) {
        printf("  %-16s  %s\n", workload_name((enum workload) w), workload_text((enum workload) w));
        for (int v = 0; variant_name((enum workload) w, v) && variant_name((enum workload) w, 1); v++)
            printf("  %-16s    %s\n", "", variant_name((enum workload) w, v));
    }
    const int n = select_devices("all", selected);
    printf("Devices (ordo-info says more):%s\n", n ? "" : " none");
    for (int i = 0; i < n; i++) {
        ordo_device *device = NULL;
        if (ordo_device_open(&(struct ordo_device_config) { .select = selected[i], .no_self_test = true }, &device) ==
            ORDO_OK)
            printf("  %s  %s\n", selected[i], ordo_device_facts(device)->name);
        ordo_device_close(&device);
    }
}

/* Whether workloads of dictionaries, or of arrays, are measured. */
static bool any_of(const struct options *options, bool dicts)
{
    for (int w = 0; w < options->n_workloads; w++)
        if (workload_is_dict((enum workload) options->workloads[w]) == dicts)
            return true;
    return false;
}

static void conclude_arrays(const struct run *run)
{
    fprintf(
        run->out,
        "GB/s    10^9 bytes a second, counting those that have to move at least; copy: as a share of the copy rate\n");
    if (!run->options->no_host)
        fprintf(run->out, "/ x     this rate over that of x on one thread of the host\n");
}

static void conclude_dicts(const struct run *run)
{
    fprintf(
        run->out,
        "Dictionaries:\n"
        "rate    of updates over all batches; of queries the harmonic mean over fills of %u numbers of batches at "
        "most,\n"
        "        from the first to the last; worst, best: the extremes\n"
        "first   the first call after updates, which may have to settle what is new; rates are of the calls after it\n"
        "/ array this rate over that of a sorted array with the same elements; / rebuild: over building one\n"
        "        anew, each per element that goes in\n"
        "held    device memory at the end; / kept: over that of the keys and values that are there\n"
        "peak    device memory held at most; / data: over that of the keys and values that were put in\n",
        run->options->fills);
    if (run->options->no_host)
        return;
    fprintf(run->out,
            dict_yardstick_name(FILLRANDOM)
                ? "/ btree absl::btree_map on the host: updates on 1 thread, queries on 2; up to 2^22 elements\n"
                : "No B-tree to compare with: Abseil was not there at build time (Debian: libabsl-dev).\n");
}

static void conclude(const struct run *run)
{
    fprintf(
        run->out,
        "\n"
        "rate    elements (of searches: queries; of dictionaries: operations) a second by the wall clock, the median "
        "of\n"
        "        the repetitions\n"
        "+-      half the way from their 10th to their 90th percentile\n"
        "device  the time of a call on the device's own clock\n"
        "check   whether all of the output was right\n");
    if (run->peer_program)
        fprintf(run->out, "/ peer  this rate over that of CUB, Thrust or an LSM of CUB's calls on this device\n");
    if (any_of(run->options, false))
        conclude_arrays(run);
    if (any_of(run->options, true))
        conclude_dicts(run);
    if (run->slower)
        fprintf(run->out, "Rows slower than in %s: %d.\n", run->options->compare, run->slower);
    if (run->skipped)
        fprintf(run->out, "Rows skipped, as the budget was spent: %d.\n", run->skipped);
    if (run->wrong)
        fprintf(run->out, "Rows WRONG: %d.\n", run->wrong);
    if (run->failed)
        fprintf(run->out, "Rows that failed: %d.\n", run->failed);
}

static int save_json(const struct run *run)
{
    char why[512];
    if (!run->options->json || json_write(run->options->json, run->json, why, sizeof why))
        return EXIT_GOOD;
    complain("%s", why);
    return EXIT_FAILED;
}

static int run_all(struct run *run)
{
    char selected[MOST_SELECTED][SELECT_BYTES];
    int  n = select_devices(run->options->device, selected), code = EXIT_GOOD;
    if (n == 0) {
        complain("there is no OpenCL device; ordo-info says what would bring one");
        return EXIT_FAILED;
    }
    const double whole = run->options->budget / n;
    for (int i = 0; i < n; i++) {
        progress_about("%s", "");
        progress("opening the device");
        run->device = open_device(selected[i]);
        if (!run->device) {
            code = EXIT_FAILED;
            continue;
        }
        run->deadline = run->options->budget > 0 ? now() + whole : (double) INFINITY;
        if (cJSON_GetArraySize(run->devices))
            fprintf(run->out, "\n");
        run->device_number = cJSON_GetArraySize(run->devices);
        run_device(run);
        ordo_device_close(&run->device);
    }
    if (cJSON_GetArraySize(run->devices))
        conclude(run);
    if (save_json(run) != EXIT_GOOD || run->wrong || run->failed)
        code = EXIT_FAILED;
    return code;
}

int main(int argc, char **argv)
{
    tool_name("ordo-bench");
    const struct options options = read_options(argc, argv);
    if (options.list) {
        print_list();
        return EXIT_GOOD;
    }

    struct run run = { .options = &options, .out = options.json && strcmp(options.json, "-") == 0 ? stderr : stdout };
    char       why[512] = "";
    if (options.compare)
        run.before = read_former(options.compare);
    if (options.peers && !(run.peer_program = peer_program(why, sizeof why)))
        usage_error("--peers: %s", why);
    run.json = json_head("ordo-bench", argc, argv);
    run.devices = cJSON_AddArrayToObject(run.json, "devices");
    run.rows = cJSON_AddArrayToObject(run.json, "rows");

    const int code = run_all(&run);
    cJSON_Delete(run.json);
    cJSON_Delete(run.before);
    free(run.peer_program);
    return code;
}
