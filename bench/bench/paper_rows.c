/* SPDX-License-Identifier: Apache-2.0 */
/* Measured figures beside a paper's, as rows of a table. */
#include "run.h"

#include "bench/papers/papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_beside(cJSON *rows, cJSON *cells, double paper, double here)
{
    json_number(cells, "paper", paper);
    json_number(cells, "here", here);
    cJSON_AddItemToArray(rows, cells);
}

/* Whether each row of the paper that these cells stand for, null for any, was measured at the paper's sizes. */
static bool is_measured(const cJSON *experiment, const cJSON *cells, const cJSON *figures)
{
    const cJSON *row = NULL;
    bool         all = true;
    cJSON_ArrayForEach(row, json_at(experiment, "rows")) {
        cJSON            *one = figure_cells(experiment, row);
        cJSON            *list = cJSON_CreateArray();
        struct figure_set of_row = figures_with(figures, one), within;
        cJSON_AddNumberToObject(one, "value", 0);
        cJSON_AddItemToArray(list, one);
        within = figures_with(list, cells);
        all &= within.n == 0 || (of_row.n > 0 && !json_at(of_row.all[0], "scale"));
        free(of_row.all);
        free(within.all);
        cJSON_Delete(list);
    }
    return all;
}

cJSON *paper_rows_beside(const cJSON *experiment, const cJSON *figures)
{
    const bool   rates = figures_are_rates(experiment);
    const cJSON *row = NULL, *figure = NULL;
    cJSON       *rows = cJSON_CreateArray(), *theirs = cJSON_CreateArray();
    cJSON_ArrayForEach(row, json_at(experiment, "rows")) {
        cJSON      *cells = figure_cells(experiment, row);
        struct line line = figures_select(figures, cells, NULL, rates);
        cJSON_AddItemToArray(theirs, cJSON_Duplicate(cells, true));
        add_beside(rows, cells, figure_value(experiment, row),
                   is_measured(experiment, cells, figures) ? line_mean(&line) : NAN);
        free(line.points);
    }
    cJSON_ArrayForEach(figure, figures) {
        cJSON *cells = cJSON_CreateObject(), *column = NULL;
        cJSON_ArrayForEach(column, json_at(experiment, "columns")) {
            const cJSON *cell = json_at(figure, column->valuestring);
            if (strcmp(column->valuestring, "value") != 0)
                cJSON_AddItemToObject(cells, column->valuestring,
                                      cell ? cJSON_Duplicate(cell, true) : cJSON_CreateNull());
        }
        bool is_there = false;
        cJSON_ArrayForEach(row, theirs)
            is_there |= cJSON_Compare(row, cells, true);
        if (is_there)
            cJSON_Delete(cells);
        else
            add_beside(rows, cells, NAN, number_of(figure, "value"));
    }
    cJSON_Delete(theirs);
    return rows;
}

static bool is_count(const char *column)
{
    return strcmp(column, "n") == 0 || strcmp(column, "batch") == 0 || strcmp(column, "queries") == 0;
}

#define CELL_BYTES ((size_t) 2 * TEXT_BYTES)

static void cell_text(const cJSON *row, const char *column, char text[CELL_BYTES])
{
    const cJSON *cell = json_at(row, column);
    if (cJSON_IsString(cell))
        snprintf(text, CELL_BYTES, "%.60s", cell->valuestring);
    else if (cJSON_IsNumber(cell) && is_count(column))
        text_count(text, (size_t) cell->valuedouble);
    else if (cJSON_IsNumber(cell))
        snprintf(text, CELL_BYTES, "%.4g", cell->valuedouble);
    else
        snprintf(text, CELL_BYTES, "%s", is_count(column) ? "all" : "-");
}

static int width_of(const cJSON *rows, const char *column)
{
    const cJSON *row = NULL;
    char         text[CELL_BYTES];
    int          width = (int) strlen(column);
    cJSON_ArrayForEach(row, rows) {
        cell_text(row, column, text);
        width = (int) strlen(text) > width ? (int) strlen(text) : width;
    }
    return width;
}

/* Prints at most these figures that the paper does not have. */
#define OTHERS_PRINTED 24

void paper_print_rows(FILE *out, const cJSON *experiment, const cJSON *rows)
{
    struct column columns[COLUMNS_MAX];
    struct table  table = { .out = out, .columns = columns };
    const cJSON  *item = NULL, *row = NULL;
    int           others = 0, n = 0;
    cJSON_ArrayForEach(item, json_at(experiment, "columns")) {
        if (strcmp(item->valuestring, "value") == 0 || n > COLUMNS_MAX - 4)
            continue;
        columns[n] = (struct column) { "", width_of(rows, item->valuestring), !is_count(item->valuestring), 0 };
        snprintf(columns[n].title, sizeof columns[n].title, "%s", item->valuestring);
        n++;
    }
    columns[n] = (struct column) { "paper", 9, false, 0 };
    columns[n + 1] = (struct column) { "here", 9, false, 0 };
    columns[n + 2] = (struct column) { "here / paper", 12, false, 0 };
    table.n_columns = n + 3;
    table_head(&table);
    cJSON_ArrayForEach(row, rows) {
        char         texts[COLUMNS_MAX][CELL_BYTES];
        const char  *cells[COLUMNS_MAX];
        const double paper = number_of(row, "paper"), here = number_of(row, "here");
        if (isnan(paper) && ++others > OTHERS_PRINTED)
            continue;
        for (int c = 0; c < n + 2; c++)
            cell_text(row, columns[c].title, texts[c]);
        snprintf(texts[n + 2], sizeof *texts, isnan(here / paper) ? "-" : "%.2gx", here / paper);
        for (int c = 0; c < table.n_columns; c++)
            cells[c] = texts[c];
        table_row(&table, cells);
    }
    if (others > OTHERS_PRINTED)
        say(out, 4, "and %d more, which --json keeps", others - OTHERS_PRINTED);
}
