/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a dictionary's memory, which a test breaks and ordo_dict_check must report. */
#ifndef ORDO_TESTS_BROKEN_H
#define ORDO_TESTS_BROKEN_H

#include "tests/support/support.h"

static inline void read_bytes(struct test *t, cl_mem mem, size_t at, void *to, size_t bytes)
{
    test_true(t,
              clEnqueueReadBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, at, bytes, to, 0, NULL, NULL) == CL_SUCCESS);
}

static inline void write_bytes(struct test *t, cl_mem mem, size_t at, const void *from, size_t bytes)
{
    test_true(t, clEnqueueWriteBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, at, bytes, from, 0, NULL, NULL) ==
                     CL_SUCCESS);
}

static inline uint32_t peek(struct test *t, cl_mem mem, size_t word)
{
    uint32_t was = 0;
    read_bytes(t, mem, word * sizeof was, &was, sizeof was);
    return was;
}

static inline void expect_broken(struct test *t, ordo_dict *dict, const char *invariant)
{
    char text[512] = "";

    test_status(t, ordo_dict_check(dict, NULL), ORDO_BROKEN);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    if (!strstr(text, invariant))
        test_fail(t, __FILE__, __LINE__, "the message names another invariant than %s: %s", invariant, text);
}

/* Changes a word, expects the report, and restores the word. */
static inline void expect_noticed(struct test *t, ordo_dict *dict, cl_mem mem, size_t at, uint32_t word,
                                  const char *invariant)
{
    const uint32_t was = peek(t, mem, at);

    test_context(t, "%s: word %zu, %#x for %#x", invariant, at, word, was);
    test_true(t, was != word);
    write_bytes(t, mem, at * sizeof word, &word, sizeof word);
    expect_broken(t, dict, invariant);
    write_bytes(t, mem, at * sizeof was, &was, sizeof was);
    test_ok(t, ordo_dict_check(dict, NULL));
}

#endif
