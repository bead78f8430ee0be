/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tests of tries: sets of keys of either width, and words of device memory. */
#ifndef ORDO_TESTS_TRIE_CASE_H
#define ORDO_TESTS_TRIE_CASE_H

#include "tests/dict/dict_case.h"

static inline int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return (x > y) - (x < y);
}

/* Sorts keys and drops equal ones. Returns how many are left. */
static inline size_t sort_distinct(uint64_t *keys, size_t n)
{
    size_t kept = 0;
    qsort(keys, n, sizeof *keys, by_value);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || keys[kept - 1] != keys[i])
            keys[kept++] = keys[i];
    return kept;
}

static inline ordo_type key_type(bool wide)
{
    return wide ? ORDO_U64 : ORDO_U32;
}

/* Copies keys to an array of u64 (`wide`) or u32, which the caller frees. */
static inline void *narrow(const uint64_t *keys, size_t n, bool wide)
{
    uint64_t *out = test_alloc((n + 1) * sizeof *out);
    for (size_t i = 0; i < n; i++)
        if (wide)
            out[i] = keys[i];
        else
            ((uint32_t *) out)[i] = (uint32_t) keys[i];
    return out;
}

static inline uint32_t *read_words(struct test *t, cl_mem mem, size_t n)
{
    uint32_t *words = test_alloc(n * sizeof *words);
    test_true(t, clEnqueueReadBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, 0, n * sizeof *words, words, 0, NULL,
                                     NULL) == CL_SUCCESS);
    return words;
}

static inline uint32_t read_word(struct test *t, cl_mem mem, size_t word)
{
    uint32_t is = 0;
    test_true(t, clEnqueueReadBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, word * sizeof is, sizeof is, &is, 0, NULL,
                                     NULL) == CL_SUCCESS);
    return is;
}

static inline void write_word(struct test *t, cl_mem mem, size_t word, uint32_t to)
{
    test_true(t, clEnqueueWriteBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, word * sizeof to, sizeof to, &to, 0,
                                      NULL, NULL) == CL_SUCCESS);
}

/* Expects that the check names the invariant while the word is `to`, and passes once it is restored. */
static inline void expect_broken(struct test *t, ordo_dict *dict, cl_mem mem, size_t word, uint32_t to,
                                 const char *invariant)
{
    const uint32_t was = read_word(t, mem, word);
    char           text[512] = "";

    test_context(t, "%s: word %zu, %#x for %#x", invariant, word, to, was);
    test_true(t, was != to);
    write_word(t, mem, word, to);
    test_status(t, ordo_dict_check(dict, NULL), ORDO_BROKEN);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    if (!strstr(text, invariant))
        test_fail(t, __FILE__, __LINE__, "the message names another invariant than %s: %s", invariant, text);
    write_word(t, mem, word, was);
    test_ok(t, ordo_dict_check(dict, NULL));
}

#endif
