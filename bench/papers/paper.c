/* SPDX-License-Identifier: Apache-2.0 */
#include "papers.h"

#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/workload/workload.h"

#include <stdlib.h>
#include <string.h>

static const char *const gpu_lsm[] = {
#include "gpu_lsm_paper.h"
};
static const char *const gpu_b_tree[] = {
#include "gpu_b_tree_paper.h"
};
static const char *const gpu_skiplist_gfsl[] = {
#include "gpu_skiplist_gfsl_paper.h"
};
static const char *const fast_tree[] = {
#include "fast_tree_paper.h"
};
static const char *const xfast_trie_and_hamt[] = {
#include "xfast_trie_and_hamt_paper.h"
};

static const struct {
    const char        *name;
    const char *const *lines;
} papers[] = {
    { "gpu-lsm", gpu_lsm },
    { "gpu-b-tree", gpu_b_tree },
    { "gpu-skiplist-gfsl", gpu_skiplist_gfsl },
    { "fast-tree", fast_tree },
    { "xfast-trie-and-hamt", xfast_trie_and_hamt },
};
#define N_PAPERS (sizeof papers / sizeof *papers)

/* ---- short forms of a file ----------------------------------------------------------------------------------- */

/* Copies each member of "common" to the runs that lack it. */
static void spread_common(const cJSON *experiment)
{
    cJSON       *run = NULL;
    const cJSON *member = NULL;
    cJSON_ArrayForEach(run, json_at(experiment, "runs"))
        cJSON_ArrayForEach(member, json_at(experiment, "common")) {
            if (!json_at(run, member->string) && !json_at(run, "limit"))
                cJSON_AddItemToObject(run, member->string, cJSON_Duplicate(member, true));
        }
}

/* Adds a row, or one of each member if the last cell is an object: [..., name, number]. */
static void add_row(cJSON *all, const cJSON *row)
{
    const int    last = cJSON_GetArraySize(row) - 1;
    const cJSON *cells = cJSON_GetArrayItem(row, last), *cell = NULL;
    if (!cJSON_IsObject(cells))
        cJSON_AddItemToArray(all, cJSON_Duplicate(row, true));
    cJSON_ArrayForEach(cell, cells) {
        cJSON *one = cJSON_Duplicate(row, true);
        cJSON_ReplaceItemInArray(one, last, cJSON_CreateString(cell->string));
        cJSON_AddItemToArray(one, cJSON_Duplicate(cell, true));
        cJSON_AddItemToArray(all, one);
    }
}

/* A copy with the i-th item in place of each list within. */
static cJSON *without_lists(const cJSON *cell, int i)
{
    const cJSON *member = NULL;
    cJSON       *copy = cJSON_Duplicate(cJSON_IsArray(cell) ? cJSON_GetArrayItem(cell, i) : cell, false);
    if (cJSON_IsObject(cell))
        cJSON_ArrayForEach(member, cell)
            cJSON_AddItemToObject(copy, member->string, without_lists(member, i));
    return copy;
}

/* Makes a row of each item if cells are lists. */
static void spread_rows(cJSON *experiment)
{
    cJSON       *all = cJSON_CreateArray();
    const cJSON *row = NULL, *cell = NULL;
    cJSON_ArrayForEach(row, json_at(experiment, "rows")) {
        int n = 1;
        cJSON_ArrayForEach(cell, row)
            n = cJSON_IsArray(cell) ? cJSON_GetArraySize(cell) : n;
        for (int i = 0; i < n; i++) {
            cJSON *one = cJSON_CreateArray();
            cJSON_ArrayForEach(cell, row)
                cJSON_AddItemToArray(one, without_lists(cell, i));
            add_row(all, one);
            cJSON_Delete(one);
        }
    }
    cJSON_DeleteItemFromObjectCaseSensitive(experiment, "rows");
    cJSON_AddItemToObject(experiment, "rows", all);
}

/* Adds the members of "shared" as columns before the last, and to all rows. */
static void spread_shared(const cJSON *experiment)
{
    const cJSON *member = NULL;
    cJSON       *row = NULL, *columns = json_at(experiment, "columns"), *rows = json_at(experiment, "rows");
    cJSON_ArrayForEach(member, json_at(experiment, "shared")) {
        cJSON_InsertItemInArray(columns, cJSON_GetArraySize(columns) - 1, cJSON_CreateString(member->string));
        cJSON_ArrayForEach(row, rows)
            cJSON_InsertItemInArray(row, cJSON_GetArraySize(row) - 1, cJSON_Duplicate(member, false));
    }
}

static cJSON *spread(cJSON *paper)
{
    cJSON *experiment = NULL;
    cJSON_ArrayForEach(experiment, json_at(paper, "experiments")) {
        spread_common(experiment);
        spread_rows(experiment);
        spread_shared(experiment);
    }
    return paper;
}

static cJSON *parse_lines(const char *const *lines)
{
    char  *text = text_of_lines(lines);
    cJSON *paper = text ? cJSON_Parse(text) : NULL;
    free(text);
    return paper;
}

static bool is_paper(const cJSON *paper)
{
    return *text_of(paper, "id") && cJSON_IsArray(json_at(paper, "experiments")) &&
           cJSON_IsArray(json_at(paper, "claims"));
}

cJSON *paper_load(const char *name, char *why)
{
    const size_t length = strlen(name);
    size_t       used = 0;
    if (length > 5 && strcmp(name + length - 5, ".json") == 0) {
        cJSON *paper = json_read(name, why);
        if (!paper || is_paper(paper))
            return spread(paper);
        cJSON_Delete(paper);
        because(why, "%s says no experiments and claims of a paper", name);
        return NULL;
    }
    for (size_t p = 0; p < N_PAPERS; p++) {
        cJSON *paper = strcmp(name, papers[p].name) == 0 ? parse_lines(papers[p].lines) : NULL;
        if (paper)
            return spread(paper);
    }
    used = (size_t) snprintf(why, WHY_BYTES, "unknown paper '%s' (choose ", name);
    for (size_t p = 0; p < N_PAPERS && used < WHY_BYTES; p++)
        used += (size_t) snprintf(why + used, WHY_BYTES - used, "%s%s", papers[p].name, p + 1 < N_PAPERS ? ", " : ")");
    return NULL;
}

/* ---- structures ---------------------------------------------------------------------------------------------- */

const char *paper_structure(const cJSON *paper, const char *structure)
{
    const cJSON *structures = json_at(paper, "structures");
    return text_of(json_at(structures, structure), "ordo");
}

const char *paper_name_of(const cJSON *paper, const char *ordo)
{
    const cJSON *structure = NULL;
    cJSON_ArrayForEach(structure, json_at(paper, "structures")) {
        if (*ordo && text_is(structure, "ordo", ordo))
            return structure->string;
    }
    return "";
}

static bool is_there(const char *ordo)
{
    for (int s = 0; s < N_VARIANTS; s++)
        if (strcmp(variant_name(BUILD, s), ordo) == 0)
            return true;
    return false;
}

bool paper_has(const cJSON *paper, const char *structure)
{
    return is_there(paper_structure(paper, structure));
}

const char *paper_needs(const cJSON *paper)
{
    const cJSON *needed = NULL, *list = json_at(paper, "needs");
    const char  *missing = NULL;
    cJSON_ArrayForEach(needed, list) {
        if (cJSON_IsString(needed) && is_there(needed->valuestring))
            return NULL;
        missing = cJSON_IsString(needed) ? needed->valuestring : missing;
    }
    return missing;
}

const cJSON *paper_experiment(const cJSON *paper, const char *id)
{
    const cJSON *experiment = NULL;
    cJSON_ArrayForEach(experiment, json_at(paper, "experiments")) {
        if (text_is(experiment, "id", id))
            break;
    }
    return experiment;
}
