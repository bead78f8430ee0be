/* SPDX-License-Identifier: Apache-2.0 */
/* Histories of concurrent operations: see history.h. */
#include "history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *get(void *old, size_t bytes)
{
    void *made = realloc(old, bytes ? bytes : 1);
    if (!made) {
        (void) fprintf(stderr, "history: no memory\n");
        abort();
    }
    return made;
}

struct history history_begin(const struct model *before, bool values)
{
    return (struct history) { .before = before, .values = values };
}

void history_add(struct history *h, struct history_op op)
{
    if (h->count == h->room) {
        h->room = h->room ? 2 * h->room : 1024;
        h->op = get(h->op, h->room * sizeof *h->op);
    }
    h->op[h->count++] = op;
    h->sorted = false;
}

void history_free(struct history *h)
{
    free(h->op);
    *h = (struct history) { .op = NULL };
}

static int by_key_and_begin(const void *a, const void *b)
{
    const struct history_op *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void sort(struct history *h)
{
    if (!h->sorted && h->count)
        qsort(h->op, h->count, sizeof *h->op, by_key_and_begin);
    h->sorted = true;
}

/* ---- one key ----------------------------------------------------------------------------------------------------- */

/* The operation's precondition and effect on the key. Reads come first. */
enum kind { READ_ABSENT, READ_PRESENT, READ_VALUE, CREATE, REPLACE, REMOVE };

/* A value is identified by the action that wrote it. */
enum { VALUE_BEFORE = -1, VALUE_NONE = -2 };

struct action {
    enum kind kind;
    uint32_t  begin, end;
    int       of;       /* READ_VALUE: the writer of the value */
    int       readers;  /* pending readers of the value that it writes */
    uint32_t  deadline; /* the earliest end among it and its readers */
    uint64_t  hash;
    bool      done;
};

struct search {
    struct action *action; /* sorted by begin */
    int            count, left;
    int            first;   /* all before it are done */
    int            current; /* identity of the value */
    int            before_readers;
    uint64_t       hash;
    int           *trail; /* done, in order */
    int            n_trail;
    uint64_t      *seen; /* hashes of dead ends; 0: free */
    size_t         n_seen, seen_room;
};

/* The search stops after this many states. */
#define SEARCH_MAX ((size_t) 1 << 20)

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static bool seen_has(const struct search *s, uint64_t state, size_t *place)
{
    size_t at = state & (s->seen_room - 1);
    while (s->seen[at] && s->seen[at] != state)
        at = (at + 1) & (s->seen_room - 1);
    *place = at;
    return s->seen[at] == state;
}

static void seen_add(struct search *s, uint64_t state)
{
    size_t place = 0;
    if (2 * s->n_seen >= s->seen_room) {
        AUTO_FREE uint64_t *old = s->seen;
        const size_t        had = s->seen_room;
        s->seen_room = 2 * had;
        s->seen = get(NULL, s->seen_room * sizeof *s->seen);
        memset(s->seen, 0, s->seen_room * sizeof *s->seen);
        for (size_t i = 0; i < had; i++)
            if (old[i] && !seen_has(s, old[i], &place))
                s->seen[place] = old[i];
    }
    if (!seen_has(s, state, &place)) {
        s->seen[place] = state;
        s->n_seen++;
    }
}

/* The earliest end among pending actions. An action that begins later cannot be next. */
static uint32_t horizon(struct search *s)
{
    uint32_t end = UINT32_MAX;
    while (s->first < s->count && s->action[s->first].done)
        s->first++;
    for (int i = s->first; i < s->count && s->action[i].begin <= end; i++)
        if (!s->action[i].done && s->action[i].end < end)
            end = s->action[i].end;
    return end;
}

static int *readers_of(struct search *s, int value)
{
    return value == VALUE_BEFORE ? &s->before_readers : &s->action[value].readers;
}

static void do_action(struct search *s, int i)
{
    struct action *a = &s->action[i];
    a->done = true;
    s->hash ^= a->hash;
    s->trail[s->n_trail++] = i;
    s->left--;
    if (a->kind == READ_VALUE)
        --*readers_of(s, a->of);
}

static void undo_to(struct search *s, int mark)
{
    while (s->n_trail > mark) {
        const int      i = s->trail[--s->n_trail];
        struct action *a = &s->action[i];
        a->done = false;
        s->hash ^= a->hash;
        s->left++;
        if (a->kind == READ_VALUE)
            ++*readers_of(s, a->of);
        if (i < s->first)
            s->first = i;
    }
}

static bool reads_current(const struct search *s, const struct action *a)
{
    return a->kind == READ_ABSENT    ? s->current == VALUE_NONE
           : a->kind == READ_PRESENT ? s->current != VALUE_NONE
                                     : a->kind == READ_VALUE && a->of == s->current;
}

/* Performs all valid reads that can be next. That never rules out a solution. */
static void do_reads(struct search *s)
{
    for (bool again = true; again;) {
        const uint32_t end = horizon(s);
        again = false;
        for (int i = s->first; i < s->count && s->action[i].begin <= end; i++)
            if (!s->action[i].done && reads_current(s, &s->action[i])) {
                do_action(s, i);
                again = true;
            }
    }
}

static bool may_change(const struct search *s, const struct action *a)
{
    return a->kind == CREATE ? s->current == VALUE_NONE : a->kind > CREATE && s->current != VALUE_NONE;
}

/* Lists changes that can be next, the most urgent first. Of changes of one kind whose values nobody reads, lists only
 * the most urgent, because it can be exchanged with any other in a solution. */
static int candidates(struct search *s, int *list)
{
    const uint32_t end = horizon(s);
    int            plain[REMOVE + 1] = { -1, -1, -1, -1, -1, -1 }, n = 0;

    for (int i = s->first; i < s->count && s->action[i].begin <= end; i++) {
        const struct action *a = &s->action[i];
        if (a->done || !may_change(s, a))
            continue;
        if (a->readers > 0)
            list[n++] = i;
        else if (plain[a->kind] < 0 || a->end < s->action[plain[a->kind]].end)
            plain[a->kind] = i;
    }
    for (int kind = CREATE; kind <= REMOVE; kind++)
        if (plain[kind] >= 0)
            list[n++] = plain[kind];
    for (int i = 1; i < n; i++) /* short list, so insertion sort */
        for (int j = i; j > 0 && s->action[list[j]].deadline < s->action[list[j - 1]].deadline; j--) {
            const int held = list[j];
            list[j] = list[j - 1];
            list[j - 1] = held;
        }
    return n;
}

static enum history_verdict search_on(struct search *s)
{
    do_reads(s);
    if (s->left == 0)
        return HISTORY_EXPLAINED;
    /* Changing it is the only way to reach its readers. */
    if (s->current != VALUE_NONE && *readers_of(s, s->current) > 0)
        return HISTORY_WRONG;

    size_t         place = 0;
    const uint64_t state = mix(s->hash ^ mix((uint64_t) s->current + 3)) | 1;
    if (seen_has(s, state, &place))
        return HISTORY_WRONG;
    if (s->n_seen >= SEARCH_MAX)
        return HISTORY_UNDECIDED;

    int                 *list = get(NULL, (size_t) s->left * sizeof *list);
    const int            n = candidates(s, list), mark = s->n_trail, value = s->current;
    enum history_verdict verdict = HISTORY_WRONG;
    for (int c = 0; c < n && verdict == HISTORY_WRONG; c++) {
        do_action(s, list[c]);
        s->current = s->action[list[c]].kind == REMOVE ? VALUE_NONE : list[c];
        verdict = search_on(s);
        undo_to(s, mark);
        s->current = value;
    }
    free(list);
    if (verdict == HISTORY_WRONG)
        seen_add(s, state);
    return verdict;
}

/* Content of a key before or after. */
struct content {
    bool     present;
    uint64_t value;
};

static struct content content_of(const struct model *model, key_form key)
{
    const size_t at = model_rank(model, key);
    if (at == model->count || model->element[at].form != key)
        return (struct content) { false, 0 };
    return (struct content) { true, value_number_of(model->element[at].value) };
}

static enum kind kind_of(const struct history_op *op, bool values)
{
    switch (op->code) {
    case ORDO_UPSERT:
        return op->found ? REPLACE : CREATE;
    case ORDO_INSERT:
        return op->found ? READ_PRESENT : CREATE;
    case ORDO_ERASE:
        return op->found ? REMOVE : READ_ABSENT;
    case ORDO_FIND:
        return op->found ? values ? READ_VALUE : READ_PRESENT : READ_ABSENT;
    default:
        return op->found ? READ_PRESENT : READ_ABSENT;
    }
}

static int compare_values(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

struct written {
    uint64_t value;
    int      by;
};

static int by_value(const void *a, const void *b)
{
    return compare_values(((const struct written *) a)->value, ((const struct written *) b)->value);
}

/* The writer of a value: an action, VALUE_BEFORE, or VALUE_NONE. */
static int writer_of(const struct written *written, size_t n, uint64_t value)
{
    const struct written  wanted = { value, 0 };
    const struct written *hit = n ? bsearch(&wanted, written, n, sizeof *written, by_value) : NULL;
    return hit ? hit->by : VALUE_NONE;
}

/* Assigns a writer to each read. Returns false if a value has no writer. */
static bool match_reads(struct search *s, const struct history_op *op, int n, struct content before,
                        struct content after)
{
    AUTO_FREE struct written *written = get(NULL, (size_t) (n + 1) * sizeof *written);
    size_t                    n_written = 0;
    bool                      all = true;

    if (before.present)
        written[n_written++] = (struct written) { before.value, VALUE_BEFORE };
    for (int i = 0; i < n; i++)
        if (s->action[i].kind == CREATE || s->action[i].kind == REPLACE)
            written[n_written++] = (struct written) { op[i].wrote, i };
    if (n_written)
        qsort(written, n_written, sizeof *written, by_value);
    for (int i = 0; i < s->count; i++) {
        struct action *a = &s->action[i];
        if (a->kind != READ_VALUE)
            continue;
        a->of = writer_of(written, n_written, i < n ? op[i].saw : after.value);
        all = all && a->of != VALUE_NONE;
        if (a->of == VALUE_NONE)
            continue;
        ++*readers_of(s, a->of);
        if (a->of >= 0 && a->end < s->action[a->of].deadline)
            s->action[a->of].deadline = a->end;
    }
    return all;
}

/* op: n operations on one key, sorted by begin. */
static enum history_verdict explain_key(const struct history_op *op, size_t count, bool values, struct content before,
                                        struct content after)
{
    const int     n = (int) count;
    struct search s = { .count = n + 1, .left = n + 1, .seen_room = 64 };

    s.current = before.present ? VALUE_BEFORE : VALUE_NONE;
    s.action = get(NULL, (size_t) s.count * sizeof *s.action);
    s.trail = get(NULL, (size_t) s.count * sizeof *s.trail);
    s.seen = get(NULL, s.seen_room * sizeof *s.seen);
    memset(s.seen, 0, s.seen_room * sizeof *s.seen);
    for (int i = 0; i < s.count; i++) {
        s.action[i] = (struct action) { .hash = mix(((uint64_t) i + 1) << 32) }; /* values, below, are small numbers */
        /* The last action reads the final content. */
        s.action[i].kind = i < n            ? kind_of(&op[i], values)
                           : !after.present ? READ_ABSENT
                           : values         ? READ_VALUE
                                            : READ_PRESENT;
        s.action[i].begin = i < n ? op[i].begin : UINT32_MAX;
        s.action[i].end = s.action[i].deadline = i < n ? op[i].end : UINT32_MAX;
    }
    const enum history_verdict verdict = match_reads(&s, op, n, before, after) ? search_on(&s) : HISTORY_WRONG;
    free(s.action);
    free(s.trail);
    free(s.seen);
    return verdict;
}

/* ---- all keys ---------------------------------------------------------------------------------------------------- */

static const char *const code_name[] = { "find", "contains", "upsert", "insert", "erase" };

static void describe(const struct history *h, size_t first, size_t end, const struct model *after, char *text,
                     size_t bytes)
{
    const struct content before = content_of(h->before, h->op[first].key), last = content_of(after, h->op[first].key);
    size_t               at = 0;
    int n = snprintf(text, bytes, "key 0x%" PRIx64 ": before %s %" PRIu64 ", after %s %" PRIu64 ", %zu operations:\n",
                     (uint64_t) h->op[first].key, before.present ? "value" : "absent", before.value,
                     last.present ? "value" : "absent", last.value, end - first);

    for (size_t i = first; i < end && n > 0 && at + (size_t) n < bytes; i++) {
        const struct history_op *op = &h->op[i];
        at += (size_t) n;
        n = snprintf(text + at, bytes - at, "  %8u..%-8u %s wrote %" PRIu64 " found %d saw %" PRIu64 "\n", op->begin,
                     op->end, code_name[op->code], op->wrote, op->found, op->saw);
    }
}

/* Keys without operations must be unchanged. */
static bool untouched_same(const struct history *h, const struct model *a, const struct model *b, char *text,
                           size_t bytes)
{
    for (size_t i = 0, at = 0; i < a->count; i++) {
        const key_form key = a->element[i].form;
        while (at < h->count && h->op[at].key < key)
            at++;
        if (at < h->count && h->op[at].key == key)
            continue;
        const struct content other = content_of(b, key);
        if (other.present && (!h->values || other.value == value_number_of(a->element[i].value)))
            continue;
        (void) snprintf(text, bytes, "key 0x%" PRIx64 ", which nobody touched, is not as it was\n", (uint64_t) key);
        return false;
    }
    return true;
}

enum history_verdict history_explain(struct history *h, const struct model *after, char *text, size_t text_bytes)
{
    sort(h);
    if (!untouched_same(h, h->before, after, text, text_bytes) ||
        !untouched_same(h, after, h->before, text, text_bytes))
        return HISTORY_WRONG;
    for (size_t first = 0, end; first < h->count; first = end) {
        for (end = first; end < h->count && h->op[end].key == h->op[first].key;)
            end++;
        const key_form             key = h->op[first].key;
        const enum history_verdict verdict =
            explain_key(h->op + first, end - first, h->values, content_of(h->before, key), content_of(after, key));
        if (verdict != HISTORY_EXPLAINED) {
            describe(h, first, end, after, text, text_bytes);
            return verdict;
        }
    }
    return HISTORY_EXPLAINED;
}

/* ---- operations on many keys ------------------------------------------------------------------------------------- */

static void range_of_key(struct history *h, key_form key, size_t *first, size_t *end)
{
    sort(h);
    size_t low = 0, high = h->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (h->op[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    for (*end = low; *end < h->count && h->op[*end].key == key;)
        ++*end;
}

static bool stores(const struct history_op *op)
{
    return op->code == ORDO_UPSERT || (op->code == ORDO_INSERT && !op->found);
}

/* Whether the content at tick `since` was certainly replaced before `begin`. */
static bool replaced_between(const struct history *h, size_t first, size_t last, uint32_t since, uint32_t begin,
                             bool any)
{
    for (size_t i = first; i < last; i++) {
        const struct history_op *op = &h->op[i];
        const bool               gone = op->code == ORDO_ERASE && op->found;
        if ((gone || (!any && stores(op))) && op->begin > since && op->end < begin)
            return true;
    }
    return false;
}

/* For any value, an erase hides a store only if no other store may have come after it. The caller checks this for each
 * store. */
bool history_may_hold(struct history *h, key_form key, const uint64_t *value, uint32_t begin, uint32_t end)
{
    const struct content before = content_of(h->before, key);
    const bool           any = !value || !h->values;
    size_t               first = 0, last = 0;

    range_of_key(h, key, &first, &last);
    if (before.present && (any || before.value == *value)) {
        bool gone = false; /* before any tick, so that the first tick may hide it */
        for (size_t i = first; i < last; i++) {
            const struct history_op *op = &h->op[i];
            const bool               ends = (op->code == ORDO_ERASE && op->found) || (!any && stores(op));
            gone = gone || (ends && op->end < begin);
        }
        if (!gone)
            return true;
    }
    for (size_t i = first; i < last; i++) {
        const struct history_op *op = &h->op[i];
        if (stores(op) && op->begin < end && (any || op->wrote == *value) &&
            !replaced_between(h, first, last, op->end, begin, any))
            return true;
    }
    return false;
}

/* Whether no erase can have taken effect between `since` and `end`. */
static bool never_erased(const struct history *h, size_t first, size_t last, bool from_start, uint32_t since,
                         uint32_t end)
{
    for (size_t i = first; i < last; i++)
        if (h->op[i].code == ORDO_ERASE && h->op[i].found && h->op[i].begin < end &&
            (from_start || h->op[i].end > since))
            return false;
    return true;
}

bool history_must_hold(struct history *h, key_form key, uint32_t begin, uint32_t end)
{
    size_t first = 0, last = 0;

    range_of_key(h, key, &first, &last);
    if (content_of(h->before, key).present && never_erased(h, first, last, true, 0, end))
        return true;
    for (size_t i = first; i < last; i++) {
        const struct history_op *op = &h->op[i];
        const bool               there = stores(op) || (op->code <= ORDO_INSERT && op->found);
        if (there && op->end < begin && never_erased(h, first, last, false, op->begin, end))
            return true;
    }
    return false;
}
