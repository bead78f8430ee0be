/* SPDX-License-Identifier: Apache-2.0 */
/* What goes into calls on dictionaries and what comes out, in host memory: a sheet of columns, and the steps that work
 * on its rows. The same script runs on a dictionary (dict_subject.h) and on the model (model_step.h). */
#ifndef BENCH_SHEET_H
#define BENCH_SHEET_H

#include "element.h"

#include "ordo/dict.h"

enum column_id {
    /* inputs */
    COL_CODES,
    COL_KEYS, /* of counts and ranges the lower bounds */
    COL_HIS,
    COL_VALUES,
    COL_RANKS,   /* of selections */
    COL_LENGTHS, /* of prefixes, in bits: bytes */
    /* outputs */
    COL_FOUND,
    COL_KEYS_OUT,
    COL_VALUES_OUT,
    COL_COUNTS,
    COL_OFFSETS,
    COL_RANGE_KEYS,
    COL_RANGE_VALUES,
    COL_OUTCOMES,
    N_COLUMNS
};
#define FIRST_OUTPUT COL_FOUND

struct sheet {
    ordo_type type;
    uint32_t  value_bytes;
    size_t    rows[N_COLUMNS]; /* 0: there is no such column */
    void     *at[N_COLUMNS];
    /* Where each key stands in the model, or thereabouts: spares the model a search. NULL: not known. Host only. */
    uint32_t *hints;
};

/* Bytes of an element of a column; 0 for values of no bytes. */
size_t      sheet_width(const struct sheet *sheet, enum column_id column);
const char *column_name(enum column_id column);

/* Gives a column room for `rows`; outputs are filled with POISON_BYTE. What it held is lost. False without memory. */
bool sheet_column(struct sheet *sheet, enum column_id column, size_t rows);
/* Gives a column of outputs room for `rows` and keeps what it holds. */
bool sheet_grow(struct sheet *sheet, enum column_id column, size_t rows);
void sheet_free(struct sheet *sheet);

static inline uint64_t sheet_get(const struct sheet *sheet, enum column_id column, size_t row)
{
    return element(sheet->at[column], sheet_width(sheet, column), row);
}
/* Nothing without such a column. */
void sheet_set(struct sheet *sheet, enum column_id column, size_t row, uint64_t value);

/* ---- scripts ------------------------------------------------------------------------------------------------- */

enum step_call {
    DO_BUILD,
    DO_UPSERT,
    DO_ERASE,
    DO_COMBINE, /* sums */
    DO_ERASE_RANGE,
    DO_TAKE_FIRST,
    DO_PEEK_FIRST,
    DO_PEEK_LAST,
    DO_FIND,
    DO_SEEK,
    DO_COUNT,
    DO_RANGE,
    DO_RANK, /* keys that are less */
    DO_SELECT,
    DO_SEEK_WITHIN,
    DO_PAGE,
    DO_AGGREGATE, /* sums */
    DO_LONGEST_PREFIX,
    DO_COUNT_PREFIX,
    DO_APPLY,
    DO_CONCURRENT,
    DO_CLEAN_UP,
    DO_COMPACT,
    DO_EXPORT /* all elements, as the elements of one range */
};

/* One call on rows at .. at + count - 1. */
struct step {
    enum step_call call;
    ordo_relation  relation; /* of seeks */
    size_t         at, count;
    size_t         limit;                 /* of pages */
    size_t         offsets_at;            /* ranges: where their count + 1 offsets begin, and ... */
    size_t         range_at, range_count; /* ... their elements, which the model finds out */
};

struct script {
    struct sheet sheet;
    struct step *steps;
    size_t       n_steps;
};

/* Room for n steps, all zero. False without memory. */
bool script_steps(struct script *script, size_t n);
void script_free(struct script *script);

#endif
