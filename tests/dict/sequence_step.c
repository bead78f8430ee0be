/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of steps of sequences: their words, operations and columns. */
#include "sequence_run.h"

const char *const step_word[N_STEP_KINDS] = {
#define X(name, text, code, inputs, must, may) text,
    STEP_MAP(X)
#undef X
};

const struct step_columns step_columns[N_STEP_KINDS] = {
#define X(name, text, code, inputs, must, may) { ORDO_##code, inputs, must, (may) & ~(must) },
    STEP_MAP(X)
#undef X
};

const char *const column_name[N_COLUMNS] = { "codes",      "keys",   "hi",      "values",     "found",       "keys_out",
                                             "values_out", "counts", "offsets", "range_keys", "range_values" };

bool step_makes(const char *call)
{
    const char  *name = call + strlen("ordo_dict_");
    const size_t length = strlen(name);

    for (size_t kind = 0; kind < N_STEP_KINDS; kind++)
        if (strncmp(step_word[kind], name, length) == 0 && (!step_word[kind][length] || step_word[kind][length] == '_'))
            return true;
    return false;
}

bool step_is_update(enum step_kind kind)
{
    return kind <= STEP_ERASE || kind >= STEP_COMPACT;
}

bool step_is_order_query(enum step_kind kind)
{
    return kind >= STEP_COUNT && kind <= STEP_LAST;
}

bool step_is_one_operation(enum step_kind kind)
{
    return kind == STEP_FIRST || kind == STEP_LAST || kind == STEP_EXPORT;
}

bool step_has_columns(enum step_kind kind)
{
    return (step_columns[kind].inputs | step_columns[kind].must | step_columns[kind].may) != 0;
}

size_t step_operations(const struct step *step)
{
    return step_has_columns(step->kind) && !step_is_one_operation(step->kind) ? step->count : 1;
}

enum column column_of(enum step_kind kind, const char *name)
{
    static const struct {
        const char *name;
        enum column column;
    } others[] = {
        { "lo", COL_KEYS }, { "inserted", COL_FOUND }, { "key_out", COL_KEYS_OUT }, { "value_out", COL_VALUES_OUT }
    };
    const bool ranges = kind == STEP_RANGE || kind == STEP_EXPORT;
    int        column = 0;

    for (size_t i = 0; i < LENGTH(others); i++)
        if (strcmp(others[i].name, name) == 0)
            return others[i].column;
    while (column < N_COLUMNS && strcmp(column_name[column], name) != 0)
        column++;
    cr_assert(column < N_COLUMNS, "no column %s", name);
    if (ranges && (column == COL_KEYS_OUT || column == COL_VALUES_OUT))
        column += COL_RANGE_KEYS - COL_KEYS_OUT;
    return (enum column) column;
}
