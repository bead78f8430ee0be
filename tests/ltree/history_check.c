/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the results of a history's operations. */
#include "history_run.h"

#include "tests/dict/history_batch.h"

#include "shared/faults.h"

#include <inttypes.h>
#include <stdio.h>

/* A form as hexadecimal digits. */
struct digits {
    char text[36];
};

static struct digits digits_of(key_form form)
{
    struct digits d;

    (void) snprintf(d.text, sizeof d.text, "0x%016" PRIx64 "%016" PRIx64, (uint64_t) (form >> 64), (uint64_t) form);
    return d;
}

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

/* Checks that operations write their outputs and nothing else. */
static bool check_outcome(struct run *r, size_t i)
{
    const uint8_t outcome = r->out.outcomes[i], code = r->in.codes[i];
    const bool    is_store = code == ORDO_UPSERT || code == ORDO_INSERT;
    const bool    starves = r->plan->max_leaves > 0 || (r->plan->faults & FAULT_NODES);

    if (outcome == ORDO_NOT_STORED)
        return (is_store && starves) || is_wrong(r, "operation %zu, of code %u, not stored", i, code);
    if (outcome == ORDO_CUT_SHORT)
        return (code == ORDO_RANGE && r->out.counts[i] > r->in.rooms[i + 1] - r->in.rooms[i]) ||
               is_wrong(r, "operation %zu, of code %u, cut short", i, code);
    if (outcome != ORDO_DONE)
        return is_wrong(r, "operation %zu has outcome %u", i, outcome);
    if (code == ORDO_RANGE && r->out.counts[i] > r->in.rooms[i + 1] - r->in.rooms[i])
        return is_wrong(r, "range %zu has %u elements, should be cut short", i, r->out.counts[i]);
    if (code < ORDO_COUNT && r->out.found[i] > 1)
        return is_wrong(r, "operation %zu: found %u", i, r->out.found[i]);
    if (code < ORDO_COUNT && r->out.counts[i] != TEST_EMPTY * 0x01010101u)
        return is_wrong(r, "operation %zu: wrote a count", i);
    return code < ORDO_COUNT || r->out.found[i] == TEST_EMPTY || is_wrong(r, "operation %zu: wrote found", i);
}

/* ---- seeks ------------------------------------------------------------------------------------------------------- */

/* The first number with a key of at least this form. */
static size_t number_from(const struct run *r, key_form form)
{
    size_t number = 0;
    while (number < n_numbers(r->plan) && form_of(r, number) < form)
        number++;
    return number;
}

/* Counts keys of numbers first .. last that are certainly in the tree between an operation's ticks. */
static size_t certain(const struct run *r, struct history *h, size_t i, size_t first, size_t last)
{
    size_t n = 0;
    for (size_t number = first; number <= last && number < n_numbers(r->plan); number++)
        n += history_must_hold(h, form_of(r, number), r->out.ticks[2 * i], r->out.ticks[2 * i + 1]);
    return n;
}

/* Whether a seek with this code may find `key`. */
static bool seek_allows(uint8_t code, key_form query, key_form key)
{
    return code == ORDO_SEEK_LT   ? key < query
           : code == ORDO_SEEK_LE ? key <= query
           : code == ORDO_SEEK_GE ? key >= query
                                  : key > query;
}

/* Checks that the element that a seek found is on the right side of its query, and existed at some moment. */
static bool check_hit(struct run *r, struct history *h, size_t i)
{
    const size_t   vb = r->plan->value_bytes;
    const key_form query = form_at(r, r->in.keys, i), key = form_at(r, r->out.keys_out, i);
    const uint64_t value = vb ? read_value(r->out.values_out, vb, i) : 0;

    if (seek_allows(r->in.codes[i], query, key) &&
        history_may_hold(h, key, vb ? &value : NULL, r->out.ticks[2 * i], r->out.ticks[2 * i + 1]))
        return true;
    return is_wrong(r, "seek %zu (code %u) of %s found %s, value %" PRIu64, i, r->in.codes[i], digits_of(query).text,
                    digits_of(key).text, value);
}

/* Checks that no key lay between a seek's query and its hit, or the end of all keys, all the time. */
static bool check_no_nearer(struct run *r, struct history *h, size_t i)
{
    const uint8_t  code = r->in.codes[i];
    const bool     forward = code >= ORDO_SEEK_GE, found = r->out.found[i] == 1;
    const key_form query = form_at(r, r->in.keys, i), key = form_at(r, r->out.keys_out, i);
    const size_t   at = number_from(r, query), own = code == ORDO_SEEK_LE || code == ORDO_SEEK_GE ? 0 : 1;
    /* The numbers from `first` to before `end`. Numbers are unsigned: 0 has none before it. */
    const size_t first = forward ? at + own : found ? number_from(r, key) + 1 : 0;
    const size_t end = !forward ? at + 1 - own : found ? number_from(r, key) : n_numbers(r->plan);

    if (first < end && certain(r, h, i, first, end - 1) > 0)
        return is_wrong(r, "seek %zu (code %u) of %s found %d %s, passing over a key", i, code, digits_of(query).text,
                        found, digits_of(key).text);
    return true;
}

static bool check_seek(struct run *r, struct history *h, size_t i)
{
    return (r->out.found[i] != 1 || check_hit(r, h, i)) && check_no_nearer(r, h, i);
}

/* ---- counts and ranges ------------------------------------------------------------------------------------------- */

/* Checks that a range's elements are in it, ascend, and existed at some moment. */
static bool check_elements(struct run *r, struct history *h, size_t i, key_form lo, key_form hi, size_t reported)
{
    const size_t from = (size_t) r->in.rooms[i], vb = r->plan->value_bytes;

    for (size_t e = 0; e < reported; e++) {
        const key_form key = form_at(r, r->out.range_keys, from + e);
        const uint64_t value = vb ? read_value(r->out.range_values, vb, from + e) : 0;
        if (key < lo || key > hi || (e > 0 && key <= form_at(r, r->out.range_keys, from + e - 1)))
            return is_wrong(r, "range %zu: its element %zu has key %s", i, e, digits_of(key).text);
        if (!history_may_hold(h, key, vb ? &value : NULL, r->out.ticks[2 * i], r->out.ticks[2 * i + 1]))
            return is_wrong(r, "range %zu: key %s never had value %" PRIu64 " then", i, digits_of(key).text, value);
    }
    return true;
}

/* Checks that a range reports each key that existed all the time, up to its last element if it was cut short. */
static bool check_complete(struct run *r, struct history *h, size_t i, size_t first, size_t last, size_t reported,
                           bool cut)
{
    const size_t from = (size_t) r->in.rooms[i];
    size_t       e = 0;

    for (size_t number = first; number <= last; number++) {
        const key_form form = form_of(r, number);
        while (e < reported && form_at(r, r->out.range_keys, from + e) < form)
            e++;
        if (e == reported && cut)
            return true;
        const bool there = e < reported && form_at(r, r->out.range_keys, from + e) == form;
        if (!there && history_must_hold(h, form, r->out.ticks[2 * i], r->out.ticks[2 * i + 1]))
            return is_wrong(r, "range %zu leaves out key %s, which was there all the while", i, digits_of(form).text);
    }
    return true;
}

static bool check_scan(struct run *r, struct history *h, size_t i)
{
    const key_form lo = form_at(r, r->in.keys, i), hi = form_at(r, r->in.hi, i);
    const uint32_t count = r->out.counts[i], begin = r->out.ticks[2 * i], end = r->out.ticks[2 * i + 1];
    const size_t   room = (size_t) (r->in.rooms[i + 1] - r->in.rooms[i]);
    size_t         least = 0, most = 0;

    if (lo > hi)
        return count == 0 || is_wrong(r, "operation %zu counts %u keys in an empty range", i, count);
    const size_t first = number_from(r, lo), last = number_from(r, hi);
    for (size_t number = first; number <= last; number++) {
        least += history_must_hold(h, form_of(r, number), begin, end);
        most += history_may_hold(h, form_of(r, number), NULL, begin, end);
    }
    if (count < least || count > most)
        return is_wrong(r, "operation %zu (code %u) counts %u keys; there were %zu to %zu", i, r->in.codes[i], count,
                        least, most);
    if (r->in.codes[i] == ORDO_COUNT)
        return true;
    const size_t reported = count < room ? count : room;
    return check_elements(r, h, i, lo, hi, reported) && check_complete(r, h, i, first, last, reported, count > room);
}

/* ---- all operations ---------------------------------------------------------------------------------------------- */

/* Checks that some order explains all operations on one key. */
static bool check_order(struct run *r, struct history *h)
{
    const enum history_verdict verdict = history_explain(h, &r->after, r->wrong, sizeof r->wrong);
    return verdict == HISTORY_UNDECIDED ? is_wrong(r, UNDECIDED) : verdict == HISTORY_EXPLAINED;
}

static bool check_outcomes(struct run *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (!check_outcome(r, i))
            return false;
    return true;
}

static bool check_queries(struct run *r, struct history *h)
{
    for (size_t i = 0; i < r->n; i++) {
        const uint8_t code = r->in.codes[i];
        const bool good = code <= ORDO_ERASE ? true : code <= ORDO_SEEK_GT ? check_seek(r, h, i) : check_scan(r, h, i);
        if (!good)
            return false;
    }
    return true;
}

bool check_history(struct run *r, const struct ordo_host_concurrent_batch *batch)
{
    AUTO(history_free) struct history h = history_begin(&r->before, r->plan->value_bytes > 0);

    history_add_batch(&h, batch, r->out.ticks);
    return check_outcomes(r) && check_order(r, &h) && check_queries(r, &h);
}
