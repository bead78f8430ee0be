/* SPDX-License-Identifier: Apache-2.0 */
#include "sequence.h"

#include "tests/support/calls.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* ---- kinds of keys ----------------------------------------------------------------------------------------------- */

const char *const key_shape_name[N_KEY_SHAPES] = { "sparse", "dense", "ascending", "descending",
                                                   "equal",  "few",   "clustered", "extremes" };

/* ---- kinds of steps ---------------------------------------------------------------------------------------------- */

#define BIT(column)    (1u << (column))
#define IN_CODES       BIT(COL_CODES)
#define IN_KEYS        BIT(COL_KEYS)
#define IN_HIS         BIT(COL_HI)
#define IN_VALUES      BIT(COL_VALUES)
#define OUT_FOUND      BIT(COL_FOUND)
#define OUT_KEYS       BIT(COL_KEYS_OUT)
#define OUT_VALUES     BIT(COL_VALUES_OUT)
#define OUT_COUNTS     BIT(COL_COUNTS)
#define OUT_OFFSETS    BIT(COL_OFFSETS)
#define OUT_RANGES     (BIT(COL_RANGE_KEYS) | BIT(COL_RANGE_VALUES))
#define OUT_RANGE_KEYS BIT(COL_RANGE_KEYS)
#define VALUE_COLUMNS  (BIT(COL_VALUES) | BIT(COL_VALUES_OUT) | BIT(COL_RANGE_VALUES))

static const struct {
    ordo_code code;
    unsigned  inputs, must, may;
} kinds[] = {
#define X(name, text, code, inputs, must, may) { ORDO_##code, inputs, must, (may) & ~(must) },
    STEP_MAP(X)
#undef X
};

static const char *const column_name[N_COLUMNS] = { "codes",   "keys",       "hi",          "values",
                                                    "found",   "keys_out",   "values_out",  "counts",
                                                    "offsets", "range_keys", "range_values" };

static bool is_update(enum step_kind kind)
{
    return kind <= STEP_ERASE || kind >= STEP_COMPACT;
}

const char *const step_word[N_STEP_KINDS] = {
#define X(name, text, code, inputs, must, may) text,
    STEP_MAP(X)
#undef X
};

bool step_makes(const char *call)
{
    const char  *name = call + strlen("ordo_dict_");
    const size_t length = strlen(name);

    for (size_t kind = 0; kind < N_STEP_KINDS; kind++)
        if (strncmp(step_word[kind], name, length) == 0 && (!step_word[kind][length] || step_word[kind][length] == '_'))
            return true;
    return false;
}

/* Steps of one operation, whatever `count` is, without keys of the caller. */
static bool has_one_operation(enum step_kind kind)
{
    return kind == STEP_FIRST || kind == STEP_LAST || kind == STEP_EXPORT;
}

static bool has_columns(enum step_kind kind)
{
    return (kinds[kind].inputs | kinds[kind].must | kinds[kind].may) != 0;
}

size_t step_operations(const struct step *step)
{
    return has_columns(step->kind) && !has_one_operation(step->kind) ? step->count : 1;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

struct run {
    struct test           *t;
    const struct sequence *s;
    struct fault          *fault;
    struct test            random; /* its test_random is the step's */
    struct model           model;
    ordo_dict             *dict;
    cl_command_queue       queue; /* in addition to the device's queue */
    size_t                 n_keys;
    key_form              *keys; /* possible keys of batches: ordered forms, ascending */
    struct outcome         outcome;
};

static void complain(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(struct run *run, const char *format, ...)
{
    va_list args;

    if (run->outcome.failed)
        return;
    run->outcome.failed = true;
    va_start(args, format);
    (void) vsnprintf(run->outcome.what, sizeof run->outcome.what, format, args);
    va_end(args);
}

static void expect_status(struct run *run, const char *what, ordo_status got, ordo_status want)
{
    char text[512] = "";

    if (got == want)
        return;
    if (got != ORDO_OK)
        (void) ordo_device_last_error(run->t->dev, text, sizeof text);
    if (!run->outcome.failed)
        run->outcome.status = got;
    complain(run, "%s gave '%s', not '%s': %s", what, ordo_status_string(got), ordo_status_string(want), text);
}

/* FNV-1a by Fowler, Noll and Vo. */
static void hash_bytes(struct run *run, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        run->outcome.hash = (run->outcome.hash ^ ((const uint8_t *) bytes)[i]) * 0x100000001b3u;
}

static void hash_number(struct run *run, uint64_t number)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash_bytes(run, &(uint8_t) { (uint8_t) (number >> shift) }, 1);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static size_t below(struct run *run, size_t n)
{
    return (size_t) test_below(&run->random, n);
}

/* A random form. In keys of 16 bytes, the word with the low bits is sometimes nearly all ones. */
static key_form random_form(struct run *run)
{
    const uint64_t low = test_random(&run->random);

    if (ordo_type_bytes(run->s->type) < 16)
        return low;
    return (key_form) test_random(&run->random) << 64 | (low % 2 ? low : UINT64_MAX - low % 40);
}

static void keys_in_segments(struct run *run, size_t length)
{
    key_form form = 0;

    for (size_t i = 0; i < run->n_keys; i++, form++) {
        if (i % length == 0)
            form = random_form(run);
        run->keys[i] = form & form_mask(run->s->type);
    }
}

static void keys_of_test_shape(struct run *run, enum test_shape shape)
{
    const size_t       bytes = ordo_type_bytes(run->s->type);
    AUTO_FREE uint8_t *keys = test_alloc(run->n_keys * bytes);

    test_keys(&run->random, run->s->type, shape, run->n_keys, keys);
    for (size_t i = 0; i < run->n_keys; i++)
        run->keys[i] = form_of_key(run->s->type, keys, i);
}

/* Draws the possible keys of batches; fewer than requested if some are equal. */
static void make_keys(struct run *run)
{
    enum { CLUSTER = 50, EXTREMES = 200 };
    size_t n = 0;

    run->n_keys = run->s->n_keys ? run->s->n_keys : 1;
    if (run->s->shape == KEYS_EXTREMES && run->n_keys > EXTREMES)
        run->n_keys = EXTREMES;
    run->keys = test_alloc(run->n_keys * sizeof *run->keys);
    if (run->s->shape == KEYS_DENSE)
        keys_in_segments(run, run->n_keys);
    else if (run->s->shape == KEYS_CLUSTERED)
        keys_in_segments(run, CLUSTER);
    else
        keys_of_test_shape(run, run->s->shape == KEYS_EQUAL      ? TEST_EQUAL
                                : run->s->shape == KEYS_FEW      ? TEST_FEW
                                : run->s->shape == KEYS_EXTREMES ? TEST_EXTREMES
                                                                 : TEST_RANDOM);
    qsort(run->keys, run->n_keys, sizeof *run->keys, compare_forms);
    for (size_t i = 0; i < run->n_keys; i++)
        if (n == 0 || run->keys[i] != run->keys[n - 1])
            run->keys[n++] = run->keys[i];
    run->n_keys = n;
}

/* How a step draws keys. */
struct draw {
    size_t first, window; /* among run->keys, wrapping at the end */
    int    turn;          /* 1 ascending, -1 descending, 0 any order */
    bool   near;          /* includes keys that batches never store */
};

static struct draw make_draw(struct run *run, bool query)
{
    struct draw d = { .first = below(run, run->n_keys), .window = run->n_keys, .near = query || below(run, 8) == 0 };

    if (run->s->shape == KEYS_ASCENDING || run->s->shape == KEYS_DESCENDING)
        d.turn = run->s->shape == KEYS_ASCENDING ? 1 : -1;
    else if (below(run, 6) == 0) /* a few keys many times */
        d.window = 1 + below(run, run->n_keys < 40 ? run->n_keys : 40);
    return d;
}

/* The form of the i-th key of a batch. */
static key_form draw_key(struct run *run, const struct draw *d, size_t i)
{
    const size_t   offset = d->turn == 0 ? below(run, d->window) : i % run->n_keys;
    const size_t   at = d->turn < 0 ? d->first + run->n_keys - offset : d->first + offset;
    const key_form form = run->keys[at % run->n_keys];

    if (!d->near)
        return form;
    switch (below(run, 16)) {
    case 0:
        return random_form(run) & form_mask(run->s->type);
    case 1:
    case 2:
        return (form + 1) & form_mask(run->s->type);
    case 3:
    case 4:
        return (form - 1) & form_mask(run->s->type);
    default:
        return form;
    }
}

/* An upper bound for a lower one: mostly a little greater, sometimes anything, also less. */
static key_form draw_bound(struct run *run, key_form low, size_t wide_of)
{
    if (below(run, wide_of) == 0)
        return run->keys[below(run, run->n_keys)];
    if (below(run, 12) == 0)
        return (low - below(run, 3)) & form_mask(run->s->type);
    const size_t at = rank_of_form(run->keys, run->n_keys, low) + below(run, 20);
    return run->keys[at < run->n_keys ? at : run->n_keys - 1];
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

enum { HOST_GUARD_BYTES = 64, HOST_GUARD = 0x3b };

/* A step's arrays in host memory with guard bytes. NULL: absent in the call. */
struct columns {
    size_t    count, room; /* operations; elements of range_keys and range_values */
    void     *of[N_COLUMNS];
    size_t    elements[N_COLUMNS], bytes[N_COLUMNS];
    ordo_type value; /* type of combines */
    ordo_op   combine;
};

static size_t bytes_of_element(const struct sequence *s, enum column column)
{
    switch (column) {
    case COL_CODES:
    case COL_FOUND:
        return 1;
    case COL_KEYS:
    case COL_HI:
    case COL_KEYS_OUT:
    case COL_RANGE_KEYS:
        return ordo_type_bytes(s->type);
    case COL_COUNTS:
        return sizeof(uint32_t);
    case COL_OFFSETS:
        return sizeof(uint64_t);
    default:
        return s->value_bytes;
    }
}

static void add_column(const struct run *run, struct columns *c, enum column column)
{
    const bool   in_ranges = column == COL_RANGE_KEYS || column == COL_RANGE_VALUES;
    const size_t elements = in_ranges ? c->room : c->count + (column == COL_OFFSETS);
    const size_t bytes = bytes_of_element(run->s, column), all = elements * bytes;
    uint8_t     *made = test_alloc(all + 2 * (size_t) HOST_GUARD_BYTES);

    memset(made, HOST_GUARD, all + 2 * (size_t) HOST_GUARD_BYTES);
    memset(made + HOST_GUARD_BYTES, TEST_EMPTY, all);
    c->of[column] = made + HOST_GUARD_BYTES;
    c->elements[column] = elements;
    c->bytes[column] = bytes;
}

static void add_columns(const struct run *run, struct columns *c, unsigned columns)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns & BIT(i))
            add_column(run, c, (enum column) i);
}

static void check_guards(struct run *run, const struct columns *c)
{
    for (int i = 0; i < N_COLUMNS; i++)
        for (size_t g = 0; c->of[i] && g < HOST_GUARD_BYTES; g++)
            if (((const uint8_t *) c->of[i])[-1 - (ptrdiff_t) g] != HOST_GUARD ||
                ((const uint8_t *) c->of[i])[c->elements[i] * c->bytes[i] + g] != HOST_GUARD)
                complain(run, "bytes beside %s were written", column_name[i]);
}

static void free_columns(struct columns *c)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (c->of[i])
            free((uint8_t *) c->of[i] - HOST_GUARD_BYTES);
}

static struct ordo_host_batch batch_of(const struct columns *c)
{
    return (struct ordo_host_batch) { .codes = c->of[COL_CODES],
                                      .keys = c->of[COL_KEYS],
                                      .hi = c->of[COL_HI],
                                      .values = c->of[COL_VALUES],
                                      .count = c->count,
                                      .value = c->value,
                                      .combine = c->combine,
                                      .found = c->of[COL_FOUND],
                                      .keys_out = c->of[COL_KEYS_OUT],
                                      .values_out = c->of[COL_VALUES_OUT],
                                      .counts = c->of[COL_COUNTS],
                                      .offsets = c->of[COL_OFFSETS],
                                      .range_keys = c->of[COL_RANGE_KEYS],
                                      .range_values = c->of[COL_RANGE_VALUES],
                                      .range_capacity = c->room };
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static uint8_t draw_update(struct run *run)
{
    static const uint8_t codes[] = { ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE, ORDO_COMBINE };
    return codes[below(run, LENGTH(codes))];
}

/* Draws the code of an operation of a mixed batch. */
static uint8_t draw_code(struct run *run, size_t style)
{
    switch (style) {
    case 0: /* point operations */
        return (uint8_t) below(run, ORDO_ERASE + 1);
    case 1: /* updates only */
        return draw_update(run);
    case 2: /* updates and order queries */
        return below(run, 2) ? draw_update(run) : (uint8_t) (ORDO_SEEK_LT + below(run, 6));
    case 3: /* mostly one code */
        return (uint8_t) (below(run, 8) ? run->s->seed % ORDO_N_CODES : below(run, ORDO_N_CODES));
    case 4: /* updates, ranks and selections */
        return below(run, 2) ? draw_update(run) : (uint8_t) (ORDO_RANK_LT + below(run, 3));
    default:
        return (uint8_t) below(run, ORDO_N_CODES);
    }
}

/* Without values, operations that need them become finds. */
static uint8_t draw_legal(struct run *run, size_t style)
{
    const uint8_t code = draw_code(run, style);
    return code == ORDO_COMBINE && (run->s->value_bytes == 0 || run->s->value_bytes == 16) ? ORDO_FIND : code;
}

static void fill_codes(struct run *run, const struct step *step, uint8_t *codes, size_t count)
{
    const size_t style = below(run, 8);

    for (size_t i = 0; i < count; i++)
        codes[i] = step->kind == STEP_APPLY ? draw_legal(run, style) : (uint8_t) kinds[step->kind].code;
}

/* Writes a rank as a key: mostly of an element, else slightly or far past the last. */
static void put_rank(struct run *run, void *keys, size_t i)
{
    const size_t bytes = ordo_type_bytes(run->s->type);
    key_form     rank = below(run, 20) == 0 ? UINT64_MAX >> below(run, 40) : below(run, run->model.count + 3);

    if (bytes == 16 && below(run, 40) == 0)
        rank <<= 64;
    write_bits(keys, bytes, i, rank);
}

/* Draws type and operation of combines. Each needs kernels, so keys of u32 and f64 get all, others one type for each
 * operation. */
static void draw_combine(struct run *run, struct columns *c)
{
    const ordo_type key = run->s->type;
    const bool      wide = run->s->value_bytes == 8;

    c->combine = (ordo_op) below(run, 3);
    const uint32_t types = c->combine == ORDO_SUM ? 2 : 3, any = (uint32_t) below(run, types);
    const bool     all = key == ORDO_U32 || key == ORDO_F64 || test_wants_all("ORDO_TEST_KINDS");
    c->value = (ordo_type) ((wide ? ORDO_U64 : ORDO_U32) + 2 * (all ? any : (uint32_t) key % types));
}

/* Fills all input columns for the model, even columns that the call does not take. */
static void fill_inputs(struct run *run, const struct step *step, struct columns *in)
{
    const struct draw d = make_draw(run, !is_update(step->kind));
    const uint8_t    *codes = in->of[COL_CODES];

    fill_codes(run, step, in->of[COL_CODES], in->count);
    draw_combine(run, in);
    for (size_t i = 0; i < in->count; i++) {
        const key_form low = draw_key(run, &d, i);
        put_form(run->s->type, in->of[COL_KEYS], i, low);
        put_form(run->s->type, in->of[COL_HI], i,
                 draw_bound(run, low,
                            step->kind == STEP_COUNT ? 8
                            : in->count < 9          ? 3
                                                     : in->count / 3));
        if (codes[i] == ORDO_SELECT)
            put_rank(run, in->of[COL_KEYS], i);
    }
    if (in->of[COL_VALUES])
        test_random_bytes(&run->random, in->of[COL_VALUES], in->count * run->s->value_bytes);
    if (step->kind == STEP_FIRST || step->kind == STEP_EXPORT)
        put_form(run->s->type, in->of[COL_KEYS], 0, 0);
    if (step->kind == STEP_LAST)
        put_form(run->s->type, in->of[COL_KEYS], 0, ~(key_form) 0);
    if (step->kind == STEP_EXPORT)
        put_form(run->s->type, in->of[COL_HI], 0, ~(key_form) 0);
}

static bool has_code(const struct columns *in, ordo_code least, ordo_code most)
{
    const uint8_t *codes = in->of[COL_CODES];

    for (size_t i = 0; i < in->count; i++)
        if (codes[i] >= least && codes[i] <= most)
            return true;
    return false;
}

/* Draws the columns of the call. Optional ones are sometimes absent. */
static unsigned draw_columns(struct run *run, const struct step *step, const struct columns *in)
{
    unsigned columns = kinds[step->kind].inputs | kinds[step->kind].must;

    for (int i = 0; i < N_COLUMNS; i++)
        if (kinds[step->kind].may & BIT(i) && below(run, 5) != 0)
            columns |= BIT(i);
    if (step->kind == STEP_APPLY && below(run, 2)) {
        if (!has_code(in, ORDO_UPSERT, ORDO_INSERT) && !has_code(in, ORDO_COMBINE, ORDO_COMBINE))
            columns &= ~IN_VALUES;
        if (!has_code(in, ORDO_COUNT, ORDO_RANGE))
            columns &= ~IN_HIS;
        if (!has_code(in, ORDO_RANGE, ORDO_RANGE))
            columns &= ~OUT_OFFSETS;
    }
    return run->s->value_bytes ? columns : columns & ~VALUE_COLUMNS;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* The column of an array of a call. */
static enum column column_of(enum step_kind kind, const char *name)
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

/* Makes the call of a step over device memory, or over host memory if `s` is NULL. */
static ordo_status make_call(struct run *run, enum step_kind kind, const struct columns *c, const struct ordo_slice *s,
                             size_t *needed, const struct ordo_order *order)
{
    const bool        seek = strncmp(step_word[kind], "seek", 4) == 0;
    struct given      g = call_given(run->t->dev, run->dict, c->count);
    struct ordo_slice slice[CALL_ARRAYS];
    void             *host[CALL_ARRAYS];
    char              name[64];

    (void) snprintf(name, sizeof name, "ordo_dict_%s", seek ? "seek" : step_word[kind]);
    const struct array_call *call = call_named(name);
    g.relation = (ordo_relation) (seek ? kinds[kind].code - ORDO_SEEK_LT : 0);
    g.value = c->value;
    g.op = c->combine;
    g.room = c->room;
    g.got = needed;
    g.order = order;
    for (size_t i = 0; i < call_arrays(call); i++) {
        const enum column column = column_of(kind, call->array[i].name);
        host[i] = c->of[column];
        slice[i] = s ? s[column] : ordo_none();
    }
    return s ? call->run(&g, slice) : call->run_host(&g, host);
}

/* Uploads the columns, each at an offset, and downloads them, on the test's or the device's queue. */
static ordo_status call_by_device(struct run *run, enum step_kind kind, struct columns *c, size_t *needed)
{
    struct test_array       array[N_COLUMNS];
    struct ordo_slice       slice[N_COLUMNS];
    cl_event                done = NULL;
    const bool              other = below(run, 3) == 0;
    const struct ordo_order order = { .queue = run->queue, .done = &done };

    for (int i = 0; i < N_COLUMNS; i++) {
        slice[i] = ordo_none();
        if (!c->of[i])
            continue;
        array[i] = test_upload(run->t, c->of[i], c->elements[i], c->bytes[i], below(run, 20));
        slice[i] = test_slice(&array[i]);
    }
    const ordo_status status = make_call(run, kind, c, slice, needed, other ? &order : NULL);
    if (done) {
        if (clWaitForEvents(1, &done) != CL_SUCCESS)
            complain(run, "waiting for order->done failed");
        (void) clReleaseEvent(done);
    } else if (other && status == ORDO_OK) {
        complain(run, "order->done received no event");
    }
    for (int i = 0; i < N_COLUMNS; i++) {
        if (!c->of[i])
            continue;
        const size_t changed = test_read(run->t, &array[i], c->of[i], column_name[i]);
        if (changed != SIZE_MAX)
            complain(run, "%s: byte %zu was written, outside the array", column_name[i], changed);
        test_free(&array[i]);
    }
    return status;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* Prints element i as a hexadecimal number. */
static const char *hex_of(char text[33], const void *array, size_t bytes, size_t i)
{
    for (size_t b = 0; b < bytes; b++)
        (void) snprintf(text + 2 * b, 3, "%02x", ((const uint8_t *) array)[(i + 1) * bytes - 1 - b]);
    return text;
}

static void compare_column(struct run *run, enum column column, const struct columns *in, const struct columns *got,
                           const struct columns *want)
{
    const size_t bytes = got->bytes[column];
    size_t       differ = 0, first = 0;

    for (size_t i = got->elements[column]; i-- > 0;)
        if (memcmp((uint8_t *) got->of[column] + i * bytes, (uint8_t *) want->of[column] + i * bytes, bytes) != 0) {
            differ++;
            first = i;
        }
    if (differ == 0)
        return;
    const size_t operation = first < in->count ? first : 0;
    char         is[33], not [33], key[33];
    complain(run, "%s[%zu] is 0x%s, not 0x%s; %zu of %zu differ (0x5c: left alone). Operation %zu: code %u, key 0x%s",
             column_name[column], first, hex_of(is, got->of[column], bytes, first),
             hex_of(not, want->of[column], bytes, first), differ, got->elements[column], operation,
             ((const uint8_t *) in->of[COL_CODES])[operation],
             hex_of(key, in->of[COL_KEYS], in->bytes[COL_KEYS], operation));
}

static void spoil(struct run *run, const struct step *step, const struct columns *got)
{
    struct fault *fault = run->fault;

    if (!fault || fault->done || fault->kind != step->kind)
        return;
    if (fault->column == N_COLUMNS && run->model.count > 0) {
        run->model.count--;
        memmove(run->model.element, run->model.element + 1, run->model.count * sizeof *run->model.element);
        fault->done = true;
    } else if (fault->column < N_COLUMNS && got->of[fault->column] && got->elements[fault->column] > 0) {
        const size_t bytes = got->elements[fault->column] * got->bytes[fault->column];
        ((uint8_t *) got->of[fault->column])[bytes / 2] ^= 1;
        fault->done = true;
    }
}

/* ---- steps with arrays ------------------------------------------------------------------------------------------- */

/* The expected status, and in `want` the expected outputs. */
static ordo_status expected(struct run *run, const struct step *step, struct columns *in, struct columns *want,
                            size_t needed)
{
    struct ordo_host_batch batch = batch_of(want);
    uint8_t               *found = want->of[COL_FOUND];

    batch.codes = in->of[COL_CODES];
    batch.keys = in->of[COL_KEYS];
    batch.hi = in->of[COL_HI];
    batch.values = in->of[COL_VALUES];
    if (step->kind == STEP_APPLY && needed > want->room)
        return ORDO_TOO_SMALL;
    if (needed > want->room)
        batch.range_capacity = 0;
    if (step->kind == STEP_BUILD)
        model_clear(&run->model);
    (void) model_apply(&run->model, &batch);
    for (size_t i = 0; step->kind == STEP_INSERT && found && i < want->count; i++)
        found[i] = !found[i];
    return needed > want->room ? ORDO_TOO_SMALL : ORDO_OK;
}

/* ---- structures without order ------------------------------------------------------------------------------------ */

static bool is_order_code(uint8_t code)
{
    return (code >= ORDO_SEEK_LT && code <= ORDO_RANGE) || (code >= ORDO_RANK_LT && code <= ORDO_SELECT);
}

static bool is_order_step(enum step_kind kind)
{
    return kind >= STEP_COUNT && kind <= STEP_LAST;
}

static ordo_status call(struct run *run, enum step_kind kind, struct columns *c, bool on_host, size_t *needed)
{
    return on_host ? make_call(run, kind, c, NULL, needed, NULL) : call_by_device(run, kind, c, needed);
}

static void take_element(struct columns *to, const struct columns *from, enum column column, size_t i)
{
    const size_t bytes = to->bytes[column];

    if (to->of[column])
        memcpy((uint8_t *) to->of[column] + i * bytes, (const uint8_t *) from->of[column] + i * bytes, bytes);
}

static void take_column(struct columns *to, const struct columns *from, enum column column)
{
    for (size_t i = 0; to->of[column] && i < to->elements[column]; i++)
        take_element(to, from, column, i);
}

/* Order queries are refused and change nothing. Then applies the rest of a mixed batch with key queries instead, and
 * takes the model's results for the replaced ones, so that all others must match. */
static void do_without_order(struct run *run, enum step_kind kind, struct columns *got, const struct columns *want,
                             bool on_host, bool refused)
{
    uint8_t *codes = got->of[COL_CODES];
    size_t   needed = 0;

    expect_status(run, step_word[kind], call(run, kind, got, on_host, &needed), ORDO_UNSUPPORTED);
    for (int i = COL_FOUND; kind != STEP_APPLY && i < N_COLUMNS; i++)
        take_column(got, want, (enum column) i);
    if (kind != STEP_APPLY || refused)
        return;
    AUTO_FREE bool *order = test_alloc(got->count * sizeof *order);
    for (size_t i = 0; i < got->count; i++) {
        order[i] = is_order_code(codes[i]);
        codes[i] = order[i] ? (uint8_t) ORDO_CONTAINS : codes[i];
    }
    expect_status(run, step_word[kind], call(run, kind, got, on_host, &needed), ORDO_OK);
    for (size_t i = 0; i < got->count; i++)
        for (int c = COL_FOUND; order[i] && c <= COL_COUNTS; c++)
            take_element(got, want, (enum column) c, i);
    for (int c = COL_OFFSETS; c < N_COLUMNS; c++)
        take_column(got, want, (enum column) c);
}

static size_t draw_room(struct run *run, size_t needed)
{
    const size_t luck = below(run, 8);

    if (luck == 0 && needed > 0)
        return below(run, needed);
    return luck < 3 ? needed + below(run, 9) : needed;
}

static void do_batch(struct run *run, const struct step *step)
{
    AUTO(free_columns) struct columns in = { .count = has_one_operation(step->kind) ? 1 : step->count };
    size_t                            needed = 0, got_needed = SIZE_MAX;

    add_columns(run, &in, IN_CODES | IN_KEYS | IN_HIS | (run->s->value_bytes ? IN_VALUES : 0));
    fill_inputs(run, step, &in);
    const unsigned               columns = draw_columns(run, step, &in);
    const struct ordo_host_batch batch = batch_of(&in);
    needed = model_room(&run->model, &batch);

    AUTO(free_columns)
    struct columns got = {
        .count = in.count, .room = draw_room(run, needed), .value = in.value, .combine = in.combine
    };
    AUTO(free_columns)
    struct columns want = { .count = in.count, .room = got.room, .value = in.value, .combine = in.combine };
    add_columns(run, &got, columns);
    add_columns(run, &want, columns);
    for (int i = 0; i < COL_FOUND; i++)
        if (got.of[i] && got.elements[i])
            memcpy(got.of[i], in.of[i], got.elements[i] * got.bytes[i]);

    const bool  on_host = below(run, 3) == 0, unasked = !on_host && step->kind == STEP_RANGE && below(run, 3) == 0;
    ordo_status status = expected(run, step, &in, &want, needed);
    const bool  refused = step->kind == STEP_APPLY && status == ORDO_TOO_SMALL;
    if (unasked)
        status = ORDO_OK;
    const bool without_order =
        structure_is((int) run->s->subject, ORDO_NO_ORDER) &&
        (is_order_step(step->kind) || (step->kind == STEP_APPLY && (has_code(&in, ORDO_SEEK_LT, ORDO_RANGE) ||
                                                                    has_code(&in, ORDO_RANK_LT, ORDO_SELECT))));
    if (without_order)
        do_without_order(run, step->kind, &got, &want, on_host, refused);
    else
        expect_status(run, step_word[step->kind], call(run, step->kind, &got, on_host, unasked ? NULL : &got_needed),
                      status);
    if (step->kind == STEP_EXPORT && status == ORDO_OK)
        model_put_in_order(run->dict, run->s->type, run->s->value_bytes, got.of[COL_RANGE_KEYS],
                           got.of[COL_RANGE_VALUES], needed);
    if (!unasked && !without_order &&
        (step->kind == STEP_RANGE || step->kind == STEP_EXPORT || step->kind == STEP_APPLY) && got_needed != needed)
        complain(run, "%zu elements are said to be needed, not %zu", got_needed, needed);
    check_guards(run, &got);
    spoil(run, step, &got);
    for (int i = COL_FOUND; i < N_COLUMNS; i++)
        if (got.of[i] && !refused) {
            compare_column(run, (enum column) i, &in, &got, &want);
            hash_bytes(run, got.of[i], got.elements[i] * got.bytes[i]);
        }
    hash_number(run, needed);
}

/* ---- steps without ----------------------------------------------------------------------------------------------- */

static void check_statistics(struct run *run, bool compact)
{
    struct ordo_statistics is = { 0 };
    const size_t           bytes = ordo_type_bytes(run->s->type) + run->s->value_bytes;

    expect_status(run, "statistics", ordo_dict_statistics(run->dict, NULL, &is), ORDO_OK);
    if (getenv("ORDO_TEST_TRACE"))
        (void) fprintf(stderr, "# %zu elements, %zu stale, %zu tombstones, %zu runs\n", is.elements, is.stale,
                       is.tombstones, is.runs);
    if (is.elements != run->model.count)
        complain(run, "the statistics say %zu elements, not %zu", is.elements, run->model.count);
    if (structure_is((int) run->s->subject, ORDO_IS_TRIE)
            ? is.bytes_data > is.elements * bytes + is.leaves * structure_leaf_bytes((int) run->s->subject)
            : is.bytes_data != (is.elements + is.stale + is.tombstones) * bytes)
        complain(run, "%zu bytes of data for %zu elements, %zu stale, %zu tombstones", is.bytes_data, is.elements,
                 is.stale, is.tombstones);
    if (is.bytes_peak < is.bytes_data + is.bytes_index + is.bytes_marks)
        complain(run, "the peak of %zu bytes is less than what is there", is.bytes_peak);
    if (structure_is((int) run->s->subject, ORDO_HAS_RUNS) &&
        (is.runs == 0) != (is.elements + is.stale + is.tombstones == 0))
        complain(run, "%zu runs of %zu elements, %zu stale, %zu tombstones", is.runs, is.elements, is.stale,
                 is.tombstones);
    if (compact && (is.stale || is.tombstones || is.runs > 1))
        complain(run, "after compact: %zu stale, %zu tombstones, %zu runs", is.stale, is.tombstones, is.runs);
}

/* Erases all elements by one batch. */
static void erase_all(struct run *run)
{
    const size_t       count = run->model.count;
    AUTO_FREE uint8_t *keys = test_alloc((count + 1) * ordo_type_bytes(run->s->type));

    for (size_t i = 0; i < count; i++)
        put_form(run->s->type, keys, i, run->model.element[i].form);
    expect_status(run, "erase of all", ordo_dict_erase_host(run->dict, keys, count), ORDO_OK);
    model_clear(&run->model);
    check_statistics(run, false);
}

static void do_plain(struct run *run, const struct step *step)
{
    size_t size = SIZE_MAX;

    switch (step->kind) {
    case STEP_SIZE:
        expect_status(run, "size", ordo_dict_size(run->dict, NULL, &size), ORDO_OK);
        if (size != run->model.count)
            complain(run, "the size is %zu, not %zu", size, run->model.count);
        hash_number(run, size);
        return;
    case STEP_STATISTICS:
        check_statistics(run, false);
        return;
    case STEP_COMPACT:
        if (step->salt % 2 && structure_is((int) run->s->subject, ORDO_KEEPS_STALE))
            expect_status(run, "cleanup", ordo_lsm_cleanup(run->dict, NULL), ORDO_OK);
        else
            expect_status(run, "compact", ordo_dict_compact(run->dict, NULL), ORDO_OK);
        check_statistics(run, true);
        return;
    case STEP_ERASE_ALL:
        erase_all(run);
        return;
    default:
        expect_status(run, "clear", ordo_dict_clear(run->dict), ORDO_OK);
        model_clear(&run->model);
        check_statistics(run, true);
        return;
    }
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void do_step(struct run *run, const struct step *step)
{
    run->random.random = run->s->seed * 0x9e3779b97f4a7c15u + step->salt;
    if (getenv("ORDO_TEST_TRACE"))
        (void) fprintf(stderr, "%s %" PRIu32 " %" PRIu32 "\n", step_word[step->kind], step->count, step->salt);
    if (has_columns(step->kind))
        do_batch(run, step);
    else
        do_plain(run, step);
    if (is_update(step->kind))
        expect_status(run, "the check", ordo_dict_check(run->dict, NULL), ORDO_OK);
}

static void begin_run(struct run *run)
{
    const struct ordo_dict_config config = { run->s->type, run->s->value_bytes };
    cl_int                        code = CL_SUCCESS;

    run->random.random = run->s->seed;
    run->outcome.hash = 0xcbf29ce484222325u;
    run->model = model_empty(run->s->type, run->s->value_bytes);
    make_keys(run);
    run->queue =
        clCreateCommandQueueWithProperties(ordo_device_context(run->t->dev), ordo_device_id(run->t->dev), NULL, &code);
    if (code != CL_SUCCESS)
        complain(run, "clCreateCommandQueueWithProperties: %s", ordo_cl_error_string(code));
    expect_status(run, "create", structures[run->s->subject].create(run->t->dev, &config, &run->dict), ORDO_OK);
}

static void end_run(struct run *run)
{
    ordo_dict_destroy(&run->dict);
    if (ordo_device_finish(run->t->dev) != ORDO_OK)
        complain(run, "finishing the device's queue failed");
    if (run->queue)
        (void) clReleaseCommandQueue(run->queue);
    model_free(&run->model);
    free(run->keys);
}

struct outcome sequence_run(struct test *t, const struct sequence *s, struct fault *fault)
{
    struct run run = { .t = t, .s = s, .fault = fault, .random = *t };

    begin_run(&run);
    for (size_t i = 0; i < s->n_steps && !run.outcome.failed; i++) {
        run.outcome.step = i;
        test_context(t, "%s, %s, %" PRIu32 " bytes of value, %s keys, seed %" PRIu64 ", step %zu: %s %" PRIu32,
                     structures[s->subject].word, test_type_name[s->type], s->value_bytes, key_shape_name[s->shape],
                     s->seed, i, step_word[s->step[i].kind], s->step[i].count);
        do_step(&run, &s->step[i]);
    }
    end_run(&run);
    return run.outcome;
}
