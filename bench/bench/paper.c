/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/papers/papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ON_GPU_MAX     ((size_t) 1 << 24)
#define ON_GPU_MIN     ((size_t) 1 << 20)
#define ON_CPU_MAX     ((size_t) 1 << 18)
#define SECONDS_ON_GPU 480
#define SECONDS_ON_CPU 300
/* Fewer queries on a GPU would measure launches. */
#define QUERIES_MIN 0x1p21
/* The turn of runs that are "late". All other turns are less. */
#define TURN_LATE 64
/* Elements of long intervals, at most, per element stored. */
#define RESULTS_MAX 8

/* One run of an experiment at one place; its options are in `options`. */
struct part {
    const cJSON *experiment, *run; /* a `run` without options is a limit */
    double       scale;
    int          turn; /* parts with lower turns come first */
};

struct paper_run {
    cJSON          *paper;
    cJSON          *beside; /* a file of another device, or NULL */
    const char     *program;
    const char    **how; /* from the command line */
    int             n_how;
    bool            full;
    size_t          most;         /* 0: the device's default */
    double          less;         /* divisor of elements, if time is short */
    double          most_queries; /* of a call; INFINITY: as in the experiment */
    double          budget;
    cJSON          *numbers; /* by experiment id */
    cJSON          *limits;  /* of the device */
    struct part    *parts;
    struct options *options;
    int             n_parts;
};

/* ---- the plan ------------------------------------------------------------------------------------------------ */

struct paper_run *paper_begin(int argc, char **argv, const struct options *options)
{
    static const char *const without[] = { "--budget", NULL };
    static const char *const own[] = { "--budget", "--sizes", "--full", NULL };
    struct paper_run        *p = calloc(1, sizeof *p);
    char                     why[WHY_BYTES] = "";
    if (!p || !(p->how = calloc((size_t) argc * 2 + 3, sizeof *p->how)))
        usage_error("out of memory");
    const char **all = calloc((size_t) argc * 2 + 1, sizeof *all);
    const int    n_all = all ? repeat_options(argc, argv, false, own, all) : 0;
    p->n_how = repeat_options(argc, argv, true, without, p->how);
    if (p->n_how < n_all || options->n_sizes > 1)
        usage_error(
            "'paper' selects the measurements itself: use only --full, or --sizes with one number, the most elements");
    if (options->processes > 1 || options->n_compare || options->against)
        usage_error("'paper' measures in one process: --processes, --compare and --against cannot be used with it");
    free(all);
    p->program = argv[0];
    p->paper = paper_load(options->paper, why);
    if (!p->paper)
        usage_error("%s", why);
    p->beside = options->beside ? json_read(options->beside, why) : NULL;
    if (options->beside && !p->beside)
        usage_error("--beside: %s", why);
    p->full = options->full;
    p->most = options->n_sizes ? options->sizes[0] : 0;
    p->budget = options->budget;
    p->less = 1;
    p->most_queries = INFINITY;
    return p;
}

static void forget_parts(struct paper_run *p)
{
    free(p->parts);
    free(p->options);
    cJSON_Delete(p->numbers);
    p->parts = NULL;
    p->options = NULL;
    p->n_parts = 0;
    p->numbers = NULL;
}

void paper_end(struct paper_run **paper)
{
    if (!*paper)
        return;
    forget_parts(*paper);
    cJSON_Delete((*paper)->paper);
    cJSON_Delete((*paper)->beside);
    cJSON_Delete((*paper)->limits);
    free((*paper)->how);
    free(*paper);
    *paper = NULL;
}

/* ---- one part's options -------------------------------------------------------------------------------------- */

/* Adds the known structures. False if all are unknown. */
static bool add_structures(const struct paper_run *p, FILE *words, const cJSON *structures)
{
    const cJSON *structure = NULL;
    int          n = 0;
    cJSON_ArrayForEach(structure, structures) {
        if (paper_has(p->paper, structure->valuestring))
            fprintf(words, "%s%s", n++ ? "," : " --structure ", paper_structure(p->paper, structure->valuestring));
    }
    return n || !structures;
}

/* " --batch =1024" */
static void add_number(FILE *words, const char *option, double number)
{
    fprintf(words, " %s =%lld", option, llround(fmax(1, number)));
}

/* Takes as many queries as elements or the given number, enough to keep the device busy, unless `listed` varies
 * them. */
static void add_queries(const struct paper_run *p, FILE *words, const cJSON *run, const cJSON *listed, double n,
                        double scale, double most)
{
    const cJSON *queries = listed ? listed : json_at(run, "queries");
    const char  *width = strstr(text_of(run, "options"), "--width ");
    double       count = cJSON_IsNumber(queries) ? queries->valuedouble / scale : n / scale;
    if (!queries)
        return;
    if (!listed && !text_is(run, "value", "ms")) /* times are of this number */
        count = fmin(fmax(count, fmin(n, most / 4)), p->most_queries);
    if (width)
        count = fmin(count, RESULTS_MAX * (n / scale) / strtod(width + 8, NULL));
    add_number(words, "--queries", count);
}

/* A place on the axes of a run; NULL without a list. */
struct place {
    const cJSON *n, *batch, *queries;
};

static bool part_options(const struct paper_run *p, const cJSON *run, const struct place *place, double scale,
                         double most, struct options *options)
{
    char        *text = NULL;
    size_t       bytes = 0;
    FILE        *words = open_memstream(&text, &bytes);
    const cJSON *scheme = NULL;
    if (!words)
        usage_error("out of memory");
    fprintf(words, "--no-host --no-array %s", text_of(run, "options"));
    const bool known = add_structures(p, words, json_at(run, "structures"));
    cJSON_ArrayForEach(scheme, json_at(run, "schemes"))
        fprintf(words, "%s%s", scheme == json_at(run, "schemes")->child ? " --variant " : ",", scheme->string);
    if (place->n)
        add_number(words, "--sizes", place->n->valuedouble / scale);
    if (place->batch)
        add_number(words, "--batch", place->batch->valuedouble / scale);
    add_queries(p, words, run, place->queries, place->n ? place->n->valuedouble : 0, scale, most);
    if (fclose(words) != 0)
        usage_error("out of memory");
    if (known) {
        *options = options_of(p->program, p->how, p->n_how, text);
        options->budget = 0;
    }
    free(text);
    return known;
}

/* ---- all parts ----------------------------------------------------------------------------------------------- */

/* Elements that the device handles in the time. */
static double most_elements(const struct paper_run *p, const struct ordo_facts *facts)
{
    const size_t most = p->most ? p->most : facts->cpu ? ON_CPU_MAX : ON_GPU_MAX;
    return fmin((double) most, (double) facts->global_bytes / 64) / p->less;
}

static void add_part(struct paper_run *p, const struct part *part, const struct options *options)
{
    p->parts = realloc(p->parts, ((size_t) p->n_parts + 1) * sizeof *p->parts);
    p->options = realloc(p->options, ((size_t) p->n_parts + 1) * sizeof *p->options);
    if (!p->parts || !p->options)
        usage_error("out of memory");
    p->parts[p->n_parts] = *part;
    p->options[p->n_parts++] = *options;
}

/* Visits both ends of an axis first, then halves the gaps, so that claims get their most important figures first. */
static int turn_of(int i, int n)
{
    int low = 0, high = n - 1, turn = 2;
    if (i == 0 || i == high)
        return i ? 1 : 0;
    for (;; turn++) {
        const int middle = (low + high) / 2;
        if (i == middle)
            return turn;
        *(i < middle ? &high : &low) = middle;
    }
}

/* The i-th item of a list, or NULL; raises *turn. */
static const cJSON *item_of(const cJSON *list, int i, int *turn)
{
    const int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    const int here = n ? turn_of(i, n) : 0;
    *turn = here > *turn ? here : *turn;
    return n ? cJSON_GetArrayItem(list, i) : NULL;
}

static int places_of(const cJSON *list)
{
    const int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    return n ? n : 1;
}

/* Gives this device the name that claims about a CPU and a GPU use. */
static void name_device(const cJSON *run, const struct ordo_facts *facts)
{
    cJSON *cells = json_at(run, "cells");
    if (text_is(cells, "device", "here"))
        cJSON_ReplaceItemInObjectCaseSensitive(cells, "device", cJSON_CreateString(facts->cpu ? "cpu" : "gpu"));
}

/* Adds a part per size, batch and number of queries; none if no structure is known. */
static void add_run(struct paper_run *p, const cJSON *experiment, const cJSON *run, double most)
{
    const cJSON   *sizes = json_at(run, "n"), *batches = json_at(run, "batches"), *queries = json_at(run, "queries");
    const cJSON   *n = NULL;
    const int      n_batches = places_of(batches), n_queries = places_of(queries);
    struct part    part = { experiment, run, 1, 0 };
    struct options options = { .n_workloads = 0 };
    cJSON_ArrayForEach(n, sizes)
        while (!p->full && fmax(n->valuedouble, number_of(run, "largest")) / part.scale > most)
            part.scale *= 2; /* for n and batches */
    if (*text_of(run, "limit"))
        add_part(p, &part, &options);
    for (int i = 0; i < cJSON_GetArraySize(sizes) * n_batches * n_queries; i++) {
        part.turn = is_true(run, "late") ? TURN_LATE : 0;
        const struct place place = { item_of(sizes, i / n_queries / n_batches, &part.turn),
                                     item_of(batches, i / n_queries % n_batches, &part.turn),
                                     item_of(queries, i % n_queries, &part.turn) };
        if (part_options(p, run, &place, part.scale, most, &options))
            add_part(p, &part, &options);
    }
}

static void add_parts(struct paper_run *p, const struct ordo_facts *facts)
{
    const double most = most_elements(p, facts);
    const cJSON *experiment = NULL, *of = NULL;
    forget_parts(p);
    p->numbers = cJSON_CreateObject();
    cJSON_ArrayForEach(experiment, json_at(p->paper, "experiments")) {
        cJSON_AddArrayToObject(p->numbers, text_of(experiment, "id"));
        if (!paper_needs(p->paper))
            cJSON_ArrayForEach(of, json_at(experiment, "runs")) {
                name_device(of, facts);
                add_run(p, experiment, of, most);
            }
    }
}

/* All queries at all fills, for which the host computes answers. */
static double answers(const struct paper_run *p)
{
    double all = 0;
    for (int i = 0; i < p->n_parts; i++) {
        const struct options *o = &p->options[i];
        for (int w = 0; w < o->n_workloads; w++)
            if (workload_is_dict((enum workload) o->workloads[w]) &&
                workload_has_queries((enum workload) o->workloads[w]))
                all += (double) o->n_queries * o->fills * (o->n_batches ? o->n_batches : 1);
    }
    return all;
}

/* Answers a second on the host of a GPU. */
#define ANSWERS_PER_S 4e7

/* Halves the queries of a call, then the elements. False at the minimum. */
static bool shrink(struct paper_run *p, const struct ordo_facts *facts)
{
    const double most = most_elements(p, facts);
    if (fmin(p->most_queries, most) > QUERIES_MIN) {
        p->most_queries = fmin(p->most_queries, most) / 2;
        return true;
    }
    p->less *= most > ON_GPU_MIN ? 2 : 1;
    return most > ON_GPU_MIN;
}

int paper_parts(struct run *run, const struct options **parts)
{
    struct paper_run        *p = run->paper;
    const struct ordo_facts *facts = ordo_device_facts(run->device);
    const bool               may_shrink = p->budget > 0 && !p->full && !p->most && !facts->cpu;
    do
        add_parts(p, facts);
    while (may_shrink && answers(p) > p->budget * ANSWERS_PER_S && shrink(p, facts));
    if (p->budget == 0 && !p->full)
        run->deadline = now() + (facts->cpu ? SECONDS_ON_CPU : SECONDS_ON_GPU);
    *parts = p->options;
    return p->n_parts;
}

/* ---- measuring ----------------------------------------------------------------------------------------------- */

static cJSON *figures_of(const struct paper_run *p, const cJSON *experiment)
{
    return json_at(p->numbers, text_of(experiment, "id"));
}

static void measure_series(struct run *run, const struct part *part, struct series *series)
{
    const struct paper_run   *p = run->paper;
    const struct measured_run measured = { p->paper, part->run, p->limits, part->scale };
    for (int i = 0; i < run->n_sizes && !stop_asked(); i++) {
        struct row *row = &series->rows[i];
        *row = (struct row) { .spec = series->spec, .before = NAN };
        row->spec.count = run->sizes[i];
        row_settle(run, row, NULL);
        if (row->outcome != GOOD)
            say(run->out, 4, "%s: %s %s of %s: %s", outcome_name(row->outcome), workload_name(row->spec.workload),
                variant_name(row->spec.workload, row->spec.variant), text_count(TEXT, row->spec.count), row->why);
        figures_add(&measured, file_row(&run->file, run->device_number, &row->spec), figures_of(p, part->experiment));
        dict_figures_free(&row->dict);
    }
}

static void measure_workload(struct run *run, const struct part *part, enum workload workload)
{
    int            n;
    struct series *list = make_series(run, workload, &n);
    const bool     dict = workload_is_dict(workload);
    for (int first = 0; first < n && !stop_asked(); first++)
        for (int s = first; s < n && !(dict && series_follows(list, first)) && !stop_asked(); s++)
            if (s == first || (dict && spec_asks_same(&list[s].spec, &list[first].spec)))
                measure_series(run, part, &list[s]);
    free(list);
}

static void measure_part(struct run *run, int number)
{
    const struct paper_run   *p = run->paper;
    const struct part        *part = &p->parts[number];
    const struct measured_run measured = { p->paper, part->run, p->limits, 1 };
    if (*text_of(part->run, "limit")) {
        figures_add_limit(&measured, figures_of(p, part->experiment));
        return;
    }
    begin_part(run, &p->options[number]);
    for (int w = 0; w < run->options->n_workloads && !stop_asked(); w++)
        measure_workload(run, part, (enum workload) run->options->workloads[w]);
}

/* ---- experiments ------------------------------------------------------------------------------------------------- */

static void copy_texts(cJSON *to, const cJSON *from, const char *const *names)
{
    for (; *names; names++)
        json_text(to, *names, text_of(from, *names));
}

static void show_experiment(struct run *run, const cJSON *experiment, cJSON *list)
{
    const struct paper_run *p = run->paper;
    const cJSON            *note = NULL;
    double                  scale = 1;
    char                    queries[TEXT_BYTES];
    cJSON                  *rows = paper_rows_beside(experiment, figures_of(p, experiment));
    cJSON                  *json = json_append(list);
    for (int i = p->n_parts; i-- > 0;)
        if (p->parts[i].experiment == experiment && !*text_of(p->parts[i].run, "limit"))
            scale = p->parts[i].scale;
    say(run->out, 4, "\n%s: %s. %s", text_of(experiment, "where"), text_of(experiment, "title"),
        text_of(experiment, "unit"));
    if (*text_of(experiment, "lacks"))
        say(run->out, 4, "    not measured: %s", text_of(experiment, "lacks"));
    if (scale > 1)
        say(run->out, 4, "    measured with the paper's n and batches over %.0f", scale);
    if (p->most_queries < INFINITY)
        say(run->out, 4, "    by %s queries at a time at most, as there is little time",
            text_count(queries, (size_t) p->most_queries));
    cJSON_ArrayForEach(note, json_at(experiment, "notes"))
        say(run->out, 4, "    %s", note->valuestring);
    if (cJSON_GetArraySize(rows))
        paper_print_rows(run->out, experiment, rows);
    copy_texts(json, experiment, (const char *[]) { "id", "where", "title", "unit", NULL });
    json_exact(json, "scale", scale);
    cJSON_AddItemToObject(json, "rows", rows);
}

/* ---- claims -------------------------------------------------------------------------------------------------- */

static void show_claim(const struct run *run, const cJSON *claim, const struct judgement *judgement, cJSON *list)
{
    cJSON *json = cJSON_CreateObject(), *paper = json_at(claim, "paper"), *item = NULL;
    char   said[64] = "", there[40] = "", here[40] = "";
    size_t used = 0;
    if (cJSON_IsNumber(paper))
        snprintf(said, sizeof said, "; paper %.4g", paper->valuedouble);
    cJSON_ArrayForEach(item, paper)
        if (used < sizeof said)
            used += (size_t) snprintf(said + used, sizeof said - used, cJSON_IsNumber(item) ? "%s%.4g" : "%s...",
                                      used ? " to " : "; paper ", item->valuedouble);
    if (*said && !isnan(judgement->there))
        snprintf(there, sizeof there, ", at these cells %.4g", judgement->there);
    if (*said && !isnan(judgement->here))
        snprintf(here, sizeof here, ", here %.4g", judgement->here);
    say(run->out, 4, "%s: %s (%s)%s%s%s. %s", verdict_name(judgement->verdict), text_of(claim, "says"),
        text_of(claim, "where"), said, there, here, judgement->why);
    if (*text_of(claim, "note"))
        say(run->out, 4, "    %s", text_of(claim, "note"));
    copy_texts(json, claim, (const char *[]) { "id", "where", "experiment", "says", NULL });
    json_text(json, "verdict", verdict_name(judgement->verdict));
    cJSON_AddItemToObject(json, "paper", paper ? cJSON_Duplicate(paper, true) : cJSON_CreateNull());
    json_number(json, "there", judgement->there);
    json_number(json, "here", judgement->here);
    json_text(json, "why", judgement->why);
    cJSON_AddItemToArray(list, json);
}

static void show_claims(struct run *run, cJSON *list)
{
    const struct paper_run *p = run->paper;
    const cJSON            *claim = NULL;
    int                     counts[N_VERDICTS] = { 0 }, n = 0;
    say(run->out, 0, "\nClaims\n");
    cJSON_ArrayForEach(claim, json_at(p->paper, "claims")) {
        const struct judgement judgement = claim_judge(p->paper, claim, p->numbers, p->limits);
        show_claim(run, claim, &judgement, list);
        counts[judgement.verdict]++;
        n++;
    }
    say(run->out, 4, "\nOf %d claims %d hold, %d by less, %d do not, and %d cannot be asked.", n, counts[HOLDS],
        counts[BY_LESS], counts[DOES_NOT], counts[CANNOT_BE_ASKED]);
}

/* ---- all together -------------------------------------------------------------------------------------------- */

/* Replaces the paper's object of this device in the file. */
static cJSON *object_in_file(struct run *run)
{
    const struct paper_run *p = run->paper;
    cJSON                  *papers = json_at(run->file.json, "papers"), *paper = NULL;
    if (!papers)
        papers = cJSON_AddArrayToObject(run->file.json, "papers");
    cJSON_ArrayForEach(paper, papers) {
        if (number_of(paper, "device") == run->device_number)
            break;
    }
    cJSON_Delete(paper ? cJSON_DetachItemViaPointer(papers, paper) : NULL);
    paper = cJSON_CreateObject();
    json_exact(paper, "device", run->device_number);
    copy_texts(paper, p->paper, (const char *[]) { "id", "paper", NULL });
    json_text(paper, "measured_on", text_of(p->paper, "device"));
    json_flag(paper, "full", p->full);
    cJSON_AddItemToArray(papers, paper);
    return paper;
}

/* Adds figures computed from others. A crossover is one or a list. */
static void add_derived(const struct paper_run *p, const cJSON *experiment)
{
    const cJSON *ratios = json_at(experiment, "ratios"), *crossovers = json_at(experiment, "crossover"), *one = NULL;
    cJSON       *figures = figures_of(p, experiment);
    if (cJSON_IsObject(crossovers))
        figures_add_crossovers(crossovers, figures);
    else
        cJSON_ArrayForEach(one, crossovers)
            figures_add_crossovers(one, figures);
    if (ratios)
        figures_add_ratios(ratios, json_at(p->numbers, text_of(ratios, "of")), figures);
}

/* Adds the figures of the other kind of device, at the paper's sizes, from a file of this paper. */
static void add_other_device(const struct paper_run *p, const cJSON *paper, const char *kind)
{
    const cJSON *experiment = NULL, *row = NULL;
    cJSON_ArrayForEach(experiment, json_at(paper, "experiments"))
        cJSON_ArrayForEach(row, json_at(experiment, "rows")) {
            if (!text_is(row, "device", kind) || isnan(number_of(row, "here")) || number_of(experiment, "scale") > 1)
                continue;
            cJSON *figure = cJSON_Duplicate(row, true);
            json_exact(figure, "value", number_of(row, "here"));
            cJSON_DeleteItemFromObjectCaseSensitive(figure, "paper");
            cJSON_DeleteItemFromObjectCaseSensitive(figure, "here");
            cJSON_AddItemToArray(figures_of(p, experiment), figure);
        }
}

void paper_measure(struct run *run)
{
    struct paper_run *p = run->paper;
    cJSON            *json = object_in_file(run), *experiments = cJSON_AddArrayToObject(json, "experiments");
    const cJSON      *experiment = NULL, *paper = NULL;
    const char       *needs = paper_needs(p->paper);
    int               last = 0;
    cJSON_Delete(p->limits);
    p->limits = limits_to_json(&run->limits);
    say(run->out, 4, "\n%s", text_of(p->paper, "paper"));
    say(run->out, 4, "    \"paper\" is what its text says, measured on %s", text_of(p->paper, "device"));
    if (needs)
        say(run->out, 4, "    nothing is measured: it is about a structure that is not there, %s", needs);
    for (int i = 0; i < p->n_parts; i++)
        last = p->parts[i].turn > last ? p->parts[i].turn : last;
    for (int turn = 0; turn <= last; turn++)
        for (int i = 0; i < p->n_parts && !stop_asked(); i++)
            if (p->parts[i].turn == turn)
                measure_part(run, i);
    cJSON_ArrayForEach(paper, json_at(p->beside, "papers"))
        if (text_is(paper, "id", text_of(p->paper, "id")))
            add_other_device(p, paper, ordo_device_facts(run->device)->cpu ? "gpu" : "cpu");
    cJSON_ArrayForEach(experiment, json_at(p->paper, "experiments")) {
        add_derived(p, experiment);
        if (!needs)
            show_experiment(run, experiment, experiments);
    }
    show_claims(run, cJSON_AddArrayToObject(json, "claims"));
}
