/* SPDX-License-Identifier: Apache-2.0 */
#include "baseline.h"

#include "bench/common/threads.h"
#include "workload.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 8
#define DIGITS     (1 << DIGIT_BITS)
/* Fewer elements use one thread. */
#define PART_MIN 65536

struct digits {
    size_t of[DIGITS];
};

/* One pass. Parts count their digits. Then each part moves its elements behind the elements of earlier parts. */
struct pass {
    struct pairs   from, to;
    size_t         key_bytes, value_bytes, count, parts;
    int            shift;
    struct digits *place; /* per part: counts, then the next place of each digit */
};

static size_t digit_at(const struct pass *pass, size_t i)
{
    return (element(pass->from.keys, pass->key_bytes, i) >> pass->shift) & (DIGITS - 1);
}

static size_t begin_of(const struct pass *pass, size_t part)
{
    return part == pass->parts ? pass->count : pass->count / pass->parts * part;
}

static void count_part(void *pass_, int part)
{
    const struct pass *pass = pass_;
    struct digits      numbers = { { 0 } };
    for (size_t i = begin_of(pass, (size_t) part); i < begin_of(pass, (size_t) part + 1); i++)
        numbers.of[digit_at(pass, i)]++;
    pass->place[part] = numbers;
}

static void move_part(void *pass_, int part)
{
    const struct pass *pass = pass_;
    struct digits      place = pass->place[part];
    for (size_t i = begin_of(pass, (size_t) part); i < begin_of(pass, (size_t) part + 1); i++) {
        const size_t at = place.of[digit_at(pass, i)]++;
        set_element(pass->to.keys, pass->key_bytes, at, element(pass->from.keys, pass->key_bytes, i));
        if (pass->value_bytes)
            set_element(pass->to.values, pass->value_bytes, at, element(pass->from.values, pass->value_bytes, i));
    }
}

static void place_parts(const struct pass *pass)
{
    size_t before = 0;
    for (size_t d = 0; d < DIGITS; d++)
        for (size_t p = 0; p < pass->parts; p++) {
            const size_t here = pass->place[p].of[d];
            pass->place[p].of[d] = before;
            before += here;
        }
}

void pairs_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count)
{
    struct digits place[MAX_PARTS];
    struct pass   pass = { in, spare, key_bytes, value_bytes, count, (size_t) processors(), 0, place };
    pass.parts = pass.parts > MAX_PARTS ? MAX_PARTS : pass.parts;
    pass.parts = pass.parts > count / PART_MIN ? count / PART_MIN : pass.parts;
    if (pass.parts < 2) {
        host_radix_sort(in, spare, key_bytes, value_bytes, count);
        return;
    }
    for (; pass.shift < (int) key_bytes * 8; pass.shift += DIGIT_BITS) { /* an even number of passes */
        run_parts((int) pass.parts, count_part, &pass);
        place_parts(&pass);
        run_parts((int) pass.parts, move_part, &pass);
        const struct pairs next = pass.from;
        pass.from = pass.to;
        pass.to = next;
    }
}
