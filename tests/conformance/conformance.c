/* SPDX-License-Identifier: Apache-2.0 */
/* One hash of the results of all primitives and structures, equal on each device and with each mask. conformance.sh
 * prints it with each implementation's name. */
#include "tests/dict/sequence.h"
#include "tests/support/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define HASH_OF_ALL  UINT64_C(0xe88eb3ae0e9e005f)
#define HASH_OF_WIDE UINT64_C(0x53970ab1d1bc9e90)

static uint64_t fold(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *) bytes)[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_of_call(struct test *t, const struct array_call *call, ordo_type type, uint64_t hash)
{
    enum { N = 5000 };
    struct given g = call_given(t->dev, NULL, N);
    struct test  fixed = *t; /* equal input on each device */
    void        *a[CALL_ARRAYS] = { NULL };

    test_context(t, "%s, %s", call->name, test_type_name[type]);
    fixed.random = 1;
    AUTO_STRINGS struct call_strings strings = call_strings_of(t, call, N);
    g.strings = strings;
    g.type = type;
    for (size_t i = 0; i < call_arrays(call); i++) {
        const size_t bytes = call_array_count(&call->array[i], N) * call->array[i].bytes;
        a[i] = test_alloc(bytes);
        memset(a[i], TEST_EMPTY, bytes);
    }
    call_fill(&fixed, call, N, N, a);
    test_ok(t, call->run_host(&g, a));
    for (size_t i = 0; i < call_arrays(call); i++) {
        if (call->array[i].output)
            hash = fold(hash, a[i], call_array_count(&call->array[i], N) * call->array[i].bytes);
        free(a[i]);
    }
    return hash;
}

static uint64_t hash_of_structure(struct test *t, size_t subject, ordo_type key)
{
    const struct sequence s = sequence_random(subject, key, 4, 1);
    const struct outcome  o = sequence_run(t, &s, NULL);

    if (o.failed)
        sequence_fail(t, &s, &o);
    return o.hash;
}

/* "1/3": the second of three shares of the structures. Structures with the same kernels are in one share. NULL: all. */
static bool is_in(const char *share, size_t subject)
{
    unsigned long which = 0, shares = 1;
    char         *rest = NULL;

    if (share) {
        which = strtoul(share, &rest, 10);
        shares = *rest == '/' ? strtoul(rest + 1, &rest, 10) : 0;
        cr_assert(rest != share && !*rest && which < shares && shares <= N_STRUCTURES, "ORDO_TEST_SHARE=%s", share);
    }
    return structure_family(subject) % shares == which;
}

/* Keys of 16 bytes, which not all structures take. */
static void check_wide(struct test *t, size_t subject)
{
    if (!structure_takes(subject, ORDO_U128))
        return;
    const uint64_t hash = hash_of_structure(t, subject, ORDO_U128);
    test_context(t, "%s with keys of 16 bytes: all results hash to 0x%016" PRIx64, structures[subject].word, hash);
    test_true(t, hash == HASH_OF_WIDE);
}

/* Compared with the model, which has no hash. */
static void check_strings(struct test *t)
{
    const struct sequence s = string_sequence_random(PATHS, 8, 1, 8, 3000);

    sequence_pass(t, &s);
}

static void check_hash(struct test *t)
{
    const char *const share = getenv("ORDO_TEST_SHARE");
    uint64_t          hash = 0xcbf29ce484222325u, of_first = 0;

    test_optimized(t);
    for (size_t i = 0; i < n_primitive_calls; i++) {
        hash = hash_of_call(t, &primitive_calls[i], ORDO_U32, hash);
        if (primitive_calls[i].typed)
            hash = hash_of_call(t, &primitive_calls[i], ORDO_I32, hash);
    }
    for (size_t subject = 0; subject < N_SUBJECTS; subject++) {
        if (!is_in(share, subject))
            continue;
        const uint64_t here = hash_of_structure(t, subject, ORDO_U32);
        of_first = of_first == 0 ? here : of_first;
        test_context(t, "%s", structures[subject].word);
        test_true(t, here == of_first);
        check_wide(t, subject);
    }
    check_strings(t);
    hash = fold(hash, &of_first, sizeof of_first);
    (void) fprintf(stderr, "results 0x%016" PRIx64 "\n", hash);
    test_context(t, "all results hash to 0x%016" PRIx64, hash);
    test_true(t, hash == HASH_OF_ALL);
}

/* ORDO_TEST_SHARE=1/3 tests a share of the structures, whose results have the same hash as all. ORDO_TEST_MASKS=1 tests
 * each mask, which takes minutes because each needs its kernels. */
Test(conformance, results_are_bit_identical_everywhere)
{
    if (getenv("ORDO_TEST_MASKS"))
        test_each_device_and_mask(check_hash);
    else
        test_each_device(check_hash);
}
