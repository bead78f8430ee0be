/* SPDX-License-Identifier: Apache-2.0 */
/* Random batches side by side on trees of up to a million keys, for as long as is asked. After each the whole tree is checked
 * and read, and each result is compared with what it can have been: histories (ltree_history.c) look closer, at less.
 *
 * ORDO_TEST_SECONDS=how long (default 2) a device and mask. */
#include "tests/ltree/tree.h"
#include "tests/support/support.h"

#include "shared/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_KEYS_LOG2 = 20,
    MOST_OPERATIONS_LOG2 = 18,
    SPAN = 40, /* numbers in a range */
    MOST_ROOM = 1 << 20,
};

/* A tree, and what is known of it. Keys are numbers 0 .. keys - 1, spread over all keys there are. */
struct life {
    struct test *t;
    ordo_dict   *dict;
    ordo_type    type;
    size_t       bytes; /* of a key, and of a value */
    size_t       keys;
    uint8_t     *there;
    uint64_t    *value;
    uint64_t     next_value; /* values are all different, until there have been 2^32 */
};

/* A batch, and by number what it did. */
struct batch {
    size_t    n;
    uint8_t  *codes, *keys, *his, *values;
    uint64_t *rooms;
    uint8_t  *found, *outcomes, *keys_out, *values_out, *range_keys, *range_values;
    uint32_t *counts;

    size_t   *number, *last; /* of each operation: of its key, and of its his; last < number: upside down */
    uint64_t  first_value;   /* operation i writes first_value + i */
    uint32_t *came, *went, *upserts;
    uint32_t *certain, *possible; /* how many of the numbers below were there all the while, or at some moment */
};

static double now(void)
{
    struct timespec ts;
    (void) clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + 1e-9 * (double) ts.tv_nsec;
}

static uint64_t get(const uint8_t *array, size_t bytes, size_t i)
{
    uint64_t word = 0;
    memcpy(&word, array + bytes * i, bytes);
    return word;
}

static void put(uint8_t *array, size_t bytes, size_t i, uint64_t word)
{
    memcpy(array + bytes * i, &word, bytes);
}

static uint64_t mask_of(size_t bytes)
{
    return bytes == 8 ? UINT64_MAX : UINT32_MAX;
}

static uint64_t key_of(const struct life *l, size_t number)
{
    const uint64_t all = mask_of(l->bytes);
    return key_from_bits_of((int) l->type, number + 1 == l->keys ? all : number * (all / l->keys));
}

/* SIZE_MAX: no such key. */
static size_t number_of(const struct life *l, uint64_t key)
{
    const uint64_t form = key_bits_of((int) l->type, key);
    const size_t   number = form / (mask_of(l->bytes) / l->keys);
    if (form == mask_of(l->bytes))
        return l->keys - 1;
    return number < l->keys && key_of(l, number) == key ? number : SIZE_MAX;
}

/* ---- batches ------------------------------------------------------------------------------------------------------- */

static struct batch make_batch(void)
{
    const size_t n = (size_t) 1 << MOST_OPERATIONS_LOG2, keys = (size_t) 1 << MOST_KEYS_LOG2;
    return (struct batch) { .codes = test_alloc(n),
                            .keys = test_alloc(8 * n),
                            .his = test_alloc(8 * n),
                            .values = test_alloc(8 * n),
                            .rooms = test_alloc((n + 1) * sizeof(uint64_t)),
                            .found = test_alloc(n),
                            .outcomes = test_alloc(n),
                            .keys_out = test_alloc(8 * n),
                            .values_out = test_alloc(8 * n),
                            .range_keys = test_alloc((size_t) 8 * MOST_ROOM),
                            .range_values = test_alloc((size_t) 8 * MOST_ROOM),
                            .counts = test_alloc(n * sizeof(uint32_t)),
                            .number = test_alloc(n * sizeof(size_t)),
                            .last = test_alloc(n * sizeof(size_t)),
                            .came = test_alloc(keys * sizeof(uint32_t)),
                            .went = test_alloc(keys * sizeof(uint32_t)),
                            .upserts = test_alloc(keys * sizeof(uint32_t)),
                            .certain = test_alloc((keys + 1) * sizeof(uint32_t)),
                            .possible = test_alloc((keys + 1) * sizeof(uint32_t)) };
}

static void free_batch(struct batch *b)
{
    void *const all[] = { b->codes,      b->keys,         b->his,     b->values,  b->rooms,   b->found, b->outcomes,
                          b->keys_out,   b->values_out,   b->counts,  b->number,  b->last,    b->came,  b->went,
                          b->range_keys, b->range_values, b->upserts, b->certain, b->possible };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/*                                find contains upsert insert erase | lt le ge gt | count range */
static const uint8_t mixtures[][ORDO_N_CONCURRENT_CODES] = {
    { 10, 5, 30, 30, 15, 1, 1, 1, 1, 3, 3 }, /* grows */
    { 10, 5, 10, 10, 55, 1, 1, 1, 1, 3, 3 }, /* shrinks */
    { 20, 5, 20, 10, 30, 2, 2, 2, 2, 4, 3 }, /* stays */
    { 0, 0, 1, 1, 2 },                       /* changes only */
    { 0, 0, 0, 1 },
    { 0, 0, 0, 0, 1 },
    { 0, 0, 5, 5, 10, 20, 20, 20, 20, 0, 0 }, /* looks at what changes */
    { 0, 0, 10, 10, 20, 0, 0, 0, 0, 30, 30 },
};

static uint8_t pick_code(struct test *t, const uint8_t weight[ORDO_N_CONCURRENT_CODES])
{
    uint32_t all = 0;
    for (int c = 0; c < ORDO_N_CONCURRENT_CODES; c++)
        all += weight[c];
    uint64_t left = test_below(t, all);
    for (uint8_t c = 0;; c++) {
        if (left < weight[c])
            return c;
        left -= weight[c];
    }
}

/* A number up to 2^log2 - 1, small ones as likely as large ones. */
static size_t below_any(struct test *t, int log2)
{
    return (size_t) test_below(t, (uint64_t) 1 << test_below(t, (uint64_t) log2 + 1));
}

static void make_operation(struct life *l, struct batch *b, size_t i)
{
    struct test *t = l->t;
    const size_t span = test_below(t, 1000) == 0 ? l->keys : (size_t) test_below(t, SPAN);
    size_t       room = 0;

    b->last[i] = b->number[i] + span < l->keys ? b->number[i] + span : l->keys - 1;
    if (b->codes[i] == ORDO_RANGE) {
        room = b->last[i] - b->number[i] + 1;
        if (room > SPAN || test_below(t, 16) == 0)
            room = (size_t) test_below(t, SPAN);
        if (b->rooms[i] + room > MOST_ROOM)
            b->codes[i] = ORDO_COUNT, room = 0;
    }
    b->rooms[i + 1] = b->rooms[i] + room;
    put(b->keys, l->bytes, i, key_of(l, b->number[i]));
    put(b->his, l->bytes, i, key_of(l, b->last[i]));
    put(b->values, l->bytes, i, b->first_value + i);
}

/* Keys of a batch lie anywhere, or in a window, of which each is met often; in any order, or ascending. */
static void make_operations(struct life *l, struct batch *b)
{
    struct test   *t = l->t;
    const uint8_t *weight = mixtures[test_below(t, sizeof mixtures / sizeof *mixtures)];
    const size_t   n = b->n = 1 + below_any(t, MOST_OPERATIONS_LOG2);
    const size_t   window = test_below(t, 2) ? l->keys : 1 + below_any(t, MOST_KEYS_LOG2) % l->keys;
    const size_t   begin = (size_t) test_below(t, l->keys - window + 1);
    const bool     ascends = test_below(t, 8) == 0;

    b->first_value = l->next_value;
    l->next_value += n;
    b->rooms[0] = 0;
    for (size_t i = 0; i < n; i++) {
        b->codes[i] = pick_code(t, weight);
        b->number[i] = begin + (ascends ? i * window / n : (size_t) test_below(t, window));
        make_operation(l, b, i);
    }
}

static struct ordo_host_concurrent_batch arguments_of(const struct batch *b)
{
    return (struct ordo_host_concurrent_batch) { .codes = b->codes,
                                                 .keys = b->keys,
                                                 .his = b->his,
                                                 .values = b->values,
                                                 .count = b->n,
                                                 .found = b->found,
                                                 .keys_out = b->keys_out,
                                                 .values_out = b->values_out,
                                                 .counts = b->counts,
                                                 .outcomes = b->outcomes,
                                                 .rooms = b->rooms,
                                                 .range_keys = b->range_keys,
                                                 .range_values = b->range_values,
                                                 .range_capacity = MOST_ROOM };
}

/* ---- what a batch can have done ------------------------------------------------------------------------------------ */

#define MUST(l, i, b, cond)                                                                                            \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            fail_operation((l), (b), (i), __LINE__, #cond);                                                            \
    } while (0)

static _Noreturn void fail_operation(const struct life *l, const struct batch *b, size_t i, int line, const char *what)
{
    const size_t number = b->number[i];
    test_fail(l->t, __FILE__, line,
              "operation %zu of %zu, code %u, number %zu to %zu (%s before, came %u, went %u, value %" PRIu64
              "): outcome %u, found %u, value %" PRIu64 ", key number %zu, count %u. Not so: %s",
              i, b->n, b->codes[i], number, b->last[i], l->there[number] ? "there" : "not there", b->came[number],
              b->went[number], l->value[number], b->outcomes[i], b->found[i], get(b->values_out, l->bytes, i),
              number_of(l, get(b->keys_out, l->bytes, i)), b->counts[i], what);
}

static bool was_there_once(const struct life *l, const struct batch *b, size_t number)
{
    return l->there[number] || b->came[number] > 0;
}

static bool was_there_always(const struct life *l, const struct batch *b, size_t number)
{
    return l->there[number] && b->went[number] == 0;
}

static size_t count_of(const uint32_t *below, size_t first, size_t last)
{
    return last < first ? 0 : below[last + 1] - below[first];
}

/* Whether an operation of the batch has stored this value. */
static bool wrote(const struct life *l, const struct batch *b, size_t number, uint64_t value)
{
    const uint64_t i = (value - b->first_value) & mask_of(l->bytes);

    return i < b->n && b->number[i] == number &&
           (b->codes[i] == ORDO_UPSERT || (b->codes[i] == ORDO_INSERT && !b->found[i]));
}

/* Whether the key was there with this value at some moment. */
static bool may_have_been(const struct life *l, const struct batch *b, size_t number, uint64_t value)
{
    return number != SIZE_MAX && ((l->there[number] && l->value[number] == value) || wrote(l, b, number, value));
}

/* How often each key came and went. */
static void count_changes(const struct life *l, struct batch *b)
{
    memset(b->came, 0, l->keys * sizeof *b->came);
    memset(b->went, 0, l->keys * sizeof *b->went);
    memset(b->upserts, 0, l->keys * sizeof *b->upserts);
    for (size_t i = 0; i < b->n; i++) {
        b->came[b->number[i]] += (b->codes[i] == ORDO_UPSERT || b->codes[i] == ORDO_INSERT) && !b->found[i];
        b->went[b->number[i]] += b->codes[i] == ORDO_ERASE && b->found[i];
        b->upserts[b->number[i]] += b->codes[i] == ORDO_UPSERT;
    }
    b->certain[0] = b->possible[0] = 0;
    for (size_t k = 0; k < l->keys; k++) {
        b->certain[k + 1] = b->certain[k] + was_there_always(l, b, k);
        b->possible[k + 1] = b->possible[k] + was_there_once(l, b, k);
    }
}

static void check_point(const struct life *l, const struct batch *b, size_t i)
{
    const size_t number = b->number[i];
    const bool   reads = b->codes[i] == ORDO_FIND || b->codes[i] == ORDO_CONTAINS;

    MUST(l, i, b, b->found[i] <= 1);
    if (reads) /* from what was there before */
        MUST(l, i, b, b->found[i] == l->there[number]);
    else if (b->found[i])
        MUST(l, i, b, was_there_once(l, b, number));
    else
        MUST(l, i, b, !was_there_always(l, b, number));
    if (b->codes[i] == ORDO_FIND && b->found[i])
        MUST(l, i, b, get(b->values_out, l->bytes, i) == l->value[number]);
}

static void check_seek(const struct life *l, const struct batch *b, size_t i)
{
    const uint8_t code = b->codes[i];
    const bool    forward = code == ORDO_SEEK_GE || code == ORDO_SEEK_GT;
    const size_t  own = code == ORDO_SEEK_LE || code == ORDO_SEEK_GE ? 0 : 1;
    const size_t  hit = b->found[i] == 1 ? number_of(l, get(b->keys_out, l->bytes, i)) : SIZE_MAX;

    MUST(l, i, b, b->found[i] <= 1);
    if (b->found[i]) {
        MUST(l, i, b, may_have_been(l, b, hit, get(b->values_out, l->bytes, i)));
        MUST(l, i, b, forward ? hit >= b->number[i] + own : hit + own <= b->number[i]);
    }
    /* No key between was there all the while. `first` and `end` in numbers, end left out. */
    const size_t first = forward ? b->number[i] + own : b->found[i] ? hit + 1 : 0;
    const size_t end = !forward ? b->number[i] + 1 - own : b->found[i] ? hit : l->keys;
    MUST(l, i, b, end <= first || count_of(b->certain, first, end - 1) == 0);
}

/* A range's elements ascend, were there, and leave out none that was there all the while, as far as there was room. */
static void check_range(const struct life *l, const struct batch *b, size_t i)
{
    const size_t room = (size_t) (b->rooms[i + 1] - b->rooms[i]), from = (size_t) b->rooms[i];
    const bool   cut = b->counts[i] > room;
    const size_t reported = cut ? room : b->counts[i];
    size_t       next = b->number[i], certain = 0;

    MUST(l, i, b, b->outcomes[i] == (cut ? ORDO_CUT_SHORT : ORDO_DONE));
    for (size_t e = 0; e < reported; e++) {
        const size_t number = number_of(l, get(b->range_keys, l->bytes, from + e));
        MUST(l, i, b, number >= next && number <= b->last[i]);
        MUST(l, i, b, may_have_been(l, b, number, get(b->range_values, l->bytes, from + e)));
        certain += was_there_always(l, b, number);
        next = number + 1;
    }
    const size_t end = cut ? next : b->last[i] + 1;
    MUST(l, i, b, end <= b->number[i] || certain == count_of(b->certain, b->number[i], end - 1));
}

static void check_count(const struct life *l, const struct batch *b, size_t i)
{
    MUST(l, i, b, b->counts[i] >= count_of(b->certain, b->number[i], b->last[i]));
    MUST(l, i, b, b->counts[i] <= count_of(b->possible, b->number[i], b->last[i]));
}

static void check_results(const struct life *l, const struct batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        if (b->codes[i] != ORDO_RANGE)
            MUST(l, i, b, b->outcomes[i] == ORDO_DONE);
        if (b->codes[i] <= ORDO_ERASE)
            check_point(l, b, i);
        else if (b->codes[i] <= ORDO_SEEK_GT)
            check_seek(l, b, i);
        else
            check_count(l, b, i);
        if (b->codes[i] == ORDO_RANGE)
            check_range(l, b, i);
    }
}

/* What is there now is what came and did not go, with a value that can be the last. Takes it over. */
static void take_over(struct life *l, const struct batch *b, size_t number, bool there, uint64_t value)
{
    const bool stays = b->upserts[number] == 0 && was_there_always(l, b, number) && value == l->value[number];
    const bool adds_up = l->there[number] + b->came[number] == b->went[number] + there;

    if (!adds_up || (there && !stays && !wrote(l, b, number, value)))
        test_fail(l->t, __FILE__, __LINE__,
                  "number %zu: %s before, came %u, went %u, %s now, upserts %u; value %" PRIu64 " before, %" PRIu64
                  " now",
                  number, l->there[number] ? "there" : "not there", b->came[number], b->went[number],
                  there ? "there" : "not there", b->upserts[number], l->value[number], value);
    l->there[number] = there;
    l->value[number] = value;
}

/* The tree by its checker, and all of it. */
static void check_tree(struct life *l, const struct batch *b)
{
    struct ordo_statistics is;
    uint8_t               *keys = test_alloc(l->keys * l->bytes), *values = test_alloc(l->keys * l->bytes);
    size_t                 count = 0, number = 0;

    test_ok(l->t, ordo_dict_check(l->dict, NULL));
    test_ok(l->t, ordo_dict_statistics(l->dict, NULL, &is));
    test_ok(l->t, ordo_dict_export_host(l->dict, keys, values, l->keys, &count));
    test_true(l->t, is.elements == count);
    for (size_t e = 0; e < count; e++) {
        const size_t at = number_of(l, get(keys, l->bytes, e));
        test_true(l->t, at != SIZE_MAX && at >= number);
        while (number < at)
            take_over(l, b, number++, false, 0);
        take_over(l, b, number++, true, get(values, l->bytes, e));
    }
    while (number < l->keys)
        take_over(l, b, number++, false, 0);
    /* Memory does not grow with the number of batches: a leaf is split where it has had 28 keys. */
    test_true(l->t, is.leaves <= l->keys / 7 + 2);
    free(keys);
    free(values);
}

/* Returns how long it took, checks left out. */
static double concurrent_batch(struct life *l, struct batch *b)
{
    make_operations(l, b);
    test_context(l->t, "a batch of %zu on %zu keys of %zu bytes", b->n, l->keys, l->bytes);
    const struct ordo_host_concurrent_batch batch = arguments_of(b);
    const double                            begin = now();
    test_ok(l->t, ordo_dict_apply_concurrent_host(l->dict, &batch));
    const double seconds = now() - begin;
    count_changes(l, b);
    check_results(l, b);
    check_tree(l, b);
    return seconds;
}

/* ---- lives ----------------------------------------------------------------------------------------------------------- */

/* Between them batches in order, which leave other trees behind: of distinct keys, so that each has one value. */
static void batch_in_order(struct life *l)
{
    const size_t step = 1 + (size_t) test_below(l->t, 9);
    uint8_t     *keys = test_alloc(l->keys * l->bytes), *values = test_alloc(l->keys * l->bytes);
    const bool   erases = test_below(l->t, 2) == 0;
    size_t       n = 0;

    for (size_t k = (size_t) test_below(l->t, l->keys); k < l->keys; k += step, n++) {
        l->there[k] = !erases;
        l->value[k] = erases ? 0 : l->next_value++ & mask_of(l->bytes);
        put(keys, l->bytes, n, key_of(l, k));
        put(values, l->bytes, n, l->value[k]);
    }
    test_context(l->t, "%zu keys %s in order", n, erases ? "erased" : "stored");
    test_ok(l->t, erases ? ordo_dict_erase_host(l->dict, keys, n) : ordo_dict_upsert_host(l->dict, keys, values, n));
    free(keys);
    free(values);
}

static struct life begin_life(struct test *t)
{
    static const ordo_type types[] = { ORDO_U32, ORDO_U32, ORDO_U64, ORDO_F32 };
    struct life            l = { .t = t, .type = types[test_below(t, 4)], .keys = 1 + below_any(t, MOST_KEYS_LOG2) };

    l.bytes = ordo_type_bytes(l.type);
    l.there = test_alloc(l.keys);
    l.value = test_alloc(l.keys * sizeof *l.value);
    memset(l.there, 0, l.keys);
    memset(l.value, 0, l.keys * sizeof *l.value);
    l.next_value = 1;
    test_ok(t, create_tree(t->dev,
                           ordo_blink_config(.dict = { l.type, (uint32_t) l.bytes },
                                             .fill_percent = 50 + (uint32_t) test_below(t, 51)),
                           &l.dict));
    return l;
}

static void end_life(struct life *l)
{
    ordo_dict_destroy(&l->dict);
    free(l->there);
    free(l->value);
}

static uint64_t held_bytes(const struct test *t)
{
    struct ordo_memory memory;
    test_ok(t, ordo_device_trim(t->dev));
    test_ok(t, ordo_device_memory(t->dev, &memory));
    return memory.held_bytes;
}

/* Of this process, in host memory. */
static size_t resident_bytes(void)
{
    size_t pages = 0;
    FILE  *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*u %zu", &pages) != 1)
        pages = 0;
    if (file)
        (void) fclose(file);
    return pages * (size_t) sysconf(_SC_PAGESIZE);
}

struct soaked {
    size_t lives, batches, operations;
    double slowest; /* seconds that the longest batch took, checks left out */
    char   what[128];
};

static void live(struct test *t, struct batch *b, double until, struct soaked *done)
{
    struct life  l = begin_life(t);
    const size_t batches = 1 + below_any(t, 8);

    for (size_t i = 0; i < batches && now() < until; i++) {
        const uint64_t other = test_below(t, 24);
        if (other == 0)
            test_ok(t, ordo_dict_compact(l.dict, NULL));
        else if (other < 3)
            batch_in_order(&l);
        const double seconds = concurrent_batch(&l, b);
        if (seconds > done->slowest) {
            done->slowest = seconds;
            (void) snprintf(done->what, sizeof done->what,
                            "%zu operations, the first %u, on numbers like %zu and %zu of %zu", b->n, b->codes[0],
                            b->number[0], b->number[b->n - 1], l.keys);
        }
        done->batches++;
        done->operations += b->n;
    }
    done->lives++;
    end_life(&l);
}

static void soak(struct test *t)
{
    test_optimized(t);
    const char    *text = getenv("ORDO_TEST_SECONDS");
    const double   seconds = text ? strtod(text, NULL) : 2, begin = now();
    const uint64_t held = held_bytes(t);
    struct batch   b = make_batch();
    struct soaked  done = { 0 };
    size_t         resident = 0;

    while (now() < begin + seconds) {
        live(t, &b, begin + seconds, &done);
        test_true(t, held_bytes(t) == held);
        if (resident == 0 && now() > begin + seconds / 4)
            resident = resident_bytes();
    }
    free_batch(&b);
    if (text)
        (void) fprintf(stderr,
                       "%s%s%s: %zu trees, %zu batches, %zu operations in %.0f s; %zu MiB, a quarter through %zu; "
                       "longest %.2f s: %s\n",
                       t->facts->name, *t->mask ? ", mask " : "", t->mask, done.lives, done.batches, done.operations,
                       now() - begin, resident_bytes() >> 20, resident >> 20, done.slowest, done.what);
}

Test(ltree_soak, random_batches_do_what_they_can_have_done)
{
    test_each_device(soak);
    test_each_device_with("cpu=0", soak);
}
