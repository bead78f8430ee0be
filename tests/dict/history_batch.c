/* SPDX-License-Identifier: Apache-2.0 */
#include "history_batch.h"

#include <stdlib.h>

size_t history_wanted(size_t normal)
{
    const char *const text = getenv("ORDO_TEST_HISTORIES");
    return text ? strtoull(text, NULL, 0) : normal;
}

key_form history_key(ordo_type type, size_t number, size_t n)
{
    const key_form all = form_mask(type);
    return number + 1 >= n ? all : number * (all / n);
}

key_form history_value(uint32_t value_bytes, uint64_t number)
{
    const key_form wide = (key_form) number * 0x100000001u;
    return value_bytes == 16 ? wide << 64 | wide : value_bytes == 8 ? wide : number;
}

uint8_t history_code(struct test *t, const uint8_t *weight, size_t n_codes)
{
    uint32_t all = 0;
    for (size_t c = 0; c < n_codes; c++)
        all += weight[c];
    uint64_t left = test_below(t, all);
    uint8_t  code = 0;
    while (left >= weight[code])
        left -= weight[code++];
    return code;
}

void history_add_batch(struct history *h, const struct ordo_host_concurrent_batch *batch, const uint32_t *ticks)
{
    const ordo_type type = h->before->type;
    const uint32_t  bytes = h->before->value_bytes;

    for (size_t i = 0; i < batch->count; i++) {
        const uint8_t code = batch->codes[i];
        if (code > ORDO_ERASE || batch->outcomes[i] != ORDO_DONE)
            continue;
        history_add(h, (struct history_op) {
                           .key = form_of_key(type, batch->keys, i),
                           .wrote = bytes ? read_value(batch->values, bytes, i) : 0,
                           .saw = bytes && code == ORDO_FIND ? read_value(batch->values_out, bytes, i) : 0,
                           .begin = ticks[2 * i],
                           .end = ticks[2 * i + 1],
                           .code = code,
                           .found = batch->found[i] == 1,
                       });
    }
}
